# SPDX-License-Identifier: Apache-2.0
"""Who the client is: passwords, tokens, cookies."""
import base64
import hashlib
import http.cookies
import secrets
import urllib.parse

from .echo import parameters
from .http1 import Response
from .replies import away

REALM = "Fake Realm"


def given(request):
    """User and password of Basic authentication, or None."""
    scheme, _, value = (request.header("Authorization") or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        return user, password
    except ValueError:
        return None


def refused(status=401, headers=()):
    """Why not."""
    return Response.json({"authenticated": False}, status, headers)


async def do_basic_auth(request):
    """/basic-auth/u/p: 401 with a challenge without the right credentials."""
    if given(request) != tuple(request.words[1:3]):
        return refused(headers=[("WWW-Authenticate", f'Basic realm="{REALM}"')])
    return Response.json({"authenticated": True, "user": request.words[1]})


async def do_hidden_basic_auth(request):
    """/hidden-basic-auth/u/p: 404 without the right credentials."""
    if given(request) != tuple(request.words[1:3]):
        return refused(404)
    return Response.json({"authenticated": True, "user": request.words[1]})


async def do_digest_auth(request):
    """/digest-auth/u/p?algorithm=MD5: RFC 7616 with `auth`; MD5 or SHA-256. With `url` it then leads there, as /redirect-to does.

    With `stale` the first right answer of a key was made with a nonce that holds no more.
    """
    user, password = request.words[1:3]
    algorithm = request.argument("algorithm", "MD5")

    def digest(text):
        return hashlib.new("sha256" if algorithm == "SHA-256" else "md5", text.encode()).hexdigest()

    scheme, _, rest = (request.header("Authorization") or "").partition(" ")
    answer = {name.strip(): value for name, value in parameters(";" + rest.replace(",", ";")).items()}
    stale = "FALSE"
    if scheme.lower() == "digest":
        secret = digest(f"{user}:{REALM}:{password}")
        told = digest(f"{request.method}:{request.target}")
        fields = [answer.get(name, "") for name in ("nonce", "nc", "cnonce", "qop")]
        if answer.get("username") == user and answer.get("response") == digest(":".join([secret, *fields, told])):
            values = request.application.counters.account(request.key).values
            if not request.argument("stale") or values.get("stale"):
                if request.argument("url"):
                    return away(request)
                return Response.json({"authenticated": True, "user": user})
            values["stale"] = stale = "TRUE"
    challenge = f'Digest realm="{REALM}", qop="auth", nonce="{secrets.token_hex(16)}", opaque="origin", ' \
        f'algorithm={algorithm}, stale={stale}'
    return refused(headers=[("WWW-Authenticate", challenge)])


def generation(request):
    """Which token of a key holds now: a number, from 1."""
    return request.application.counters.account(request.key).values.setdefault("generation", 1)


async def do_auth_token(request):
    """/auth-token?key=: accepts `Bearer KEY.GENERATION`. /auth-token/refresh gives it, /auth-token/expire makes it void.

    A refresh counts by itself (`refreshes`), may wait (`delay`, `gate`) and fail (`status`).
    """
    counters = request.application.counters
    values = counters.account(request.key).values
    action = request.words[1] if len(request.words) > 1 else ""
    if action == "expire":
        values["generation"] = generation(request) + 1
        return Response.json({"generation": values["generation"]})
    if action == "refresh":
        values["refreshes"] = values.get("refreshes", 0) + 1
        if gate := request.argument("gate"):
            await request.wire.race(counters.gate(gate).wait())
        if delay := request.number("delay", 0, float):
            await request.wire.pause(delay)
        status = request.number("status", 200)
        return Response.json({
            "token": f"{request.key}.{generation(request)}", "generation": generation(request),
            "refreshes": values["refreshes"]}, status)
    if request.header("Authorization") == f"Bearer {request.key}.{generation(request)}":
        return Response.json({"authenticated": True, "generation": generation(request)})
    return refused(headers=[("WWW-Authenticate", 'Bearer realm="origin", error="invalid_token"')])


async def do_cookies(request):
    """/cookies: what was sent. /cookies/set?k=v: sets them and redirects to /cookies. /cookies/delete?k: the opposite.

    /cookies/raw?line=…: exactly these Set-Cookie lines.
    """
    action = request.words[1] if len(request.words) > 1 else ""
    if action == "raw":
        lines = [("Set-Cookie", value) for name, value in request.query if name == "line"]
        return Response.json({"lines": len(lines)}, headers=lines)
    if action in ("set", "delete"):
        end = "; Path=/" if action == "set" else "; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        lines = [("Set-Cookie", f"{name}={value}{end}") for name, value in request.query if name != "key"]
        key = "?key=" + urllib.parse.quote(request.key) if request.argument("key") else ""
        return Response(b"", 302, "text/html", [("Location", "/cookies" + key), *lines])
    sent = http.cookies.SimpleCookie(request.header("Cookie") or "")
    return Response.json({"cookies": {name: each.value for name, each in sent.items()}})
