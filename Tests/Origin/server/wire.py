# SPDX-License-Identifier: Apache-2.0
"""One connection: bytes in, bytes out, and every way to end it, with or without TLS."""
import asyncio
import fcntl
import socket
import ssl
import struct
import termios

# Not SIOCOUTQNSD: what the peer has not acknowledged counts as unsent, since a reset would throw it away.
SIOCOUTQ = termios.TIOCOUTQ


class Gone(Exception):
    """The client has left."""


class Wire:
    """A socket that does not block. TLS runs in memory above it, so that a reset or a cut stays possible there too."""

    def __init__(self, sock, tls=None):
        self.sock = sock
        self.loop = asyncio.get_running_loop()
        self.buffer = bytearray()
        self.ended = False
        self.tls = None
        if tls:
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = tls.wrap_bio(self.incoming, self.outgoing, server_side=True)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def handshake(self):
        """Agrees on keys; throws ssl.SSLError where that fails, after the alert has been sent."""
        while self.tls:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._pull():
                    raise Gone from None
            except ssl.SSLError:
                await self._flush()
                raise
        if self.tls:
            await self._flush()

    async def receive(self):
        """Adds what comes next to `buffer`; false at the end of the stream."""
        if self.ended:
            return False
        if not self.tls:
            return await self._pull()
        while True:
            try:
                data = self.tls.read(65536)
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._pull():
                    return False
                continue
            except ssl.SSLError:
                data = b""
            if not data:
                self.ended = True
                return False
            self.buffer += data
            return True

    async def take(self, count):
        """Up to so many bytes, as soon as there are any; empty at the end."""
        if not self.buffer and not await self.receive():
            return b""
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    async def line_end(self, mark, limit):
        """What comes before `mark`, which is taken too; None at the end, ValueError beyond the limit."""
        start = 0
        while (found := self.buffer.find(mark, start)) < 0:
            start = max(0, len(self.buffer) - len(mark) + 1)
            if len(self.buffer) > limit:
                raise ValueError(f"more than {limit} bytes before {mark!r}")
            if not await self.receive():
                return None
        data = bytes(self.buffer[:found])
        del self.buffer[:found + len(mark)]
        return data

    async def send(self, data):
        """Sends everything; returns when the kernel has it."""
        try:
            if self.tls:
                view = memoryview(data)
                for start in range(0, len(view), 65536):
                    self.tls.write(view[start:start + 65536])
                    await self._flush()
            else:
                await self.loop.sock_sendall(self.sock, data)
        except (OSError, ssl.SSLError) as error:
            raise Gone from error

    async def send_below_tls(self, data):
        """Sends bytes that are no TLS records."""
        await self.loop.sock_sendall(self.sock, data)

    async def pause(self, seconds=None):
        """Waits so long, or for ever; throws Gone as soon as the client leaves."""
        watch = asyncio.ensure_future(self._until_gone())
        done, _ = await asyncio.wait([watch], timeout=seconds)
        if done:
            raise Gone
        watch.cancel()
        await asyncio.wait([watch])

    async def race(self, awaitable):
        """The result of something; throws Gone as soon as the client leaves."""
        watch, work = asyncio.ensure_future(self._until_gone()), asyncio.ensure_future(awaitable)
        try:
            await asyncio.wait([watch, work], return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Gone
            return work.result()
        finally:
            watch.cancel()
            work.cancel()
            await asyncio.wait([watch, work])

    async def delivered(self):
        """Waits until the peer's kernel has acknowledged everything: only then does a reset lose nothing.

        Asked again and again, since the kernel has no event for it."""
        while self.sock.family != socket.AF_UNIX and self._unacknowledged():
            await asyncio.sleep(0.001)

    async def end(self, kind="close"):
        """Ends it: `close` in an orderly way, `fin` without the closing alert of TLS, `rst` by a reset."""
        try:
            if kind == "rst":
                await self.delivered()
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                if kind == "close" and self.tls:
                    self._close_tls()
                    await self._flush()
                # What arrives unread at a closed socket turns the orderly end into a reset: so it is read first.
                self.sock.shutdown(socket.SHUT_WR)
                async with asyncio.timeout(2):
                    while await self.loop.sock_recv(self.sock, 65536):
                        pass
        except (OSError, TimeoutError, ssl.SSLError):
            pass
        self.close()

    def close(self):
        """Gives the socket back; may be called again."""
        self.ended = True
        self.sock.close()

    def _close_tls(self):
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass

    def _unacknowledged(self):
        return struct.unpack("i", fcntl.ioctl(self.sock, SIOCOUTQ, b"\0\0\0\0"))[0]

    async def _until_gone(self):
        # Not checked beyond a megabyte: a client that keeps sending has not left.
        while True:
            readable = self.loop.create_future()
            self.loop.add_reader(self.sock, lambda: readable.done() or readable.set_result(None))
            try:
                await readable
            finally:
                self.loop.remove_reader(self.sock)
            # Read without another wait in between: what a cancelled sock_recv has read already would be lost.
            try:
                if not self._accept(self.sock.recv(65536)):
                    return
            except BlockingIOError:
                pass
            except OSError:
                return
            if len(self.buffer) > 1 << 20:
                await self.loop.create_future()

    async def _pull(self):
        try:
            return self._accept(await self.loop.sock_recv(self.sock, 65536))
        except OSError:
            return self._accept(b"")

    def _accept(self, data):
        if not data:
            self.ended = True
            if self.tls:
                self.incoming.write_eof()
            return False
        if self.tls:
            self.incoming.write(data)
        else:
            self.buffer += data
        return True

    async def _flush(self):
        data = self.outgoing.read()
        if data:
            try:
                await self.loop.sock_sendall(self.sock, data)
            except OSError as error:
                raise Gone from error
