#!/usr/bin/env python3
"""Makes a failing snapshot small: removes what the failure does not need, while it lasts.

    test/shrink/shrink.py SNAPSHOT [--says TEXT] [--out FILE] [--seconds 600] -- COMMAND...

COMMAND runs with the name of a file with one snapshot line in place of each {}, and behind it if there is none. It
fails if it ends as it does of SNAPSHOT, which is not with 0; with --says, if its output has this text. Removes gangs
with their pods, queues, nodes with what runs there, pods, then all other elements and keys, by delta debugging (Zeller
and Hildebrandt 2002); lowers numbers at the end. Writes the smallest line to FILE, or stdout; what it does to stderr.
"""
import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import time

LISTS = ("gangs", "nodes", "queues", "pods")


def minimized(elements, fails):
    """The shortest part of the list that was found to fail: ddmin."""
    parts = 2
    while elements:
        size = -(-len(elements) // parts)
        for start in range(0, len(elements), size):
            rest = elements[:start] + elements[start + size:]
            if fails(rest):
                elements, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(elements))
    return elements


def without_dangling(snapshot):
    """Pods of gangs, and of nodes where they ran, that are gone; and references to queues that are."""
    names = {key: {item.get("name") for item in snapshot[key]} for key in LISTS if key in snapshot}

    def is_there(item, key, kind):
        return key not in item or kind not in names or item[key] in names[kind]

    snapshot["pods"] = [pod for pod in snapshot.get("pods", []) if is_there(pod, "gang", "gangs") and
                        is_there(pod, "node", "nodes")]
    for kind, key in (("gangs", "queue"), ("pods", "queue"), ("queues", "parent"), ("pods", "nominatedNode")):
        for item in snapshot.get(kind, []):
            if not is_there(item, key, "nodes" if key == "nominatedNode" else "queues"):
                del item[key]
    return snapshot


def places(value, path=()):
    """The paths of all values inside, those that hold others first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def holder_of(snapshot, path):
    for key in path[:-1]:
        snapshot = snapshot[key]
    return snapshot


class Command:
    """Whether a command fails of a snapshot as it did of the first one."""
    def __init__(self, command, says):
        self.command, self.says, self.status = command, says, None
        self.folder = tempfile.TemporaryDirectory()

    def outcome(self, snapshot):
        """The exit status, and whether it says the text."""
        file = pathlib.Path(self.folder.name, "snapshot.jsonl")
        file.write_text(json.dumps(snapshot) + "\n", encoding="utf-8")
        command = [part.replace("{}", str(file)) for part in self.command]
        if command == self.command:
            command.append(str(file))
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return "hangs", True
        return done.returncode, self.says is None or self.says.encode() in done.stdout

    def begin(self, snapshot):
        self.status, says = self.outcome(snapshot)
        return says and (self.says is not None or self.status != 0)

    def fails(self, snapshot):
        status, says = self.outcome(snapshot)
        return says and (self.says is not None or status == self.status)


class Shrinker:
    """fails(snapshot): whether it still does; a snapshot that cannot be read does not."""
    def __init__(self, fails, seconds):
        self.check, self.until, self.runs, self.seen = fails, time.monotonic() + seconds, 0, {}

    def fails(self, snapshot):
        if time.monotonic() > self.until:
            return False
        text = json.dumps(snapshot)
        if text not in self.seen:
            self.runs += 1
            self.seen[text] = self.check(snapshot)
        return self.seen[text]

    def lists(self, snapshot):
        for key in LISTS:
            if key not in snapshot:
                continue

            def with_part(part, key=key):
                return without_dangling(copy.deepcopy({**snapshot, key: part}))
            part = minimized(snapshot[key], lambda part: self.fails(with_part(part)))
            if len(part) < len(snapshot[key]):
                snapshot = with_part(part)
            print(f"shrink: {len(snapshot[key])} {key}, {self.runs} runs", file=sys.stderr)
        return snapshot

    def changed(self, snapshot, change):
        """`change` of each value, wherever it still fails; `change` returns whether there was one."""
        for path in sorted(places(snapshot), key=len):
            smaller = copy.deepcopy(snapshot)
            try:
                if change(holder_of(smaller, path), path[-1]) and self.fails(smaller):
                    snapshot = smaller
            except (KeyError, IndexError, TypeError):
                continue  # it has gone, with what was around it
        return snapshot

    def shrink(self, snapshot):
        before = None
        while snapshot != before and time.monotonic() < self.until:
            before = snapshot
            snapshot = self.changed(self.lists(snapshot), remove)
            snapshot = self.changed(snapshot, lower)
        return snapshot


def remove(holder, key):
    if key == "format":
        return False
    del holder[key]
    return True


def lower(holder, key):
    value = holder[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in (0, 1):
        return False
    holder[key] = type(value)(value // 2) if abs(value) > 2 else 1
    return True


def main():
    arguments = sys.argv[1:]
    own, command = (arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]) if "--" in arguments else (
        arguments, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=pathlib.Path)
    parser.add_argument("--says")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args(own)
    if not command:
        parser.error("give the command that fails, behind --")
    snapshot = json.loads(options.snapshot.read_text(encoding="utf-8").splitlines()[-1])
    command = Command(command, options.says)
    shrinker = Shrinker(command.fails, options.seconds)
    if not command.begin(snapshot):
        print("shrink: the command does not fail", file=sys.stderr)
        return 1
    line = json.dumps(shrinker.shrink(snapshot), separators=(",", ":"))
    print(f"shrink: {shrinker.runs} runs, {len(line)} bytes", file=sys.stderr)
    if options.out:
        options.out.write_text(line + "\n", encoding="utf-8")
    else:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
