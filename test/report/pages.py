"""The pages that the tests open: made by the program, of snapshots that are small enough to know by heart."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser

MUSTER = os.environ.get("MUSTER_BINARY", "muster")
NOT_RUN = 77  # what tells ctest that a test was skipped

HOSTILE = "</script><img src=x onerror=alert(1)>'\"&\u2028"


def plan_snapshot():
    """Three queues on 12 nodes of 8 GPUs and two of 2. `big` can never start, `late` waits for room."""
    nodes = [{"name": f"node-{i}", "resources": {"cpu": 64, "memory": "256Gi"}, "labels": {"rack": f"r{i % 3}"},
              "gpus": {"count": 8, "memory": "80Gi", "model": "A100"}} for i in range(12)]
    nodes += [{"name": f"small-{i}", "resources": {"cpu": 16, "memory": "64Gi"},
               "gpus": {"count": 2, "memory": "16Gi", "model": "T4"}} for i in range(2)]
    nodes[0]["name"] = HOSTILE
    pods = [{"name": f"old-{i}", "queue": "blue", "gpu": {"count": 4}, "node": f"node-{1 + i // 2}", "gpus": [4 * (i % 2) + k for k in range(4)],
             "started": 0, "resources": {"cpu": 2}} for i in range(16)]
    pods += [{"name": f"half-{i}", "queue": "green", "gpu": {"fraction": 0.5}} for i in range(3)]
    pods += [{"name": f"team/train-{i}", "gang": HOSTILE, "gpu": {"count": 8}} for i in range(2)]
    pods += [{"name": f"big-{i}", "gang": "big", "gpu": {"count": 8}} for i in range(40)]
    gangs = [{"name": HOSTILE, "queue": HOSTILE, "priority": 90, "created": 500}, {"name": "big", "queue": "green", "created": 100}]
    queues = [{"name": "blue", "gpu": {"quota": 40}}, {"name": "green", "gpu": {"quota": 40}}, {"name": HOSTILE, "gpu": {"quota": 20}}]
    return {"format": "muster/v1", "id": "known", "time": 1000, "topology": ["rack"], "nodes": nodes, "queues": queues, "gangs": gangs, "pods": pods}


def waiting_snapshot():
    """`train` needs three nodes of five: one is cordoned, one has a taint, one has no GPUs. So it waits."""
    nodes = [{"name": f"n{i}", "gpus": {"count": 4, "memory": "80Gi"}} for i in range(4)] + [{"name": "cpu"}]
    nodes[2]["unschedulable"] = True
    nodes[3]["taints"] = [{"key": "team", "value": "x", "effect": "NoSchedule"}]
    pods = [{"name": f"train-{i}", "gang": "train", "gpu": {"count": 4}} for i in range(3)]
    return {"format": "muster/v1", "id": "waiting", "time": 1000, "nodes": nodes, "gangs": [{"name": "train", "minMember": 3}], "pods": pods}


class Place:
    """A directory with the program's input and output."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, *lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        return self.path(name)

    def muster(self, *arguments):
        run = subprocess.run([MUSTER, *arguments], capture_output=True, text=True, timeout=120, check=False)
        if run.returncode != 0:
            raise AssertionError(f"muster {' '.join(arguments)}: {run.returncode}: {run.stderr}")
        return run.stdout

    def page(self, *arguments, name="page.html"):
        self.muster("report", *arguments, "--output", self.path(name))
        return self.path(name)

    def planned(self, *snapshots, engine="greedy", options=()):
        """Snapshots and their plans: the paths of both."""
        lines = self.write("snapshots.jsonl", *snapshots)
        plans = self.path(f"{engine}.jsonl")
        self.muster("solve", "--quiet", "--deterministic", "--engine", engine, *options, "--output", plans, lines)
        return lines, plans


class PageTest(unittest.TestCase):
    """One browser for all tests of a class; each opens its page anew, and none may leave errors behind."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.place = Place()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])

    def share_of(self, picture, colour, tolerance=12):
        """The share of the dots of a picture that have a colour, "#rrggbb"."""
        wanted = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
        dots = picture.getdata()
        return sum(all(abs(a - b) <= tolerance for a, b in zip(dot, wanted)) for dot in dots) / len(dots)


def main():
    gone = browser.missing()
    if gone:
        print(f"SKIPPED: {gone}; install it by: .ci/setup browser")
        sys.exit(NOT_RUN)
    unittest.main(verbosity=2)
