# SPDX-License-Identifier: Apache-2.0
"""Replies that are wrong as they stand: sent as they are, then the connection is closed."""
import gzip
import zlib

from .content import brotli


def reply(*lines, body=b"", status=b"200 OK"):
    """A reply of these header lines."""
    return b"HTTP/1.1 " + status + b"\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


TEXT = b"Content-Type: text/plain"
JSON = b"Content-Type: application/json"
FIVE = b"Content-Length: 5"
CHUNKED = b"Transfer-Encoding: chunked"
GZIP = b"Content-Encoding: gzip"
PLAIN = b'{"key":"value"}' * 100
PACKED = gzip.compress(PLAIN, mtime=0)
TWICE = gzip.compress(PACKED, mtime=0)
DEFLATED = zlib.compress(PLAIN)
BROTLI = brotli(PLAIN)


def length(body):
    """The header of its length."""
    return b"Content-Length: %d" % len(body)


def moved(*locations, status=b"302 Found"):
    """A redirect."""
    return reply(*[b"Location: " + location for location in locations], b"Content-Length: 0", status=status)


REPLIES = {
    # Lengths (RFC 9112 §6.3).
    "negative-length": reply(TEXT, b"Content-Length: -5", body=b"hello"),
    "huge-length": reply(TEXT, b"Content-Length: 99999999999999999999999999", body=b"hello"),
    "greatest-length": reply(TEXT, b"Content-Length: 9223372036854775807", body=b"hello"),
    "text-length": reply(TEXT, b"Content-Length: five", body=b"hello"),
    "hexadecimal-length": reply(TEXT, b"Content-Length: 0x5", body=b"hello"),
    "duplicate-length": reply(TEXT, FIVE, FIVE, body=b"hello"),
    "conflicting-length": reply(TEXT, FIVE, b"Content-Length: 4", body=b"hello"),
    "listed-length": reply(TEXT, b"Content-Length: 5, 4", body=b"hello"),
    "length-and-chunked": reply(TEXT, FIVE, CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n"),
    "no-length-and-chunked": reply(
        JSON, GZIP, b"Content-Length: 0", CHUNKED, body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(PACKED), PACKED)),
    "short-length": reply(TEXT, b"Content-Length: 3", body=b"hello"),
    "long-length": reply(TEXT, b"Content-Length: 6", body=b"hello"),
    # Chunks (RFC 9112 §7.1).
    "truncated-chunk": reply(TEXT, CHUNKED, body=b"5\r\nhel"),
    "no-last-chunk": reply(TEXT, CHUNKED, body=b"5\r\nhello\r\n"),
    "bad-chunk-size": reply(TEXT, CHUNKED, body=b"zebra\r\nhello\r\n0\r\n\r\n"),
    "negative-chunk-size": reply(TEXT, CHUNKED, body=b"-5\r\nhello\r\n0\r\n\r\n"),
    "huge-chunk-size": reply(TEXT, CHUNKED, body=b"fffffffffffffffff\r\nhello"),
    "long-chunk": reply(TEXT, CHUNKED, body=b"3\r\nhello\r\n0\r\n\r\n"),
    "long-chunk-extension": reply(TEXT, CHUNKED, body=b"5;" + b"x" * 100000 + b"\r\nhello\r\n0\r\n\r\n"),
    "trailers": reply(TEXT, CHUNKED, body=b"5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n"),
    "empty-with-trailers": reply(TEXT, CHUNKED, body=b"0\r\nX-Trailer: 1\r\n\r\n"),
    "trailer-without-colon": reply(TEXT, CHUNKED, body=b"5\r\nhello\r\n0\r\nno colon\r\n\r\n"),
    "nul-in-trailer": reply(TEXT, CHUNKED, body=b"5\r\nhello\r\n0\r\nX: a\0b\r\n\r\n"),
    "trailer-like-a-head": reply(TEXT, CHUNKED, body=b"5\r\nhello\r\n0\r\nHTTP/1.1 404: x\r\n\r\n"),
    "unknown-transfer-encoding": reply(TEXT, b"Transfer-Encoding: zebra", body=b"hello"),
    # Heads (RFC 9112 §4, §5).
    "nul-in-header": reply(TEXT, b"X-Nul: a\0b", FIVE, body=b"hello"),
    "control-in-header": reply(TEXT, b"X-Control: \x01\x1b[31mred\x7f\x08", FIVE, body=b"hello"),
    "invalid-utf8-header": reply(TEXT, b"X-Text: \xff\xfe\xc3\x28", FIVE, body=b"hello"),
    "utf8-header": reply(TEXT, "X-Text: Grüße ✓".encode(), FIVE, body=b"hello"),
    "header-without-colon": reply(TEXT, b"what is this", FIVE, body=b"hello"),
    "header-without-name": reply(TEXT, b": nameless", FIVE, body=b"hello"),
    "space-before-colon": reply(TEXT, b"X-Space : 1", FIVE, body=b"hello"),
    "folded-header": reply(TEXT, b"X-Folded: one", b"  two", FIVE, body=b"hello"),
    "folded-fields": reply(
        TEXT, b"Cache-Control: max-age=60,", b"  no-store", b"Vary: X-A,", b"\tX-B", b"X-Empty:", b" ", FIVE, body=b"hello"),
    "folded-coding": reply(JSON, b"Content-Encoding:", b" gzip", length(PACKED), body=PACKED),
    "folded-chunked": reply(TEXT, b"Transfer-Encoding:", b" chunked", body=b"5\r\nhello\r\n0\r\n\r\n"),
    "folded-more-coding": reply(TEXT, b"Transfer-Encoding: chunked", b"\t, gzip", body=b"5\r\nhello\r\n0\r\n\r\n"),
    "folded-length": reply(TEXT, b"Content-Length:", b" 5", body=b"hello"),
    "folded-more-length": reply(TEXT, b"Content-Length: 5", b" 0", body=b"hello"),
    "bare-cr": reply(TEXT, b"X-Cr: a\rX-Evil: 1", FIVE, body=b"hello"),
    "bare-lf": reply(TEXT, FIVE, body=b"hello").replace(b"\r\n", b"\n"),
    "http-0.9": b"hello",
    "garbage": bytes((index * 197 + 13) & 0xFF for index in range(4096)),
    "garbage-status": b"HTTP/1.1 abc What\r\n\r\n",
    "small-version": b"http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "mixed-version": b"Http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "not-modified": reply(b'ETag: "x"', status=b"304 Not Modified"),
    "garbage-version": b"HTTP/x.y 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "future-version": b"HTTP/9.9 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "low-status": b"HTTP/1.1 099 What\r\nContent-Length: 5\r\n\r\nhello",
    "short-status": b"HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello",
    "long-status": b"HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello",
    "status-999": reply(TEXT, FIVE, body=b"hello", status=b"999 Beyond"),
    "status-600": reply(TEXT, FIVE, body=b"hello", status=b"600 Beyond"),
    "no-reason": reply(TEXT, FIVE, body=b"hello", status=b"200"),
    "invalid-utf8-reason": reply(TEXT, FIVE, body=b"hello", status=b"404 \xff\xfe"),
    "unasked-upgrade": reply(b"Upgrade: zebra", b"Connection: Upgrade", status=b"101 Switching Protocols", body=b"\0\1\2"),
    "empty": b"",
    "half-a-head": b"HTTP/1.1 200 OK\r\nContent-Type: te",
    # Bodies where there are none, or others than announced.
    "body-on-204": reply(TEXT, FIVE, body=b"hello", status=b"204 No Content"),
    "body-on-304": reply(TEXT, FIVE, body=b"hello", status=b"304 Not Modified"),
    "until-closed": reply(TEXT, body=b"hello"),
    "second-reply": reply(TEXT, FIVE, body=b"hello") + reply(TEXT, b"X-Evil: 1", b"Content-Length: 4", body=b"evil"),
    "wrong-type": reply(b"Content-Type: image/png", length(b'{"key":"value"}'), body=b'{"key":"value"}'),
    "html-as-json": reply(JSON, length(b"<html></html>"), body=b"<html></html>"),
    "no-type": reply(FIVE, body=b"hello"),
    "broken-type": reply(b"Content-Type: ;;/=\"", FIVE, body=b"hello"),
    "two-types": reply(JSON, TEXT, b"Content-Length: 2", body=b"{}"),
    "invalid-utf8-json": reply(JSON, length(b'{"key":"\xff\xfe\xc3\x28"}'), body=b'{"key":"\xff\xfe\xc3\x28"}'),
    "deep-json": reply(JSON, b"Content-Length: 200000", body=b"[" * 100000 + b"]" * 100000),
    # Packed bodies (RFC 9110 §8.4).
    "halved-gzip": reply(JSON, GZIP, CHUNKED, body=b"1e\r\n%b\r\n0\r\n\r\n" % PACKED[:30]),
    "truncated-deflate": reply(JSON, b"Content-Encoding: deflate", length(DEFLATED[:-6]), body=DEFLATED[:-6]),
    "short-deflate": reply(JSON, b"Content-Encoding: deflate", b"Content-Length: 1", body=DEFLATED[:1]),
    "truncated-brotli": reply(JSON, b"Content-Encoding: br", length(BROTLI[:-2]), body=BROTLI[:-2]),
    "empty-gzip": reply(JSON, GZIP, b"Content-Length: 0"),
    "two-members": reply(JSON, GZIP, length(PACKED * 2), body=PACKED * 2),
    "packed-twice": reply(JSON, b"Content-Encoding: gzip, gzip", length(TWICE), body=TWICE),
    "bad-gzip": reply(JSON, GZIP, FIVE, body=b"hello"),
    "truncated-gzip": reply(JSON, GZIP, length(PACKED[:-20]), body=PACKED[:-20]),
    "wrong-sum-gzip": reply(JSON, GZIP, length(PACKED), body=PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:]),
    "gzip-and-more": reply(JSON, GZIP, length(PACKED + b"hello"), body=PACKED + b"hello"),
    "unknown-encoding": reply(JSON, b"Content-Encoding: zebra", FIVE, body=b"hello"),
    "ten-encodings": reply(JSON, b"Content-Encoding: " + b", ".join([b"gzip"] * 10), FIVE, body=b"hello"),
    # Redirects (RFC 9110 §15.4).
    "no-location": moved(),
    "empty-location": moved(b""),
    "two-locations": moved(b"/get", b"/html"),
    "latin-location": moved(b"/anything/gr\xfc\xdfe?k=\xe9"),
    "folded-location": moved(b"\r\n /get"),
    "garbage-location": moved(b"ht!tp://[::z]:99999/\x01"),
    "file-location": moved(b"file:///etc/passwd"),
    "ftp-location": moved(b"ftp://127.0.0.1/x"),
    "javascript-location": moved(b"javascript:alert(1)"),
    "credentials-location": moved(b"http://user:password@127.0.0.1:1/"),
    "no-challenge": reply(b"Content-Length: 0", status=b"401 Unauthorized"),
    "unknown-challenge": reply(b"WWW-Authenticate: Zebra realm=\"x\"", b"Content-Length: 0", status=b"401 Unauthorized"),
    "broken-challenge": reply(b"WWW-Authenticate: Digest realm=\"x, nonce", b"Content-Length: 0",
                              status=b"401 Unauthorized"),
}
