# SPDX-License-Identifier: Apache-2.0
"""Counts requests by key, so that parallel tests are independent."""
import asyncio
import collections


class Account:
    """The counters of one key."""

    def __init__(self):
        self.count = 0
        self.active = 0
        self.peak = 0
        self.finished = 0
        self.aborted = 0
        self.sent = 0
        self.received = 0
        self.methods = collections.Counter()
        self.connections = {}
        self.open = set()
        self.peak_open = 0
        self.requests = collections.deque(maxlen=10000)
        self.authorizations = collections.deque(maxlen=10000)
        self.values = {}

    def report(self):
        """As an object of JSON."""
        return {
            "count": self.count, "active": self.active, "peak": self.peak, "finished": self.finished,
            "aborted": self.aborted, "sent": self.sent, "received": self.received, "methods": dict(self.methods),
            "connections": len(self.connections), "open": len(self.open), "peakOpen": self.peak_open,
            "requests": list(self.requests), "authorizations": list(self.authorizations),
        }


class Counters:
    """The accounts, the waits for them, and the gates at which requests are held."""

    def __init__(self):
        self.accounts = {}
        self.waiters = {}
        self.gates = {}

    def account(self, key):
        """The account of a key; a new one where there is none."""
        return self.accounts.setdefault(key, Account())

    def began(self, request):
        """A request has arrived: its head, not its body."""
        account = self.account(request.key)
        account.count += 1
        account.active += 1
        account.peak = max(account.peak, account.active)
        account.methods[request.method] += 1
        account.requests.append(f"{request.method} {request.target}")
        account.authorizations.append(request.header("Authorization") or "")
        connection = request.connection
        account.connections[connection] = account.connections.get(connection, 0) + 1
        if not request.proxied:
            account.open.add(connection)
            account.peak_open = max(account.peak_open, len(account.open))
        self.changed(request.key)

    def ended(self, request, completely):
        """Its reply has gone out, or the client has left before."""
        account = self.account(request.key)
        account.active -= 1
        if completely:
            account.finished += 1
        else:
            account.aborted += 1
        self.changed(request.key)

    def disconnected(self, connection, keys):
        """A connection without nginx in front has ended."""
        for key in keys:
            if key in self.accounts:
                self.accounts[key].open.discard(connection)
                self.changed(key)

    def reset(self, key):
        """Forgets a key, except what is still running."""
        active = self.account(key).active
        self.accounts[key] = account = Account()
        account.active = account.peak = active
        self.changed(key)

    def changed(self, key):
        """Lets those go on whose wait is over."""
        for condition, future in self.waiters.get(key, []):
            if not future.done() and condition(self.account(key)):
                future.set_result(None)

    async def wait(self, key, condition, seconds):
        """Waits until an account is as wished, or for so long; true where it is."""
        if condition(self.account(key)):
            return True
        future = asyncio.get_running_loop().create_future()
        entry = (condition, future)
        self.waiters.setdefault(key, []).append(entry)
        try:
            async with asyncio.timeout(seconds):
                await future
            return True
        except TimeoutError:
            return False
        finally:
            self.waiters[key].remove(entry)

    def gate(self, name):
        """The gate of this name; closed until it is opened."""
        return self.gates.setdefault(name, asyncio.Event())


def condition(wishes):
    """The test of an account for wishes like {"count": 3, "active": 0}: at least so many, and `active`/`open` at most."""
    atMost = ("active", "open")

    def holds(account):
        report = account.report()
        return all(report[name] <= value if name in atMost else report[name] >= value
                   for name, value in wishes.items())
    return holds
