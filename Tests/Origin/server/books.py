# SPDX-License-Identifier: Apache-2.0
"""Endpoints about the other requests; they count themselves nowhere."""
from .http1 import Response
from .counters import condition


def uncounted(function):
    """Keeps an endpoint out of the counters."""
    function.uncounted = True
    return function


@uncounted
async def do_count(request):
    """/count/KEY: how many requests, with which methods."""
    account = request.application.counters.account(request.words[1])
    return Response.json({"count": account.count, "methods": dict(account.methods)})


@uncounted
async def do_stats(request):
    """/stats?key=: everything known of a key."""
    return Response.json(request.application.counters.account(request.key).report())


@uncounted
async def do_wait(request):
    """/wait?key=&count=&active=…&seconds=10: answers when the key's account is so; 408 where it does not come."""
    wishes = {name: int(value) for name, value in request.query if name not in ("key", "seconds")}
    counters = request.application.counters
    seconds = request.number("seconds", 10, float)
    done = await request.wire.race(counters.wait(request.key, condition(wishes), seconds))
    return Response.json(counters.account(request.key).report(), 200 if done else 408)


@uncounted
async def do_release(request):
    """/release/NAME: opens a gate for good."""
    request.application.counters.gate(request.words[1]).set()
    return Response.json({"released": request.words[1]})


@uncounted
async def do_reset(request):
    """/reset?key=: forgets a key."""
    request.application.counters.reset(request.key)
    return Response.json({"reset": request.key})
