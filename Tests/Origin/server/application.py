# SPDX-License-Identifier: Apache-2.0
"""Takes connections, finds the endpoint for each request, keeps the counters."""
import asyncio
import itertools
import ssl

from .http1 import HEAD_LIMIT, BadRequest, Request, Response
from .counters import Counters
from .wire import Gone, Wire


class Application:
    """The endpoints by the first word of their path, and the connections."""

    def __init__(self):
        self.counters = Counters()
        self.endpoints = {}
        self.tasks = set()
        self.serial = itertools.count(1)

    def add(self, *modules):
        """Takes over the endpoints of modules: functions whose name begins with `do_`, by their name without it.

        One with `uncounted = True` is not in the counters.
        """
        for module in modules:
            for name, function in vars(module).items():
                if name.startswith("do_"):
                    self.endpoints[name[3:].replace("_", "-")] = function

    async def serve(self, listener, connected=None, tls=None):
        """Takes connections for ever, each of which `connected` may do with as it likes instead of HTTP."""
        loop = asyncio.get_running_loop()
        while True:
            sock, _ = await loop.sock_accept(listener)
            task = loop.create_task(self.connection(sock, connected, tls))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def connection(self, sock, connected, tls):
        """One connection, from its first byte to its last."""
        wire, serial, keys = Wire(sock, tls), f"direct-{next(self.serial)}", set()
        try:
            if connected:
                await connected(wire)
                return
            await wire.handshake()
            while await self.exchange(wire, serial, keys):
                pass
            await wire.end()
        except (Gone, ssl.SSLError, OSError):
            pass
        finally:
            wire.close()
            self.counters.disconnected(serial, keys)

    async def exchange(self, wire, serial, keys):
        """One request and its reply; false where the connection ends with it."""
        try:
            head = await wire.line_end(b"\r\n\r\n", HEAD_LIMIT)
            if head is None:
                return False
            request = Request(wire, head, serial)
        except (BadRequest, ValueError) as error:
            await wire.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + str(error).encode())
            return False
        request.application = self
        endpoint = self.endpoints.get(request.words[0], self.endpoints["unknown"])
        if getattr(endpoint, "uncounted", False):
            return await self.answer(endpoint, request)
        keys.add(request.key)
        self.counters.began(request)
        completely = False
        try:
            result = await self.answer(endpoint, request)
            completely = True
            return result
        finally:
            self.counters.account(request.key).received += request.received
            self.counters.ended(request, completely)

    async def answer(self, endpoint, request):
        """Calls an endpoint, sends what it returns; one that returns nothing has done everything itself."""
        try:
            response = await endpoint(request)
        except BadRequest as error:
            response = Response.json({"error": str(error)}, 400)
        if response is None:
            return False
        # A client that waits for 100 has been answered otherwise; its body will not come.
        response.closes |= request.owes_continue
        await response.send(request, self.counters.account(request.key))
        if request.owes_continue:
            return False
        async for _ in request.body():
            pass
        return request.keeps_alive and not response.closes
