// SPDX-License-Identifier: Apache-2.0

/// The meaning of a status code in lower case: `not found` for 404 (RFC 9110 §15, IANA registry).
package func reasonPhrase(forStatus code: Int) -> String {
    switch code {
    case 100: "continue"
    case 101: "switching protocols"
    case 102...199: "informational"
    case 200: "no error"
    case 201: "created"
    case 202: "accepted"
    case 203: "non authoritative information"
    case 204: "no content"
    case 205: "reset content"
    case 206: "partial content"
    case 207...299: "success"
    case 300: "multiple choices"
    case 301: "moved permanently"
    case 302: "found"
    case 303: "see other"
    case 304: "not modified"
    case 305: "needs proxy"
    case 307: "temporarily redirected"
    case 308: "permanently redirected"
    case 306, 309...399: "redirected"
    case 400...499: clientPhrase(code)
    case 500...599: serverPhrase(code)
    default: "unknown status"
    }
}

private func clientPhrase(_ code: Int) -> String {
    switch code {
    case 400: "bad request"
    case 401: "unauthorized"
    case 402: "payment required"
    case 403: "forbidden"
    case 404: "not found"
    case 405: "method not allowed"
    case 406: "unacceptable"
    case 407: "proxy authentication required"
    case 408: "request timed out"
    case 409: "conflict"
    case 410: "no longer exists"
    case 411: "length required"
    case 412: "precondition failed"
    case 413: "request too large"
    case 414: "requested URL too long"
    case 415: "unsupported media type"
    case 416: "requested range not satisfiable"
    case 417: "expectation failed"
    case 421: "misdirected request"
    case 422: "unprocessable content"
    case 423: "locked"
    case 424: "failed dependency"
    case 425: "too early"
    case 426: "upgrade required"
    case 428: "precondition required"
    case 429: "too many requests"
    case 431: "request header fields too large"
    case 451: "unavailable for legal reasons"
    default: "client error"
    }
}

private func serverPhrase(_ code: Int) -> String {
    switch code {
    case 500: "internal server error"
    case 501: "unimplemented"
    case 502: "bad gateway"
    case 503: "service unavailable"
    case 504: "gateway timed out"
    case 505: "unsupported version"
    case 507: "insufficient storage"
    case 508: "loop detected"
    case 511: "network authentication required"
    default: "server error"
    }
}

/// What to try after a response with this status; empty where nothing general can be said.
func advice(forStatus code: Int) -> String {
    switch code {
    case 304: "keep what was received before, or ask without If-None-Match and If-Modified-Since"
    case 300...399: "follow redirects, or accept this status"
    case 401, 407: "send credentials that the server accepts"
    case 403: "ask the server's owner for access"
    case 404, 410: "check the path of the URL"
    case 405: "use a method that the header field Allow names"
    case 406: "accept a type that the server has"
    case 408, 425, 429, 503: "try again later; the header field Retry-After may say when"
    case 411...417, 422, 431: "the server's answer may say what it dislikes about the request"
    case 511: "sign in to this network with a browser"
    case 500...599: "the fault is the server's: try again later"
    default: ""
    }
}
