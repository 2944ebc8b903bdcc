# SPDX-License-Identifier: Apache-2.0
"""Resources with versions: ranges (RFC 9110 §14), conditions (§13) and caching (RFC 9111)."""
import base64
import email.utils
import re
import time

from .content import content, stream
from .http1 import Response
from .replies import word

# 2020-01-01 00:00:00 UTC; each version is a day younger.
BORN = 1577836800


def date(seconds):
    """A time as HTTP writes it."""
    return email.utils.formatdate(seconds, usegmt=True)


def moment(text):
    """A time of HTTP, or None."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None


class Version:
    """One version of a resource: its tag, its date."""

    def __init__(self, request, name, number):
        weak = "W/" if request.flag("weak") else ""
        self.tag = request.argument("etag", f'{weak}"{name}-{number}"') if request.argument("etag") != "0" else None
        self.modified = BORN + 86400 * number if request.flag("lm", True) else None
        self.number = number

    @property
    def headers(self):
        lines = [("ETag", self.tag)] if self.tag else []
        return lines + ([("Last-Modified", date(self.modified))] if self.modified else [])

    def is_meant(self, tags):
        """Whether a list of tags names this one, by the weak comparison."""
        listed = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        return self.tag is not None and ("*" in listed or self.tag.removeprefix("W/") in listed)

    def is_known(self, request):
        """Whether the client has it already."""
        if (tags := request.header("If-None-Match")) is not None:
            return self.is_meant(tags)
        since = moment(request.header("If-Modified-Since"))
        return self.modified is not None and since is not None and self.modified <= since

    def permits_range(self, request):
        """Whether If-Range names this one, by the strong comparison."""
        condition = request.header("If-Range")
        if condition is None:
            return True
        if '"' in condition:
            return condition == self.tag and not condition.startswith("W/")
        return self.modified is not None and moment(condition) == self.modified


def version(request, name):
    """The version that is asked for by `v`, or with `change=1` another for each request of the key."""
    number = request.number("v", 1)
    if request.flag("change"):
        number += request.application.counters.account(request.key).count - 1
    return Version(request, name, number)


def ranges(text, count):
    """The one range asked for as a pair; None for what is to be ignored; () for what cannot be."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", (text or "").strip())
    if not match or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        return (max(0, count - int(last)), count) if int(last) and count else ()
    if last and int(last) < int(first):
        return None
    return (int(first), min(int(last) + 1 if last else count, count)) if int(first) < count else ()


def excerpt(request, count, current):
    """Status, headers, start and end of the answer to a request for a resource of so many bytes."""
    headers = list(current.headers)
    if not request.flag("ranges", True):
        return 200, headers + [("Accept-Ranges", "none")], 0, count
    headers.append(("Accept-Ranges", "bytes"))
    wanted = ranges(request.header("Range"), count) if current.permits_range(request) else None
    if wanted is None:
        return 200, headers, 0, count
    if not wanted:
        return 416, headers + [("Content-Range", f"bytes */{count}")], 0, 0
    return 206, headers + [("Content-Range", f"bytes {wanted[0]}-{wanted[1] - 1}/{count}")], *wanted


def pieces(current, start, end):
    """The content of a version: that of the next one begins a byte later."""
    shift = current.number - 1
    return content(start + shift, end + shift)


async def do_range(request):
    """/range/N: the first N bytes of the content, with ETag, Last-Modified and ranges."""
    count, current = word(request, 1), version(request, f"range-{request.words[1]}")
    if current.is_known(request):
        return Response(b"", 304, headers=current.headers)
    status, headers, start, end = excerpt(request, count, current)
    kind = request.argument("type", "application/octet-stream")
    return Response(stream(pieces(current, start, end)), status, kind, headers, end - start)


async def do_cache(request):
    """/cache/NAME?cc=&vary=&age=&expires=&date=&h=Name:Value: says how often the key was asked; 304 where that is right.

    `age` goes out as it is; `expires` and `date` are seconds from now. auth=user:password: 401 without these, or 407 with proxy=1.
    """
    if wanted := request.argument("auth"):
        proxy = "Proxy-" if request.flag("proxy", False) else ""
        told = request.header(proxy + "Authorization") or ""
        if told != "Basic " + base64.b64encode(wanted.encode()).decode():
            challenge = [(("Proxy-Authenticate" if proxy else "WWW-Authenticate"), 'Basic realm="cache"')]
            return Response(b"", 407 if proxy else 401, headers=challenge)
    current, now = version(request, request.words[-1] or "cache"), time.time()
    headers = [*current.headers]
    for argument, name in (("cc", "Cache-Control"), ("vary", "Vary"), ("age", "Age")):
        if (value := request.argument(argument)) is not None:
            headers.append((name, value))
    for argument, name in (("expires", "Expires"), ("date", "Date")):
        if request.argument(argument) is not None:
            headers.append((name, date(now + request.number(argument, 0, float))))
    headers += [tuple(value.split(":", 1)) for name, value in request.query if name == "h"]
    if request.method in ("GET", "HEAD") and current.is_known(request):
        return Response(b"", 304, headers=headers)
    return Response.json({
        "serial": request.application.counters.account(request.key).count, "path": request.path,
        "version": current.number, "language": request.header("Accept-Language"),
        "conditional": request.header("If-None-Match") or request.header("If-Modified-Since"),
    }, request.number("status", 200), headers)
