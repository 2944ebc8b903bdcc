# SPDX-License-Identifier: Apache-2.0
"""Images and documents: small, valid, made here."""
import plistlib
import struct
import zlib

from .http1 import Response


def png(width, height):
    """Grey, eight bits."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(width, height):
    """Grey and baseline: tables with one code each, so that two zero bits are a block of 8 × 8."""
    def segment(mark, data):
        return struct.pack(">BBH", 0xFF, mark, len(data) + 2) + data
    one = b"\1" + b"\0" * 15 + b"\0"
    bits = 2 * (-(-width // 8)) * (-(-height // 8))
    scan = b"\0" * (bits // 8) + (bytes([0xFF >> bits % 8]) if bits % 8 else b"")
    return b"\xff\xd8" + segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0") + segment(0xDB, b"\0" + b"\1" * 64) \
        + segment(0xC0, struct.pack(">BHHBBBB", 8, height, width, 1, 1, 0x11, 0)) \
        + segment(0xC4, b"\x00" + one) + segment(0xC4, b"\x10" + one) \
        + segment(0xDA, b"\1\1\0\0\x3f\0") + scan + b"\xff\xd9"


def gif(width, height):
    """One colour; the frame is a pixel, the screen as large as wished."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0\x80\x80\x80\0\0\0" \
        + b"\x2c\0\0\0\0\1\0\1\0\0\x02\x02\x44\x01\0\x3b"


def bitmap(width, height):
    """Rows of 24-bit grey, without the file's header."""
    row = b"\x80" * (width * 3) + b"\0" * (-width * 3 % 4)
    return struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(row) * height, 2835, 2835, 0, 0), row * height


def bmp(width, height):
    """Windows' bitmap."""
    head, rows = bitmap(width, height)
    return b"BM" + struct.pack("<IHHI", 14 + len(head) + len(rows), 0, 0, 54) + head + rows


def ico(width, height):
    """One icon, a PNG inside; sizes from 256 are written as 0."""
    image = png(width, height)
    sides = [side if side < 256 else 0 for side in (width, height)]
    return struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", *sides, 0, 0, 1, 8, len(image), 22) + image


def tiff(width, height):
    """Grey, one strip, little endian."""
    entries = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8 + 2 + 8 * 12 + 4),
               (278, 4, height), (279, 4, width * height)]
    directory = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + directory + b"\0\0\0\0" + b"\x80" * (width * height)


def xbm(width, height):
    """Text that a C compiler takes."""
    row = ", ".join(["0x55"] * ((width + 7) // 8 * height))
    return f"#define origin_width {width}\n#define origin_height {height}\nstatic char origin_bits[] = {{ {row} }};\n".encode()


IMAGES = {
    "png": ("image/png", png), "jpeg": ("image/jpeg", jpeg), "gif": ("image/gif", gif), "bmp": ("image/bmp", bmp),
    "ico": ("image/x-icon", ico), "tiff": ("image/tiff", tiff), "xbm": ("image/x-xbitmap", xbm),
}
SAMPLE = {"key": "value", "number": 5, "list": [1, 2], "data": b"\x00\xff"}


async def do_image(request):
    """/image/png?w=&h=&type=: png jpeg gif bmp ico tiff xbm, one pixel unless said otherwise."""
    kind, draw = IMAGES.get(request.words[-1], (None, None))
    if draw is None:
        return Response.json({"error": "no such image"}, 404)
    image = draw(request.number("w", 1), request.number("h", 1))
    return Response(image, kind=request.argument("type", kind))


async def do_xml(request):
    """A document of XML; /xml/malformed is none."""
    end = b"" if request.words[-1] == "malformed" else b"</slideshow>\n"
    body = b'<?xml version="1.0" encoding="UTF-8"?>\n<slideshow title="Sample"><slide>One</slide><slide/>' + end
    return Response(body, kind=request.argument("type", "application/xml"))


async def do_plist(request):
    """A property list as XML, or /plist/binary."""
    form = plistlib.FMT_BINARY if request.words[-1] == "binary" else plistlib.FMT_XML
    return Response(plistlib.dumps(SAMPLE, fmt=form), kind=request.argument("type", "application/x-plist"))


async def do_csv(_):
    """A table."""
    return Response(b"name,count\r\neth0,1\r\nwlan0,2\r\n", kind="text/csv")
