"""docs/scale/indexed-job.yaml, with the Job controller, and with this test in place of the kubelet."""

import os
import pathlib
import signal
import subprocess
import unittest

from api_client import MERGE, wait_for
from control_plane import ControlPlane

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MANIFEST = ROOT / "docs" / "scale" / "indexed-job.yaml"
MUSTER = pathlib.Path(os.environ.get("MUSTER", ROOT / "build/release/muster")).resolve()
SHARDS, LINES = 8, 80
CLAIM = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}


class Container:
    """The container of a pod as a process of this machine, with its volumes as folders."""

    def __init__(self, pod, folder):
        (self.spec,) = pod["spec"]["containers"]
        environment = {one["name"]: one.get("value") or self._field(pod, one) for one in self.spec.get("env", [])}
        (mount,) = self.spec["volumeMounts"]
        words = [word.replace(mount["mountPath"], str(folder)) for word in self.spec["command"] + self.spec["args"]]
        self.index = int(environment["JOB_COMPLETION_INDEX"])
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.process = subprocess.Popen(words, env={"PATH": path, **environment}, stderr=subprocess.PIPE, text=True)
        self.part = folder / f"part-{self.index}"

    @staticmethod
    def _field(pod, one):
        path = one["valueFrom"]["fieldRef"]["fieldPath"]
        kind, key = path.removeprefix("metadata.").rstrip("]").split("[")
        return pod["metadata"][kind][key.strip("'")]

    def lines(self):
        return self.part.read_bytes().count(b"\n") if self.part.exists() else 0

    def result(self):
        error = self.process.communicate()[1]
        return self.process.returncode, error


class IndexedJobTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(ControlPlane(scheduler=True, controllers=True, kwok=True))
        cls.api, cls.folder = cls.cluster.api, cls.cluster.folder / "data"
        (cls.folder / "bin").mkdir(parents=True)
        (cls.folder / "bin" / "muster").symlink_to(MUSTER)
        cls.cluster.create_nodes(2, gpus=0)
        volume = {key: CLAIM[key] for key in ("accessModes", "storageClassName")}
        cls.api.apply(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"},
             "spec": volume | {"capacity": {"storage": "1Gi"}, "hostPath": {"path": str(cls.folder)}}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
             "metadata": {"name": "muster-data", "namespace": "default"}, "spec": CLAIM})
        snapshots = cls.muster("generate", "--preset", "synth", "--nodes", "1", "--place-only", "--snapshots", str(LINES))
        (cls.folder / "in.jsonl").write_text(snapshots)
        cls.wanted = cls.muster("solve", "--deterministic", str(cls.folder / "in.jsonl"))

    @staticmethod
    def muster(*words):
        return subprocess.run([MUSTER, *words], check=True, text=True, stdout=subprocess.PIPE).stdout

    def running(self, names=()):
        """index -> the running pod, without those of these names."""
        pods = self.api.list("v1", "Pod", "default", "batch.kubernetes.io/job-name=muster-solve")
        return {int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]): pod for pod in pods
                if pod["metadata"]["name"] not in names and pod.get("status", {}).get("phase") == "Running"}

    def end(self, pod, code):
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [
            {"name": "muster", "image": "muster:latest", "imageID": "", "ready": False, "restartCount": 0,
             "state": {"terminated": {"exitCode": code, "finishedAt": "2026-01-01T00:00:00Z"}}}]}
        self.api.patch("v1", "Pod", pod["metadata"]["name"], change={"status": status}, part="status", content=MERGE)

    def test_a_pod_that_is_killed_is_replaced_by_one_that_goes_on(self):
        self.cluster.kubectl("apply", "-f", str(MANIFEST))
        pods = wait_for("a running pod for each index", lambda: (found := self.running()) and len(found) == SHARDS and found)
        self.assertEqual(sorted(pods), list(range(SHARDS)))
        containers = {index: Container(pod, self.folder) for index, pod in pods.items()}
        victim = wait_for("a shard in the middle", lambda: next(
            (one for one in containers.values() if 0 < one.lines() < LINES // SHARDS), None))
        victim.process.send_signal(signal.SIGKILL)
        for index, container in containers.items():
            code, error = container.result()
            self.assertEqual(code, -signal.SIGKILL if container is victim else 0, error)
            self.assertEqual(container.index, index)
            self.end(pods[index], 137 if code else 0)
        kept = victim.part.read_bytes()
        self.assertGreater(kept.count(b"\n"), 0)
        self.assertLess(kept.count(b"\n"), LINES // SHARDS)
        # The others have ended, so the only pod that runs is the one in its place.
        names = {pod["metadata"]["name"] for pod in pods.values()}
        instead = wait_for("a pod in its place", lambda: self.running(names), 120)
        self.assertEqual(list(instead), [victim.index])
        again = Container(instead[victim.index], self.folder)
        self.assertEqual(again.result()[0], 0)
        self.assertTrue(again.part.read_bytes().startswith(kept[:kept.rfind(b"\n") + 1]))
        self.end(instead[victim.index], 0)
        job = wait_for("the Job to complete", lambda: (found := self.api.get("batch/v1", "Job", "muster-solve")) and any(
            one["type"] == "Complete" and one["status"] == "True" for one in found["status"].get("conditions", [])) and found)
        self.assertEqual((job["status"]["succeeded"], job["status"]["failed"], job["status"]["completedIndexes"]),
                         (SHARDS, 1, f"0-{SHARDS - 1}"))
        parts = [str(self.folder / f"part-{index}") for index in range(SHARDS)]
        self.assertEqual(self.muster("merge", *parts, "--of", str(self.folder / "in.jsonl")), self.wanted)


if __name__ == "__main__":
    unittest.main()
