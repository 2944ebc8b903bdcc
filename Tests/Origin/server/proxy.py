# SPDX-License-Identifier: Apache-2.0
"""A proxy for HTTP: forwards what has an absolute URL, tunnels what asks by CONNECT. Every name is this machine."""
import asyncio
import base64
import socket
import urllib.parse

from .http1 import BadRequest, Request
from .wire import Gone, Wire

CREDENTIALS = "Basic " + base64.b64encode(b"user:secret").decode()


def proxy(application, key, demands_credentials):
    """A listener; what comes is counted by this key."""
    async def connected(wire):
        head = await wire.line_end(b"\r\n\r\n", 1 << 20)
        if head is None:
            return
        try:
            request = Request(wire, head, f"{key}-{application.counters.account(key).count}")
        except BadRequest:
            return
        request.key = key
        application.counters.began(request)
        try:
            await serve(request, demands_credentials)
        finally:
            application.counters.ended(request, True)
            application.counters.disconnected(request.connection, [key])
    return connected


async def serve(request, demands_credentials):
    """One request; the connection ends with it."""
    wire = request.wire
    if demands_credentials and request.header("Proxy-Authorization") != CREDENTIALS:
        await wire.send(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"Fake Proxy\"\r\n"
                        b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        await wire.end()
        return
    tunnels = request.method == "CONNECT"
    url = urllib.parse.urlsplit("//" + request.target if tunnels else request.target)
    sock = socket.socket()
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", url.port or 80))
    except OSError:
        sock.close()
        await wire.send(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await wire.end()
        return
    far = Wire(sock)
    try:
        if tunnels:
            await wire.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            await far.send(forwarded(request, url))
        await asyncio.wait([asyncio.ensure_future(pump(wire, far)), asyncio.ensure_future(pump(far, wire))])
    finally:
        far.close()


def forwarded(request, url):
    """The head as the origin gets it."""
    target = urllib.parse.urlunsplit(("", "", url.path or "/", url.query, ""))
    dropped = ("proxy-authorization", "proxy-connection", "connection")
    lines = [f"{request.method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers if name.lower() not in dropped]
    return ("\r\n".join([*lines, "Via: 1.1 origin", "Connection: close"]) + "\r\n\r\n").encode("latin-1")


async def pump(source, sink):
    """Carries bytes until there are no more."""
    try:
        while data := await source.take(65536):
            await sink.send(data)
        sink.sock.shutdown(socket.SHUT_WR)
    except (Gone, OSError):
        pass
