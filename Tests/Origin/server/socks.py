# SPDX-License-Identifier: Apache-2.0
"""A SOCKS 5 proxy (RFC 1928, RFC 1929): connects to whatever port is asked for. Every name is this machine."""
import asyncio
import ipaddress
import socket
import types

from .proxy import pump
from .wire import Gone, Wire

NO_CREDENTIALS, PASSWORD, NONE_ACCEPTED = 0, 2, 255
SUCCEEDED, REFUSED, UNKNOWN_COMMAND = 0, 5, 7


def socks(application, key, demands_credentials):
    """A listener; what comes is counted by this key."""
    async def connected(wire):
        if not await agrees(wire, demands_credentials):
            await wire.end()
            return
        _, command, _, kind = await exactly(wire, 4)
        host = await name(wire, kind)
        port = int.from_bytes(await exactly(wire, 2), "big")
        number = f"{key}-{application.counters.account(key).count}"
        request = types.SimpleNamespace(
            key=key, method="SOCKS", target=f"{host}:{port}", connection=number, proxied=False, header=lambda _: None)
        application.counters.began(request)
        try:
            await serve(wire, command, port)
        finally:
            application.counters.ended(request, True)
            application.counters.disconnected(number, [key])
    return connected


async def agrees(wire, demands_credentials):
    """Agrees on how the client says who it is, and hears it; whether that is enough."""
    _, count = await exactly(wire, 2)
    offered = await exactly(wire, count)
    method = PASSWORD if demands_credentials else NO_CREDENTIALS
    if method not in offered:
        await wire.send(bytes([5, NONE_ACCEPTED]))
        return False
    await wire.send(bytes([5, method]))
    if method == NO_CREDENTIALS:
        return True
    _, length = await exactly(wire, 2)
    user = await exactly(wire, length)
    password = await exactly(wire, (await exactly(wire, 1))[0])
    is_right = (user, password) == (b"user", b"secret")
    await wire.send(bytes([1, 0 if is_right else 1]))
    return is_right


async def name(wire, kind):
    """The server, as the client names it."""
    if kind == 3:
        return (await exactly(wire, (await exactly(wire, 1))[0])).decode()
    return str(ipaddress.ip_address(await exactly(wire, 4 if kind == 1 else 16)))


async def serve(wire, command, port):
    """One connection to a server."""
    sock = socket.socket()
    sock.setblocking(False)
    answer = SUCCEEDED if command == 1 else UNKNOWN_COMMAND
    if answer == SUCCEEDED:
        try:
            await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        except OSError:
            answer = REFUSED
    await wire.send(bytes([5, answer, 0, 1, 127, 0, 0, 1]) + port.to_bytes(2, "big"))
    if answer != SUCCEEDED:
        sock.close()
        await wire.end()
        return
    far = Wire(sock)
    try:
        await asyncio.wait([asyncio.ensure_future(pump(wire, far)), asyncio.ensure_future(pump(far, wire))])
    finally:
        far.close()


async def exactly(wire, count):
    """So many bytes; throws Gone where fewer come."""
    data = b""
    while len(data) < count:
        part = await wire.take(count - len(data))
        if not part:
            raise Gone
        data += part
    return data
