"""Judges what `reach watch --json` writes. One process for all scenarios (starting Python takes a third of a second
in an emulated machine), driven by expect.sh: one request per line on standard input, its words separated by tabs,
one answer per line on standard output: `yes`, `yes VALUE`, or `no expected …, got …`.

A condition is NAME=VALUE, NAME!=VALUE, NAME<NUMBER, NAME>NUMBER or NAME~REGULAR-EXPRESSION; true, false and null
are written as in JSON.
"""
import json
import re
import sys
import time

REQUIRED = {
    "schema": int, "status": str, "since": (str, type(None)), "interface": (str, type(None)), "medium": (str, type(None)),
    "online": bool, "source": (str, type(None)), "gateway": (str, type(None)), "ssid": (str, type(None)),
    "signalDBm": (int, type(None)), "expensive": bool, "tunnel": bool, "generation": int, "reason": str,
    "alternative": (str, type(None)), "links": list, "event": str, "previous": (str, type(None)),
}
SHOWN = "event status previous online interface medium tunnel alternative generation reason".split()


def plain(value):
    """The spelling of a value in a condition."""
    return value if isinstance(value, str) else json.dumps(value)


def meets(line, condition):
    name, operator, wanted = re.fullmatch(r"(\w+)(!=|=|<|>|~)(.*)", condition).groups()
    if name not in line:
        return False
    value = line[name]
    if operator in "<>":
        return isinstance(value, (int, float)) and (value < float(wanted) if operator == "<" else value > float(wanted))
    if operator == "~":
        return re.search(wanted, plain(value)) is not None
    return (plain(value) == wanted) == (operator == "=")


def told(line, conditions=()):
    """A line in short, for a message: what usually matters, and what the conditions are about."""
    names = SHOWN + [name for name in (re.match(r"\w+", condition)[0] for condition in conditions) if name not in SHOWN]
    return " ".join(f"{name}={plain(line[name])}" for name in names if name in line) if line else "no line"


class Observer:
    """The lines of one `reach watch`, and the place from which the next expectation counts."""

    def __init__(self):
        self.path, self.process, self.lines, self.rest, self.offset, self.mark = None, None, [], b"", 0, 0

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        self.offset += len(data)
        *complete, self.rest = (self.rest + data).split(b"\n")
        for text in complete:
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            self.lines.append(line if isinstance(line, dict) else {"broken": text.decode(errors="replace")})

    def ended(self):
        """What to add to a message when the program runs no more (it stays a zombie until the shell waits for it)."""
        try:
            with open(f"/proc/{self.process}/stat", encoding="utf-8") as file:
                return " and an end of the program" if file.read().rpartition(")")[2].split()[0] == "Z" else ""
        except OSError:
            return " and an end of the program"

    # Each request is one method; it returns the answer.

    def open(self, path, process):
        self.__init__()
        self.path, self.process = path, process
        return "yes"

    def await_(self, limit, *conditions):
        """A line behind the mark that meets all conditions, now or within the limit."""
        end, start = time.monotonic() + float(limit), self.mark
        while True:
            ended = self.ended()
            self.read()
            for line in self.lines[start:]:
                if all(meets(line, condition) for condition in conditions):
                    return "yes"
            if time.monotonic() >= end or ended:
                last = self.lines[-1] if self.lines else None
                return f"no expected {' '.join(conditions)} within {limit} s, got {told(last, conditions)}{ended}"
            time.sleep(0.05)  # a file that grows wakes no reader

    def initially(self, *conditions):
        for condition in conditions:
            if not meets(self.lines[0], condition):
                return f"no expected {condition} initially, got {told(self.lines[0], [condition])}"
        return "yes"

    def from_now(self):
        self.read()
        self.mark = len(self.lines)
        return "yes"

    def statuses(self, *wanted):
        """The status changes behind the mark are exactly these."""
        self.read()
        got = [line["status"] for line in self.lines[self.mark:] if line.get("event") == "status"]
        return "yes" if got == list(wanted) else f"no expected status changes [{' '.join(wanted)}], got [{' '.join(got)}]"

    def never(self, *conditions):
        self.read()
        for line in self.lines[self.mark:]:
            if all(meets(line, condition) for condition in conditions):
                return f"no expected never {' '.join(conditions)}, got {told(line, conditions)}"
        return "yes"

    def field(self, name):
        self.read()
        return f"yes {plain(self.lines[-1].get(name))}"

    def object(self, path, *conditions):
        """The one object in another file, as `reach status --json` prints it."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            line = json.loads(text)
        except ValueError:
            return f"no expected one JSON object, got {text[:200]!r}"
        for condition in conditions:
            if not meets(line, condition):
                return f"no expected {condition} from reach status, got {told(line, [condition])}"
        return "yes"

    def gap(self, path, interface):
        """Milliseconds between the first message without LOWER_UP or `state UP` and the next with both (`ip -o -ts monitor link`)."""
        lost = None
        with open(path, encoding="utf-8") as file:
            for text in file:
                found = re.match(rf"\[[\d-]*T(\d+):(\d+):([\d.]+)\] (?!Deleted)\d+: {interface}[:@].*?<(.*?)>.* state (\w+)", text)
                if not found:
                    continue
                hours, minutes, seconds, flags, state = found.groups()
                at = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
                works = "LOWER_UP" in flags.split(",") and state == "UP"
                if not works and lost is None:
                    lost = at
                elif works and lost is not None:
                    return f"yes {round((at - lost) % 86400 * 1000)}"
        return "no expected a loss and a gain of carrier, got neither from the kernel" if lost is None else "no expected a gain of carrier"

    def sound(self):
        """The lines as a whole keep the contract of `reach watch --json`."""
        self.read()
        status = generation = None
        for number, line in enumerate(self.lines, 1):
            wrong = None
            for name, kind in REQUIRED.items():
                if name not in line or not isinstance(line[name], kind) or (kind is int and isinstance(line[name], bool)):
                    wrong = f"{name}={plain(line.get(name))}"
            if wrong is None:
                event, new, previous = line["event"], line["status"], line["previous"]
                if number == 1:
                    wrong = None if (event, previous) == ("initial", None) else f"event={event} previous={previous}"
                elif event == "status":
                    wrong = None if new != status and previous == status else f"status {previous} to {new} while {status}"
                elif event != "path" or new != status:
                    wrong = f"event={event} status={new} while {status}"
                if generation is not None and line["generation"] < generation:
                    wrong = f"generation {generation} to {line['generation']}"
                status, generation = new, line["generation"]
            if wrong:
                return f"no expected every line as documented, got line {number} with {wrong}"
        return "yes" if self.lines else "no expected lines, got none"


observer = Observer()
for request in sys.stdin:
    verb, *words = request.rstrip("\n").split("\t")
    try:
        answer = getattr(observer, {"await": "await_"}.get(verb, verb))(*words)
    except Exception as error:  # the scenario fails with this message; the next one goes on
        answer = f"no expected an answer to {verb}, got {type(error).__name__}: {error}"
    print(answer.replace("\n", " "), flush=True)
