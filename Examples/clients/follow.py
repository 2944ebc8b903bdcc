#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the network's status and each change of it, as the service tells by varlink."""
import json, os, socket, sys, time

def call(method, **parameters):
    """The answers to a call, as long as the service sends any."""
    with socket.socket(socket.AF_UNIX) as service:
        service.connect(os.environ.get("REACH_SOCKET") or "/run/reach/reach.varlink")
        request = {"method": "io.reach.Reachability." + method, "more": True, "parameters": parameters}
        service.sendall(json.dumps(request).encode() + b"\0")
        rest = b""
        while piece := service.recv(65536):
            *messages, rest = (rest + piece).split(b"\0")
            for message in map(json.loads, messages):
                if "error" in message: raise SystemExit(message["error"])
                yield message["parameters"]

while True:  # the first answer is the present status; a service that is started anew says it again
    try:
        for status in call("Monitor", statusOnly=True):
            print(status["status"], status["interface"] or "-", status["reason"], flush=True)
    except OSError as error: print("no service:", error, file=sys.stderr, flush=True)
    time.sleep(1)
