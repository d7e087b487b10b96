"""test/shrink/shrink.py, with commands that look for parts of a snapshot."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SHRINK = pathlib.Path(__file__).with_name("shrink.py")
# Fails with 3 while two pods of gang g2 and node n3 are there, and q's weight is at least 5.
COMMAND = """
import json, sys
s = json.loads(open(sys.argv[1]).read())
pods = [p for p in s.get("pods", []) if p.get("gang") == "g2"]
nodes = [n for n in s.get("nodes", []) if n.get("name") == "n3"]
weights = [q.get("weight", 0) for q in s.get("queues", [])]
sys.exit(3 if len(pods) >= 2 and nodes and max(weights, default=0) >= 5 else 1 if len(pods) == 1 else 0)
"""


def shrink(snapshot, command):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "snapshot.jsonl")
        file.write_text(json.dumps(snapshot) + "\n", encoding="utf-8")
        return subprocess.run([SHRINK, file, "--", sys.executable, "-c", command], capture_output=True, text=True,
                              check=False)


class Shrink(unittest.TestCase):
    def test_leaves_only_what_the_failure_needs(self):
        snapshot = {"format": "muster/v1", "id": "x", "nodes": [{"name": f"n{i}", "gpus": {"count": 8}} for i in range(9)],
                    "queues": [{"name": "q", "weight": 90}, {"name": "r", "parent": "q"}],
                    "gangs": [{"name": f"g{i}", "queue": "r"} for i in range(5)],
                    "pods": [{"name": f"p{i}", "gang": f"g{i % 5}", "node": f"n{i % 9}"} for i in range(40)]}
        small = json.loads(shrink(snapshot, COMMAND).stdout)
        self.assertEqual([node["name"] for node in small["nodes"]], ["n3"])
        self.assertEqual([pod["gang"] for pod in small["pods"]], ["g2", "g2"])
        self.assertEqual([queue["weight"] for queue in small["queues"]], [5])
        self.assertNotIn("id", small)

    def test_another_exit_status_is_another_failure(self):
        snapshot = {"format": "muster/v1", "nodes": [{"name": "n3"}], "queues": [{"name": "q", "weight": 5}],
                    "pods": [{"name": "p", "gang": "g2"}, {"name": "r", "gang": "g2"}]}
        self.assertEqual(len(json.loads(shrink(snapshot, COMMAND).stdout)["pods"]), 2)

    def test_what_does_not_fail_is_not_shrunk(self):
        done = shrink({"format": "muster/v1"}, COMMAND)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not fail", done.stderr)


if __name__ == "__main__":
    unittest.main()
