"""`muster agent --apply extender` beside a real kube-scheduler, which has the configuration that is shipped."""

import contextlib
import pathlib
import re
import signal
import subprocess
import textwrap
import threading
import time
import unittest

import objects
from api_client import wait_for
from control_plane import ControlPlane, free_ports
from agent_process import MUSTER, Agent

TOP = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = TOP / "docs" / "deploy" / "kubernetes" / "extender.yaml"


def shipped_configuration(port):
    """The KubeSchedulerConfiguration of the manifest, with the extender on another port."""
    text = SHIPPED.read_text()
    block = re.search(r"config\.yaml: \|\n((?:    .*\n)+)", text).group(1)
    return textwrap.dedent(block).replace("127.0.0.1:7079", f"127.0.0.1:{port}")


class Bound:
    """A client of its own that watches pods: when each one is seen to be bound, and where."""

    def __init__(self, cluster):
        self.seen = {}  # pod -> (time, node)
        self._process = subprocess.Popen(
            ["kubectl", "get", "pods", "-n", "ml", "--watch", "--no-headers", "-o",
             "custom-columns=NAME:.metadata.name,NODE:.spec.nodeName"],
            stdout=subprocess.PIPE, env=cluster.environment(), text=True)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self._process.stdout:
            name, node = line.split()
            if node != "<none>":
                self.seen.setdefault(name, (time.monotonic(), node))

    def of(self, prefix):
        return {name: entry for name, entry in list(self.seen.items()) if name.startswith(prefix)}

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._thread.join()
        self._process.stdout.close()


class ExtenderTest(unittest.TestCase):
    def start(self, nodes, **programs):
        self.port = free_ports(1)[0]
        self.cluster = self.enterContext(
            ControlPlane(kwok=True, scheduler=shipped_configuration(self.port), **programs))
        self.api = self.cluster.api
        self.cluster.install_custom_resources("scheduling.x-k8s.io")
        self.cluster.create_nodes(nodes)
        self.api.apply(objects.namespace("muster"), objects.namespace("ml"))
        roles = subprocess.run([MUSTER, "agent", "--print-rbac", "extender"], text=True, check=True,
                               capture_output=True)
        self.cluster.kubectl("apply", "-f", "-", text=roles.stdout)
        self.bound = Bound(self.cluster)
        self.addCleanup(self.bound.stop)

    @contextlib.contextmanager
    def agent(self, name="agent", *arguments):
        agent = Agent(self.cluster, name, "--apply", "extender", "--scheduler-name", "muster", "--extender-listen",
                      f"tcp:127.0.0.1:{self.port}", *arguments)
        try:
            yield agent
        except BaseException:
            print(agent.text()[-6000:])
            print((self.cluster.folder / "kube-scheduler.log").read_text(errors="replace")[-4000:])
            raise
        finally:
            agent.stop()

    def gang(self, name, pods, gpus, **spec):
        self.api.create_all(objects.coscheduling_gang(name, "ml", pods, gpus, schedulerName="muster", **spec))

    def reason(self, pod):
        """What kube-scheduler says of a pod that waits."""
        conditions = self.api.get("v1", "Pod", pod, "ml").get("status", {}).get("conditions", [])
        return next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled"), "")

    def await_bound(self, prefix, count, seconds=90.0):
        wait_for(f"{count} pods {prefix} to be bound", lambda: len(self.bound.of(prefix)) == count, seconds)
        return self.bound.of(prefix)

    def assert_whole(self, prefix):
        """Its pods were bound one right after another: kube-scheduler held all of them before the first was."""
        times = [moment for moment, _ in self.bound.of(prefix).values()]
        self.assertLess(max(times) - min(times), 2, prefix)

    def test_a_gang_stays_pending_whole(self):
        """Room for 3 of 4: none is bound, and kube-scheduler says why. With a fourth node, all are, as planned."""
        self.start(3)
        with self.agent() as agent:
            self.gang("train", 4, 8)
            wait_for("a reason", lambda: "muster: ml/train waits" in self.reason("train-0"))
            time.sleep(3)
            self.assertEqual(self.bound.of("train-"), {})
            self.cluster.create_nodes(1, prefix="new-")
            pods = self.await_bound("train-", 4)
            self.assert_whole("train-")
            self.assertEqual(len({node for _, node in pods.values()}), 4)
            planned = dict(re.findall(r"bind ml/(\S+) on (\S+), of ml/train", agent.text()))
            self.assertEqual(planned, {name: node for name, (_, node) in pods.items()})

    def test_without_an_agent_pods_wait(self):
        """kube-scheduler binds nothing on its own; after a crash, another agent goes on."""
        self.start(4)
        with self.agent("first") as first:
            self.gang("a", 2, 8)
            self.await_bound("a-", 2)
            first.stop(signal.SIGKILL)
            self.gang("b", 2, 8)
            time.sleep(3)
            self.assertEqual(self.bound.of("b-"), {})
        with self.agent("second"):
            self.await_bound("b-", 2)
            self.assert_whole("b-")

    def test_gangs_and_single_pods_come_and_go(self):
        """At no moment is a gang bound in part: neither pods that arrive one by one nor single pods change that."""
        self.start(6)
        with self.agent():
            for i in range(12):
                group, *pods = objects.coscheduling_gang(f"g{i}", "ml", 4, 4, schedulerName="muster")
                for item in ([*pods, group] if i % 2 else [group, *pods]):
                    self.api.create(item)
                self.api.create(objects.pod(f"s{i}", "ml", 1, schedulerName="muster"))
                for name, bound in ((f"g{j}-", self.bound.of(f"g{j}-")) for j in range(i)):
                    if len(bound) == 4 and time.monotonic() - max(moment for moment, _ in bound.values()) > 1:
                        for k in range(4):
                            with contextlib.suppress(Exception):
                                self.api.delete("v1", "Pod", f"{name}{k}", "ml")
                time.sleep(1)
            wait_for("gangs to start", lambda: sum(len(self.bound.of(f"g{i}-")) == 4 for i in range(12)) >= 3, 90)
            time.sleep(3)
            for i in range(12):
                self.assertIn(len(self.bound.of(f"g{i}-")), (0, 4), f"g{i}")
                if self.bound.of(f"g{i}-"):
                    self.assert_whole(f"g{i}-")
            self.assertGreater(len(self.bound.of("s")), 3)


if __name__ == "__main__":
    unittest.main()
