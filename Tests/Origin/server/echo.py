# SPDX-License-Identifier: Apache-2.0
"""Endpoints that say what they were asked."""
import base64
import hashlib
import json
import urllib.parse
import zlib

from .http1 import BadRequest, Response


def collected(pairs):
    """Pairs as a dictionary; what comes more than once becomes a list."""
    result = {}
    for name, value in pairs:
        if name not in result:
            result[name] = value
        elif isinstance(result[name], list):
            result[name].append(value)
        else:
            result[name] = [result[name], value]
    return result


def text(data):
    """Bytes as text, or as a data URL where they are none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def canonical(headers):
    """Headers by names like `Content-Type`; what comes more than once is joined."""
    result = {}
    for name, value in headers:
        name = name.title()
        result[name] = f"{result[name]}, {value}" if name in result else value
    return result


def parameters(value):
    """The parameters of a header like Content-Disposition, whose quoted values hold nothing escaped (HTML, multipart)."""
    result, rest = {}, value.partition(";")[2]
    while rest:
        name, _, rest = rest.strip(" ;").partition("=")
        if rest.startswith('"'):
            result[name.lower()], _, rest = rest[1:].partition('"')
        else:
            result[name.lower()], _, rest = rest.partition(";")
    return result


def parts(data, boundary):
    """The parts of a multipart body: headers and content of each."""
    mark = b"\r\n--" + boundary.encode("latin-1")
    pieces = (b"\r\n" + data).split(mark)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise BadRequest("multipart body without its end")
    for piece in pieces[1:-1]:
        head, gap, content = piece.partition(b"\r\n\r\n")
        if not gap or not piece.startswith(b"\r\n"):
            raise BadRequest("part without an end of its headers")
        lines = head.decode().split("\r\n")[1:]
        yield [tuple(line.split(": ", 1)) for line in lines], content


async def echo(request):
    """Method, URL and everything sent, as an object."""
    data = await request.read()
    kind = request.header("Content-Type") or ""
    form, files, listed, value, rest = {}, {}, [], None, text(data)
    if kind.startswith("application/x-www-form-urlencoded"):
        form = collected(urllib.parse.parse_qsl(data.decode("latin-1"), keep_blank_values=True))
        rest = ""
    elif kind.startswith("multipart/form-data"):
        fields = []
        for headers, content in parts(data, parameters(kind).get("boundary", "")):
            by_name = {name.lower(): each for name, each in headers if name}
            names = parameters(by_name.get("content-disposition", ""))
            if "filename" in names:
                files[names.get("name", "")] = text(content)
            elif "name" in names:
                fields.append((names["name"], text(content)))
            listed.append({
                "name": names.get("name"), "filename": names.get("filename"), "type": by_name.get("content-type"),
                "headers": [list(each) for each in headers], "size": len(content),
                "sha256": hashlib.sha256(content).hexdigest(), "text": text(content) if len(content) < 65536 else None})
        form, rest = collected(fields), ""
    else:
        try:
            value = json.loads(data) if data else None
        except ValueError:
            pass
    scheme = request.proxied.get("scheme", "https" if request.wire.tls else "http")
    return {
        "method": request.method, "url": f"{scheme}://{request.header('Host') or ''}{request.target}",
        "args": collected(request.query), "form": form, "files": files, "parts": listed,
        "headers": canonical(request.headers), "rawHeaders": [list(each) for each in request.headers],
        "data": rest, "json": value, "size": len(data), "chunked": request.chunked,
    }


def only(*methods):
    """An endpoint that echoes these methods and refuses others."""
    async def endpoint(request):
        if request.method in methods:
            return Response.json(await echo(request))
        return Response(b"", 405, "text/html", [("Allow", ", ".join(methods))])
    return endpoint


do_get = only("GET", "HEAD")
do_post = only("POST")
do_put = only("PUT")
do_patch = only("PATCH")
do_delete = only("DELETE")


async def do_anything(request):
    """Any method, any further path."""
    return Response.json(await echo(request))


async def do_headers(request):
    """The headers alone."""
    return Response.json({"headers": canonical(request.headers)})


async def do_raw_headers(request):
    """The header lines as they came, in their order, as text; without nginx in front the request line first."""
    return Response("".join(line + "\r\n" for line in request.lines).encode("latin-1"), kind="text/plain")


async def do_connection(request):
    """How the request came here."""
    seen = request.proxied
    return Response.json({
        "connection": request.connection, "requests": int(seen.get("requests", 0)),
        "protocol": seen.get("protocol", request.version), "listener": seen.get("listener", "direct"),
        "tls": seen.get("tls"), "cipher": seen.get("cipher"),
        "offered": seen.get("offered", "").split(":"), "sni": seen.get("sni"),
        "resumed": seen.get("resumed") == "r", "peer": seen.get("peer"),
        "verified": seen.get("verified"), "client": seen.get("client"),
    })


async def do_upload(request):
    """Takes any body, keeps nothing but its length and SHA-256; `ms` waits between pieces, to be a slow reader."""
    digest, inside, pause = hashlib.sha256(), hashlib.sha256(), request.number("ms", 0, float) / 1000
    encoding, count = (request.header("Content-Encoding") or "").lower(), 0
    unpacker = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
    async for piece in request.body():
        digest.update(piece)
        request.application.counters.account(request.key).received += len(piece)
        request.application.counters.changed(request.key)
        if unpacker:
            piece = unpacker.decompress(piece)
            inside.update(piece)
            count += len(piece)
        if pause:
            await request.wire.pause(pause)
    received, request.received = request.received, 0
    return Response.json({
        "method": request.method, "count": received, "sha256": digest.hexdigest(), "chunked": request.chunked,
        "contentLength": request.header("Content-Length"), "contentType": request.header("Content-Type"),
        "contentEncoding": request.header("Content-Encoding"), "expect": request.header("Expect"),
        "decodedCount": count if unpacker else None, "decodedSHA256": inside.hexdigest() if unpacker else None,
    })
