# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1: requests in, replies out, connections kept."""
import email.utils
import http
import json
import urllib.parse

from .wire import Gone

HEAD_LIMIT = 4 << 20
# nginx's information about a request, in internal headers.
PROXIED = "x-proxied-"


class BadRequest(Exception):
    """What the client sent is not HTTP, or not what an endpoint understands."""


class Request:
    """One request; its handler reads the body if it needs it."""

    def __init__(self, wire, head, connection):
        self.wire = wire
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/"):
            raise BadRequest(f"request line {lines[0]!r}")
        self.method, self.target, self.version = words
        self.lines, self.headers, self.proxied = [], [], {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadRequest(f"header line {line!r}")
            if name.lower().startswith(PROXIED):
                self.proxied[name.lower()[len(PROXIED):]] = value.strip()
            else:
                self.lines.append(line)
                self.headers.append((name, value.strip(" \t")))
        target = self.target
        if not target.startswith("/"):
            target = "/" + target.split("://", 1)[-1].partition("/")[2]
        path, _, self.query_text = target.partition("?")
        self.path = path
        self.words = [urllib.parse.unquote(word) for word in path.split("/")[1:]]
        self.query = urllib.parse.parse_qsl(self.query_text, keep_blank_values=True)
        self.key = self.argument("key", self.header("X-Key") or "")
        self.connection = "nginx-" + self.proxied["connection"] if "connection" in self.proxied else connection
        self.chunked = (self.header("Transfer-Encoding") or "").lower().endswith("chunked")
        length = self.header("Content-Length")
        if length is not None and not length.isdecimal():
            raise BadRequest(f"Content-Length {length!r}")
        self.length = None if self.chunked else int(length or 0)
        self.left = self.length
        self.is_read = self.left == 0
        self.owes_continue = (self.header("Expect") or "").lower() == "100-continue" and not self.is_read
        self.received = 0

    def header(self, name):
        """The first value of a header, or None."""
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)

    def argument(self, name, default=None):
        """The first value in the query, or what is said here."""
        return next((value for each, value in self.query if each == name), default)

    def number(self, name, default, kind=int):
        """A number in the query."""
        try:
            return kind(self.argument(name, default))
        except ValueError:
            raise BadRequest(f"{name} is not a number") from None

    def flag(self, name, default=False):
        """A switch in the query: 1 or 0."""
        return self.number(name, int(default)) != 0

    @property
    def keeps_alive(self):
        wish = (self.header("Connection") or "").lower()
        return wish != "close" if self.version == "HTTP/1.1" else wish == "keep-alive"

    async def body(self):
        """The pieces of the body as they come, without the framing of chunks."""
        if self.owes_continue:
            self.owes_continue = False
            await self.wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not self.is_read:
            if self.chunked and not self.left:
                await self._next_chunk()
                continue
            data = await self.wire.take(self.left)
            if not data:
                raise Gone
            self.left -= len(data)
            self.received += len(data)
            if self.chunked and self.left == 0:
                await self.wire.line_end(b"\r\n", 16)
            elif self.left == 0:
                self.is_read = True
            yield data

    async def _next_chunk(self):
        line = await self.wire.line_end(b"\r\n", 65536)
        if line is None:
            raise Gone
        try:
            self.left = int(line.split(b";")[0], 16)
        except ValueError:
            raise BadRequest(f"chunk size {line!r}") from None
        if self.left == 0:
            while await self.wire.line_end(b"\r\n", HEAD_LIMIT):
                pass
            self.is_read = True

    async def read(self, limit=256 << 20):
        """The whole body."""
        pieces = []
        async for piece in self.body():
            pieces.append(piece)
            if self.received > limit:
                raise BadRequest("the body is too long to be echoed")
        return b"".join(pieces)


class Response:
    """What is answered. A body of pieces without a length goes out in chunks."""

    def __init__(self, body=b"", status=200, kind=None, headers=(), length=None):
        self.status = status
        self.headers = list(headers)
        self.body = body
        self.length = len(body) if isinstance(body, (bytes, bytearray)) else length
        self.closes = False
        if kind:
            self.headers.insert(0, ("Content-Type", kind))

    @classmethod
    def json(cls, value, status=200, headers=()):
        """An object as JSON."""
        return cls(json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n", status, "application/json", headers)

    def head(self, request):
        """Status line and headers."""
        names = {name.lower() for name, _ in self.headers}
        try:
            phrase = http.HTTPStatus(self.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {self.status} {phrase}"]
        if "date" not in names:
            lines.append("Date: " + email.utils.formatdate(usegmt=True))
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.has_no_length:
            pass
        elif self.length is None:
            lines.append("Transfer-Encoding: chunked")
        else:
            lines.append(f"Content-Length: {self.length}")
        if self.closes or not request.keeps_alive:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    @property
    def has_no_length(self):
        return self.status in (204, 304) or 100 <= self.status < 200

    async def send(self, request, account):
        """Sends it all, or the head where no more is due."""
        wire, head = request.wire, self.head(request)
        if request.method == "HEAD" or self.has_no_length:
            await wire.send(head)
        elif isinstance(self.body, (bytes, bytearray)):
            await wire.send(head + self.body)
            account.sent += len(self.body)
        else:
            await wire.send(head)
            await self.send_body(request, account)

    async def send_body(self, request, account):
        """Sends the pieces."""
        async for piece in self.body:
            if self.length is not None:
                await request.wire.send(piece)
            elif piece:
                await request.wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            account.sent += len(piece)
        if self.length is None:
            await request.wire.send(b"0\r\n\r\n")
