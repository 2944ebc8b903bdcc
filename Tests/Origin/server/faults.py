# SPDX-License-Identifier: Apache-2.0
"""Hostile and broken replies: /fault/NAME, to be asked without nginx in between."""
from . import fault_bodies, fault_connections, fault_replies
from .http1 import Response

PLAYS = {
    name[5:].replace("_", "-"): function
    for module in (fault_bodies, fault_connections)
    for name, function in vars(module).items() if name.startswith("play_")
}


async def do_fault(request):
    """Plays one fault; its query says how."""
    name = request.words[1] if len(request.words) > 1 else ""
    if play := PLAYS.get(name):
        return await play(request)
    if (reply := fault_replies.REPLIES.get(name)) is None:
        known = sorted([*PLAYS, *fault_replies.REPLIES])
        return Response.json({"error": f"there is no fault {name}", "faults": known}, 404)
    await fault_connections.drain(request)
    await request.wire.send(reply)
    await fault_connections.end(request, "close")
    return None


async def silent(wire):
    """A listener that takes everything and never answers, not even a handshake."""
    while await wire.take(65536):
        pass


async def reset(wire):
    """A listener that resets each connection at once."""
    await wire.end("rst")
