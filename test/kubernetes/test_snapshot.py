"""Muster plans a real API server's cluster, and what `muster export` writes starts the pods as planned."""

import json
import os
import pathlib
import subprocess
import unittest

import objects
from api_client import wait_for
from control_plane import ControlPlane

TOP = pathlib.Path(__file__).resolve().parents[2]
MUSTER = os.environ.get("MUSTER", str(TOP / "build" / "release" / "muster"))
GATE = "example.com/planned"
NODES = 20  # of 8 GPUs


class SnapshotTest(unittest.TestCase):
    def start(self, **programs):
        """A control plane with nodes and the kinds of the two dialects."""
        self.cluster = self.enterContext(ControlPlane(kwok=True, **programs))
        self.api = self.cluster.api
        self.cluster.install_custom_resources("scheduling.run.ai", "scheduling.x-k8s.io")
        self.cluster.create_nodes(NODES)
        self.api.apply(objects.namespace("ml"), objects.kai_queue("research", 160))
        self.folder = self.cluster.folder

    def gangs(self, **spec):
        """160 GPUs: 96 for two gangs that fit, none for one that is larger than the cluster, and 20 for single pods."""
        self.api.create_all(objects.kai_gang("pretrain", "ml", "research", 8, 8, **spec))
        self.api.create_all(objects.kai_gang("huge", "ml", "research", NODES + 1, 8, **spec))
        self.api.create_all(objects.coscheduling_gang("tune", "ml", 8, 4, **spec))
        self.api.create_all([objects.pod(f"notebook-{i}", "ml", 2, **spec) for i in range(10)])

    def muster(self, *arguments):
        done = subprocess.run([MUSTER, *arguments], env=self.cluster.environment(), text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, f"muster {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def file(self, name, text=None):
        path = self.folder / name
        if text is not None:
            path.write_text(text)
        return str(path)

    def nodes_of_pods(self):
        return {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod["spec"].get("nodeName")
                for pod in self.api.list("v1", "Pod")}

    def await_running(self, placements):
        def is_done():
            phases = {pod["metadata"]["name"]: pod["status"]["phase"] for pod in self.api.list("v1", "Pod", "ml")}
            return all(phases[placement["pod"].removeprefix("ml/")] == "Running" for placement in placements)

        wait_for("the planned pods to run", is_done)

    def check_plan(self, plan):
        """All but the gang that is too large is placed."""
        placed = {placement["pod"] for placement in plan["placements"]}
        self.assertEqual(len(placed), 8 + 8 + 10)
        self.assertFalse(any(pod.startswith("ml/huge-") for pod in placed))
        self.assertEqual(plan.get("evictions", []), [])

    def check_carried_out(self, plan):
        """The planned pods run where they were planned, all others wait, and nothing is left to plan."""
        self.await_running(plan["placements"])
        expected = {placement["pod"]: placement["node"] for placement in plan["placements"]}
        found = self.nodes_of_pods()
        self.assertEqual({pod: node for pod, node in found.items() if node}, expected)
        self.assertEqual(len(found), len(expected) + NODES + 1)
        again = json.loads(self.muster("solve", "--from", "kubectl", "--quiet"))
        self.assertEqual((again["placements"], again["evictions"]), ([], []))

    def test_bindings(self):
        self.start()
        self.gangs(schedulerName="muster")
        answer = self.muster("why", "--from", "kubectl", "--save", self.file("snapshot.jsonl"))
        self.assertIn("ml/huge", answer)
        plan = self.muster("solve", "--quiet", self.file("snapshot.jsonl"))
        self.check_plan(json.loads(plan))
        bindings = self.muster("export", "--format", "bindings", "--snapshot", self.file("snapshot.jsonl"),
                               self.file("plan.jsonl", plan))
        self.cluster.kubectl("create", "-f", "-", text=bindings)
        self.check_carried_out(json.loads(plan))
        bound = [name for user, verb, resource, name, code in self.cluster.writes("admin")
                 if (verb, resource, code) == ("create", "bindings", 201)]
        self.assertEqual(len(bound), 8 + 8 + 10)

    def test_patches_for_kube_scheduler(self):
        self.start(scheduler=True)
        self.gangs(schedulingGates=[{"name": GATE}])
        kinds = "nodes,pods,podgroups.scheduling.run.ai,queues.scheduling.run.ai,podgroups.scheduling.x-k8s.io"
        snapshot = self.file("cluster.json", self.cluster.kubectl("get", kinds, "-A", "-o", "json"))
        plan = self.muster("solve", "--quiet", "--planned-gate", GATE, snapshot)
        self.check_plan(json.loads(plan))
        self.assertEqual([node for node in self.nodes_of_pods().values() if node], [])  # the gates hold
        patches = self.muster("export", "--format", "patches", "--planned-gate", GATE, "--gate", GATE,
                              "--snapshot", snapshot, self.file("plan.jsonl", plan)).splitlines()
        for patch in patches:
            metadata = json.loads(patch)["metadata"]
            self.cluster.kubectl("patch", "pod", "--type", "strategic", "-p", patch, "-n", metadata["namespace"],
                                 metadata["name"])
        self.check_carried_out(json.loads(plan))
        binders = {user for user, _, resource, _, _ in self.cluster.writes() if resource == "pods/binding"}
        self.assertEqual(binders, {"system:kube-scheduler"})


if __name__ == "__main__":
    unittest.main()
