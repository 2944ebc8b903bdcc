# SPDX-License-Identifier: Apache-2.0
"""Connections that end, stand still or get lost at a chosen place."""
from .content import stream
from .echo import echo
from .http1 import BadRequest, Request, Response
from .replies import word
from .resources import excerpt, pieces, version

# close: orderly. fin: without TLS's closing alert. rst: a reset. stall: nothing more. garbage: bytes that are no TLS.
KINDS = ("close", "fin", "rst", "stall", "garbage")


async def drain(request):
    """Reads the body, so that the end of the connection is not turned into a reset by what is unread."""
    async for _ in request.body():
        pass


async def end(request, default):
    """Ends the connection as `kind` says; `stall` until the client leaves or the gate opens."""
    kind = request.argument("kind", default)
    if kind not in KINDS:
        raise BadRequest(f"kind is one of {', '.join(KINDS)}")
    if kind == "stall":
        await hold(request)
        kind = "close"
    if kind == "garbage":
        await request.wire.send_below_tls(b"\x17\x03\x03\x00\x05hello" * 10)
        kind = "fin"
    await request.wire.end(kind)


async def hold(request):
    """Waits until the client leaves, or the gate opens where one is named."""
    if gate := request.argument("gate"):
        await request.wire.race(request.application.counters.gate(gate).wait())
    else:
        await request.wire.pause()


def is_due(request):
    """Whether this request still gets the fault: the first `times` of a key do, or all."""
    if request.argument("times") and not request.key:
        # Other requests without a key would be counted too.
        raise BadRequest("times= counts the requests of a key: give key=")
    values = request.application.counters.account(request.key).values
    values["faults"] = values.get("faults", 0) + 1
    return values["faults"] <= request.number("times", 1 << 60)


async def play_cut(request):
    """n=100000&after=N&kind=rst&times=&gate=: ends after N bytes of the body; honours ranges and conditions like /range.

    `chunked=1` without a length. With `stall` and a gate the rest follows once it opens.
    """
    count, after = request.number("n", 100000), request.number("after", 1000)
    current = version(request, f"cut-{count}")
    await drain(request)
    status, headers, start, stop = excerpt(request, count, current)
    chunked = request.flag("chunked")
    response = Response(stream(pieces(current, start, stop)), status, "application/octet-stream", headers,
                        None if chunked else stop - start)
    account = request.application.counters.account(request.key)
    if not is_due(request) or stop - start <= after:
        return response
    first = b"".join(pieces(current, start, start + after))
    if chunked and first:
        first = b"%x\r\n%b\r\n" % (len(first), first)
    await request.wire.send(response.head(request) + first)
    account.sent += after
    request.application.counters.changed(request.key)
    if request.argument("kind") == "stall" and request.argument("gate"):
        await hold(request)
        response.body = stream(pieces(current, start + after, stop))
        await response.send_body(request, account)
        return None
    await end(request, "rst")
    return None


async def play_stall(request):
    """The same with kind=stall."""
    request.query.insert(0, ("kind", "stall"))
    return await play_cut(request)


async def play_cut_head(request):
    """after=20&kind=: ends inside the head of the reply."""
    await drain(request)
    head = Response(b"hello", kind="text/plain").head(request)
    await request.wire.send(head[:request.number("after", 20)])
    await end(request, "close")


async def play_silent(request):
    """Reads the request and never answers; with a gate it echoes once that opens."""
    await drain(request)
    await hold(request)
    return Response.json(await echo(request))


async def play_flaky(request):
    """times=1&kind=rst: so many requests of the key die without an answer, then it echoes."""
    request.query.append(("times", "1"))
    if not is_due(request):
        return Response.json(await echo(request))
    await drain(request)
    await end(request, "rst")
    return None


async def play_close_on_reuse(request):
    """kind=close: answers, keeps the connection, and ends it when the next request has come. That one is counted."""
    await drain(request)
    wire, counters = request.wire, request.application.counters
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
    if head := await wire.line_end(b"\r\n\r\n", 1 << 20):
        following = Request(wire, head, request.connection)
        counters.began(following)
        try:
            await drain(following)
        finally:
            counters.ended(following, False)
    await end(request, "close")


async def play_close_idle(request):
    """ms=0&kind=close: answers as if it kept the connection, and ends it after so long without another request."""
    await drain(request)
    await request.wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
    if gate := request.argument("gate"):
        await request.wire.race(request.application.counters.gate(gate).wait())
    else:
        await request.wire.pause(request.number("ms", 0, float) / 1000)
    await end(request, "close")


async def play_early(request):
    """status=413&keep=0: answers before the body has been read, and reads none of it; `keep=1` reads it afterwards.

    With a gate the connection ends when that opens, with `announced=0` without a word of that.
    """
    status = request.number("status", 413)
    body = b'{"early":true}'
    text = b"HTTP/1.1 %d Early\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (status, len(body))
    keep = request.flag("keep")
    request.owes_continue = request.owes_continue and keep
    await request.wire.send(text + (b"\r\n" if keep or not request.flag("announced", True) else b"Connection: close\r\n\r\n") + body)
    if keep:
        await drain(request)
    if gate := request.argument("gate"):
        await request.application.counters.gate(gate).wait()
    await end(request, "close")


async def play_cut_redirect(request):
    """to=/get&code=303: a redirect whose content is cut."""
    await drain(request)
    to = request.argument("to", "/get").encode()
    await request.wire.send(
        b"HTTP/1.1 %d Moved\r\nLocation: %b\r\nContent-Length: 100\r\n\r\nabc" % (request.number("code", 303), to))
    await end(request, "close")


async def play_cut_challenge(request):
    """401 for Basic whose content is cut; an echo with any Authorization, where `refuses=1` does not refuse that too."""
    if request.header("Authorization") and not request.flag("refuses"):
        return Response.json(await echo(request))
    await drain(request)
    await request.wire.send(
        b"HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"cut\"\r\nContent-Length: 100\r\n\r\nabc")
    await end(request, "close")


async def play_cut_upload(request):
    """after=1000&kind=rst: reads so much of the body, then ends without an answer; `stall` stops reading."""
    after = request.number("after", 1000)
    async for _ in request.body():
        account = request.application.counters.account(request.key)
        if request.received >= after:
            break
    if request.argument("kind") == "stall":
        account.received += request.received
        request.application.counters.changed(request.key)
        await request.application.counters.gate(request.argument("gate", f"never-{id(request)}")).wait()
        return
    await end(request, "rst")


async def play_no_continue(request):
    """Ignores `Expect: 100-continue`: no interim reply, but an answer once the body has come."""
    request.owes_continue = False
    return Response.json(await echo(request))


async def play_expectation_failed(_):
    """417 to every request, before its body."""
    return Response(b"", 417, "text/html")


async def play_no_expectation(request):
    """417 to a request with `Expect`, before its body; an echo to others."""
    if request.header("Expect"):
        return Response(b"", 417, "text/html")
    return Response.json(await echo(request))


async def play_status(request):
    """/fault/status/N?times=1: fails so often with this status, then echoes; without nginx in between."""
    request.query.append(("times", "1"))
    if is_due(request):
        return Response(b"", word(request, 2), "text/html")
    return Response.json(await echo(request))
