#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hands a request to the outbox of the service and follows it to its end: deliver.py URL TEXT"""
import json, os, socket, sys, time

def call(method, more, **parameters):
    """The answers to a call, as long as the service sends any."""
    with socket.socket(socket.AF_UNIX) as service:
        service.connect(os.environ.get("REACH_SOCKET") or "/run/reach/reach.varlink")
        request = {"method": "io.reach.Reachability." + method, "more": more, "parameters": parameters}
        service.sendall(json.dumps(request).encode() + b"\0")
        rest = b""
        while piece := service.recv(65536):
            *messages, rest = (rest + piece).split(b"\0")
            for message in map(json.loads, messages):
                if "error" in message: raise SystemExit(message["error"])
                yield message["parameters"]

receipt = next(call("Enqueue", False, url=sys.argv[1], body=sys.argv[2]))  # it is on the disk now
while True:  # a service that is started anew says again how it is
    try:
        for change in call("MonitorOutbox", True, id=receipt["id"]):
            entry = change.get("entry") or {}
            if change["event"] == "progress": print(change["sent"], "of", change["total"], "bytes", flush=True)
            elif reason := entry.get("hold") or entry.get("lastError"): print("waits:", reason, flush=True)
            if outcome := change.get("outcome"):
                print(outcome, change["statusCode"], ((change["answer"] or {}).get("body") or "").strip())
                sys.exit(outcome != "delivered")
    except OSError as error: print("no service:", error, file=sys.stderr, flush=True)
    time.sleep(1)
