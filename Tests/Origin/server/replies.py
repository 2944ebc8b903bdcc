# SPDX-License-Identifier: Apache-2.0
"""Statuses, bodies, waits and redirects."""
import base64
import json
import urllib.parse
import zlib

from .content import brotli, content, gzip_pieces, stream
from .echo import echo
from .http1 import BadRequest, Response

HTML = b"""<!DOCTYPE html>
<html><head><title>Origin</title></head><body><h1>Herman Melville</h1><p>Call me Ishmael.</p></body></html>
"""


def word(request, index, kind=int):
    """A word of the path as a number."""
    try:
        return kind(request.words[index])
    except (IndexError, ValueError):
        raise BadRequest(f"{request.path}: a number is missing") from None


async def do_unknown(request):
    """Any other path."""
    return Response.json({"error": f"there is no {request.path}"}, 404)


async def do_status(request):
    """/status/N: no body, but the type text/html."""
    return Response(b"", word(request, 1), "text/html")


async def do_misdirected(request):
    """/misdirected?key=: 421 on the first connection of the key, or with `always=1` on each; else an echo."""
    connections = request.application.counters.account(request.key).connections
    if request.flag("always") or next(iter(connections)) == request.connection:
        return Response(b"", 421, "text/plain")
    return Response.json(await echo(request))


async def do_json_status(request):
    """/json-status/N: {"e":N}."""
    status = word(request, 1)
    return Response(b'{"e":%d}' % status, status, "application/json")


async def do_html(_):
    """A page."""
    return Response(HTML, kind="text/html; charset=utf-8")


async def do_json(_):
    """A small object with text, numbers, null and nested values."""
    value = {"slideshow": {"title": "Sample", "slides": [{"title": "One", "items": [1, 2.5, None, True]}, {}]}}
    return Response.json(value)


async def do_body(request):
    """/body?status=&type=&text=|hex=|base64=&h=Name:Value&spaces=N: exactly this reply, and N spaces."""
    if (given := request.argument("hex")) is not None:
        data = bytes.fromhex(given)
    elif (given := request.argument("base64")) is not None:
        data = base64.b64decode(given)
    else:
        data = request.argument("text", "").encode()
    data += b" " * request.number("spaces", 0)
    headers = [tuple(value.split(":", 1)) for name, value in request.query if name == "h"]
    return Response(data, request.number("status", 200), request.argument("type"), headers)


async def do_response_headers(request):
    """Sends the query as headers, and as JSON."""
    return Response.json(request.query, headers=request.query)


async def do_dns_query(request):
    """/dns-query: DNS by https (RFC 8484); each name in `.doh.test` is 127.0.0.1, all others do not exist."""
    question = await request.read()
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode("latin-1").lower())
        at += 1 + question[at]
    kind, asked = question[at + 1:at + 3], question[12:at + 5]
    exists = labels[-2:] == ["doh", "test"]
    answers = [b"\xc0\x0c" + kind + b"\0\1\0\0\0\x3c\0\4\x7f\0\0\1"] if exists and kind == b"\0\1" else []
    flags = b"\x81\x80" if exists else b"\x81\x83"
    head = question[:2] + flags + b"\0\1" + len(answers).to_bytes(2, "big") + b"\0\0\0\0"
    return Response(head + asked + b"".join(answers), 200, "application/dns-message")


async def do_delay(request):
    """/delay/S: echoes after so many seconds."""
    await request.wire.pause(word(request, 1, float))
    return Response.json(await echo(request))


async def do_redirect(request):
    """/redirect/N: N redirects, the last to /get; the query goes along, `code` says which status."""
    left = word(request, 1)
    target = f"/redirect/{left - 1}" if left > 1 else "/" + request.argument("to", "get")
    location = target + ("?" + request.query_text if request.query_text else "")
    return Response(b"", request.number("code", 302), "text/html", [("Location", location)])


async def do_loop(request):
    """/loop: a redirect to itself, for ever, or `n` times to an end."""
    step = request.number("step", 0) + 1
    if step > request.number("n", 1 << 60):
        return Response.json(await echo(request))
    rest = [(name, value) for name, value in request.query if name != "step"] + [("step", str(step))]
    location = "/loop?" + urllib.parse.urlencode(rest)
    return Response(b"", request.number("code", 302), "text/html", [("Location", location)])


def away(request):
    """A redirect to `url`; with a gate the end of its content waits for that."""
    location = urllib.parse.quote(request.argument("url", "/get"), safe="/:?&=%#[]@!$'()*+,;~")
    status, headers = request.number("code", 302), [("Location", location)]
    gate = request.argument("gate")
    if not gate:
        return Response(b"", status, "text/html", headers)

    async def pieces():
        yield b"it is"
        await request.wire.race(request.application.counters.gate(gate).wait())
        yield b" gone"
    return Response(pieces(), status, "text/html", headers, 10)


async def do_redirect_to(request):
    """/redirect-to?url=&code=&read=0&gate=: with `read=1` once the body was read."""
    if request.flag("read", False):
        async for _ in request.body():
            pass
    return away(request)


async def do_bytes(request):
    """/bytes/N: the first N bytes of the content."""
    count = word(request, 1)
    kind = request.argument("type", "application/octet-stream")
    return Response(stream(content(0, count)), request.number("status", 200), kind, length=count)


async def do_chunked(request):
    """/chunked/N: the same without a length; `chunk` says how long the chunks are."""
    count, size = word(request, 1), request.number("chunk", 1024)
    pieces = (b"".join(content(start, min(start + size, count))) for start in range(0, count, size))
    return Response(stream(pieces), kind=request.argument("type", "application/octet-stream"))


async def do_drip(request):
    """/drip?n=&ms=: n pieces of `size` bytes (1), a pause of `ms` (10) after each; `chunked=1` without a length.

    With `gate=NAME` the first piece waits for nothing, the second for the gate.
    """
    count, size, pause = request.number("n", 10), request.number("size", 1), request.number("ms", 10, float) / 1000
    gate = request.argument("gate")

    async def pieces():
        for index in range(count):
            yield b"".join(content(index * size, (index + 1) * size))
            if gate and index == 0:
                await request.wire.race(request.application.counters.gate(gate).wait())
            elif pause and index < count - 1:
                await request.wire.pause(pause)
    kind = request.argument("type", "application/octet-stream")
    return Response(pieces(), kind=kind, length=None if request.flag("chunked") else count * size)


async def do_hold(request):
    """/hold/NAME?status=200: echoes once /release/NAME has been asked for."""
    await request.wire.race(request.application.counters.gate(request.words[1]).wait())
    return Response.json(await echo(request), request.number("status", 200))


async def packed(request, encoding, pack):
    """A packed echo, or with `n` that many bytes of the content; `chunked=1` without a length."""
    count = request.number("n", -1)
    if count >= 0:
        kind, plain = "application/octet-stream", content(0, count)
    else:
        told = {**await echo(request), "encoding": encoding}
        kind, plain = "application/json", [json.dumps(told).encode()]
    body = b"".join(pack(plain))
    headers = [("Content-Encoding", encoding), ("Vary", "Accept-Encoding")]
    if request.flag("chunked"):
        return Response(stream([body]), kind=kind, headers=headers)
    return Response(body, kind=kind, headers=headers)


async def do_gzip(request):
    """Packed by gzip, whatever the client accepts."""
    return await packed(request, "gzip", gzip_pieces)


async def do_deflate(request):
    """Packed by zlib, or with `raw=1` as some servers do: without its frame."""
    bits = -15 if request.flag("raw") else 15

    def pack(pieces):
        packer = zlib.compressobj(6, zlib.DEFLATED, bits)
        return [packer.compress(piece) for piece in pieces] + [packer.flush()]
    return await packed(request, "deflate", pack)


async def do_brotli(request):
    """In the format of brotli."""
    return await packed(request, "br", lambda pieces: [brotli(b"".join(pieces))])


async def do_retry_after(request):
    """/retry-after?key=&times=1&status=503&after=1: fails so often, then echoes. `after` may be text, as a date."""
    values = request.application.counters.account(request.key).values
    values["failures"] = values.get("failures", 0) + 1
    if values["failures"] > request.number("times", 1):
        return Response.json(await echo(request))
    after = request.argument("after")
    return Response.json({"error": "not yet"}, request.number("status", 503), [("Retry-After", after)] if after else [])
