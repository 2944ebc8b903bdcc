# SPDX-License-Identifier: Apache-2.0
"""Too much, too slow, or not what was asked for."""
import struct
import zlib

from .content import content, stream
from .fault_connections import drain
from .http1 import BadRequest, Response
from .resources import ranges

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"


async def play_header_bomb(request):
    """bytes=: header lines of a kilobyte without an end, or so many bytes of them and then a reply."""
    await drain(request)
    limit, sent, serial = request.number("bytes", 1 << 60), 0, 0
    await request.wire.send(OK)
    while sent < limit:
        block = b"".join(b"X-Bomb-%d: %b\r\n" % (serial + index, b"b" * 1000) for index in range(32))
        serial, sent = serial + 32, sent + len(block)
        await request.wire.send(block)
    await request.wire.send(b"\r\nhello")


async def play_trailer_bomb(request):
    """Content, and then trailers without an end."""
    await drain(request)
    await request.wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")
    while True:
        await request.wire.send(b"X-Trailer: %b\r\n" % (b"t" * 1000) * 32)


async def play_long_header(request):
    """n=1048576: one header line of so many bytes."""
    await drain(request)
    count = request.number("n", 1 << 20)
    await request.wire.send(OK + b"X-Long: " + b"l" * (count - 8) + b"\r\n\r\nhello")


async def play_many_headers(request):
    """n=10000: so many short header lines."""
    await drain(request)
    lines = b"".join(b"X-Many-%d: 1\r\n" % index for index in range(request.number("n", 10000)))
    await request.wire.send(OK + lines + b"\r\nhello")


async def play_slow_head(request):
    """ms=10: a byte of the head at a time."""
    await drain(request)
    for value in OK + b"\r\nhello":
        await request.wire.send(bytes([value]))
        await request.wire.pause(request.number("ms", 10, float) / 1000)


async def play_storm(request):
    """n=&code=103: interim replies without an end, or so many and then a reply."""
    await drain(request)
    left = request.number("n", 1 << 60)
    interim = b"HTTP/1.1 %d Interim\r\nLink: </style.css>; rel=preload\r\n\r\n" % request.number("code", 103)
    while left > 0:
        await request.wire.send(interim * min(left, 256))
        left -= 256
    await request.wire.send(OK + b"\r\nhello")


async def play_endless(request):
    """chunked=1: a body without an end, as fast as it goes; without chunks it has no length either."""
    await drain(request)
    chunked = request.flag("chunked", True)
    framing = b"Transfer-Encoding: chunked\r\n" if chunked else b"Connection: close\r\n"
    await request.wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" + framing + b"\r\n")
    account, start = request.application.counters.account(request.key), 0
    while True:
        piece = b"".join(content(start, start + 65536))
        await request.wire.send(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        start += len(piece)
        account.sent = start


def zeroes(count):
    """So many zero bytes packed by gzip: one block of a megabyte is packed, and sent again and again."""
    size = 1 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
    whole, rest = divmod(count, size)
    yield b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    check = 0
    for _ in range(whole):
        check = zlib.crc32(bytes(size), check)
        yield block
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield packer.compress(bytes(rest)) + packer.flush()
    yield struct.pack("<II", zlib.crc32(bytes(rest), check), count & 0xFFFFFFFF)


async def play_gzip_bomb(request):
    """n=1073741824&layers=1: so many zeroes in a thousandth of the bytes; `layers=2` packs that again."""
    await drain(request)
    packed, layers = zeroes(request.number("n", 1 << 30)), request.number("layers", 1)
    headers = [("Content-Encoding", ", ".join(["gzip"] * layers))]
    if layers == 1:
        return Response(stream(packed), kind="application/json", headers=headers)
    body = b"".join(packed)
    for _ in range(layers - 1):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
    return Response(body, kind="application/json", headers=headers)


async def play_range(request):
    """n=100000&lie=: answers a range wrongly.

    start: another one than asked for. total: of another whole. end: more than it sends. none: 206 without Content-Range.
    unit: in bananas. whole: 206 with everything. tag: right, but of another ETag. refused: 416 for everything.
    unasked: a part also of what was asked for as a whole.
    No lies: few: at most=30000 bytes of those asked for. unsure: the same without the length of the whole.
    broken: the same, and in chunks, 1000 less than it says but for the end. nothing: chunks of nothing. much: chunks, 10 more than it says.
    """
    await drain(request)
    count, lie = request.number("n", 100000), request.argument("lie", "start")
    asked = ranges(request.header("Range"), count)
    tag = [("ETag", '"lie-1"'), ("Accept-Ranges", "bytes")]
    if not asked and asked is not None:
        return Response(b"", 416, headers=[*tag, ("Content-Range", f"bytes */{count}")])
    if not asked and lie != "unasked":
        return Response(stream(content(0, count)), 200, "application/octet-stream", tag, count)
    start, stop = asked or (0, count // 2)
    told = f"bytes {start}-{stop - 1}/{count}"
    match lie:
        case "start":
            start = max(0, start - 10)
            told = f"bytes {start}-{stop - 1}/{count}"
        case "total":
            told = f"bytes {start}-{stop - 1}/{count + 1000}"
        case "end":
            told = f"bytes {start}-{stop + 99}/{count + 1000}"
        case "none":
            told = None
        case "unit":
            told = f"bananas {start}-{stop - 1}/{count}"
        case "whole":
            start, stop = 0, count
        case "tag":
            tag = [("ETag", '"lie-2"')]
        case "unasked":
            pass
        case "few" | "unsure" | "broken" | "nothing" | "much":
            stop = min(stop, start + request.number("most", 30000))
            told = f"bytes {start}-{stop - 1}/{'*' if lie == 'unsure' else count}"
            if lie in ("broken", "nothing", "much"):
                end = {"broken": stop - 1000 if stop < count else stop, "nothing": start, "much": stop + 10}[lie]
                return Response(stream(content(start, end)), 206, "application/octet-stream", [*tag, ("Content-Range", told)])
        case "refused":
            return Response(b"", 416, headers=[*tag, ("Content-Range", f"bytes */{start}")])
        case _:
            raise BadRequest(f"no lie {lie}")
    headers = tag + ([("Content-Range", told)] if told else [])
    return Response(stream(content(start, stop)), 206, "application/octet-stream", headers, stop - start)
