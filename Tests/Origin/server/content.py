# SPDX-License-Identifier: Apache-2.0
"""Bytes that a client can compute too, and how they are packed."""
import struct
import zlib

BLOCK = 1 << 16
PATTERN = bytes((index + 17 * (index >> 8)) & 0xFF for index in range(BLOCK))
TURNED = [bytes((value + 101 * turn) & 0xFF for value in range(256)) for turn in range(256)]


def content(start, end):
    """The pieces of the bytes start ..< end, where byte i is (i + 17 * (i >> 8) + 101 * (i >> 16)) & 255."""
    while start < end:
        block, offset = divmod(start, BLOCK)
        stop = min(BLOCK, offset + end - start)
        yield PATTERN[offset:stop].translate(TURNED[block & 0xFF])
        start += stop - offset


async def stream(pieces):
    """The same as an asynchronous sequence."""
    for piece in pieces:
        yield piece


def gzip_pieces(pieces):
    """Packed by gzip (RFC 1952)."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def brotli(data):
    """A valid brotli stream (RFC 7932) that stores the bytes as they are: a window of 64 KiB, blocks without packing."""
    packed, start = bytearray(), True
    for offset in range(0, len(data), BLOCK):
        block = data[offset:offset + BLOCK]
        # Not the last (1 bit), four nibbles of length (2), the length less one (16), not packed (1).
        head = (len(block) - 1) << 3 | 1 << 19
        if start:
            # 1 bit of window in front of the first.
            head, start = head << 1, False
        packed += struct.pack("<I", head)[:3] + block
    return bytes(packed) + (b"\x06" if start else b"\x03")
