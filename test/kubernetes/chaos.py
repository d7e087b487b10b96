#!/usr/bin/env python3
"""Random faults for minutes or hours, while gangs of five dialects arrive and `muster agent --apply bindings` places them.

    chaos.py [--minutes N] [--seed N] [--nodes N] [--pods-per-minute N]

Two agents run. Every few seconds something breaks, one fault after another: the API server stands still for 1 to 20 s,
ends or is killed; etcd stands still; an agent is killed or stands still; its token or its rights are taken; an optional
kind cannot be listed any more, or its definition is removed; nodes are cordoned, NotReady or deleted; pods are deleted.
A client of its own watches all pods. The script prints the seed, the faults, and what it saw, and fails if

- a pod was bound twice, or a node had more than it has room for,
- a gang was bound in part for longer than its grace period of 60 s and the time of one fault,
- 30 s after the last fault, a gang waits, or is in part.
"""

import argparse
import contextlib
import os
import signal
import sys
import threading
import time

import churn
import custom_resources
import objects
from agent_process import Agent, grant
from api_client import ApiError
from control_plane import ControlPlane
from pod_watch import PodWatch

LONGEST_FAULT = 20.0
LONGEST_PARTIAL = 60.0 + LONGEST_FAULT + 10.0  # grace period, a fault in it, and the eviction
SETTLED = 30.0  # seconds after the last fault
UNUSED_CRD = "devices.scheduling.koordinator.sh"  # of a kind on which none of the gangs depends


class Faults:
    """Draws and makes one fault after another, each of which ends before the next begins."""

    def __init__(self, chaos):
        self.chaos, self.random = chaos, chaos.random
        self.counts = {}
        self._kinds = [self.freeze_api_server, self.freeze_api_server, self.restart_api_server, self.freeze_etcd,
                       self.kill_agent, self.freeze_agent, self.take_token, self.take_rights, self.break_kind,
                       self.remove_kind, self.cordon, self.not_ready, self.delete_node, self.delete_pods]

    def run(self, begin, end):
        while time.monotonic() < end:
            fault = self.random.choice(self._kinds)
            print(f"{time.monotonic() - begin:6.0f} s: {fault.__name__}", flush=True)
            self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
            fault()
            time.sleep(self.random.uniform(1, 8))

    def _duration(self):
        return self.random.uniform(1, LONGEST_FAULT)

    def freeze_api_server(self):
        with self.chaos.cluster.paused("kube-apiserver"):
            time.sleep(self._duration())

    def restart_api_server(self):
        self.chaos.cluster.restart("kube-apiserver", self.random.choice((signal.SIGTERM, signal.SIGKILL)))

    def freeze_etcd(self):
        with self.chaos.cluster.paused("etcd"):
            time.sleep(self._duration())
        self.chaos.cluster.await_ready()

    def kill_agent(self):
        place = self.random.randrange(2)
        self.chaos.agents[place].stop(self.random.choice((signal.SIGKILL, signal.SIGTERM)))
        time.sleep(self.random.uniform(0, 10))
        self.chaos.start_agent(place)

    def freeze_agent(self):
        process = self.random.choice(self.chaos.agents).process
        process.send_signal(signal.SIGSTOP)
        time.sleep(self._duration())
        process.send_signal(signal.SIGCONT)

    def take_token(self):
        agent = self.random.choice(self.chaos.agents)
        agent.replace_token("no-token")
        time.sleep(self._duration())
        agent.replace_token(self.chaos.insist(lambda: self.chaos.cluster.service_account_token("muster-agent", "muster")))

    def take_rights(self):
        api = self.chaos.api
        bindings = [item for item in api.list("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
                    if "muster" in item["metadata"]["name"]]
        for item in bindings:
            self.chaos.insist(lambda item=item: api.delete("rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
                                                           item["metadata"]["name"]))
        time.sleep(self._duration())
        self.chaos.insist(lambda: grant(self.chaos.cluster, "bindings"))

    def break_kind(self):
        """A conversion webhook that does not exist: stored objects cannot be listed. It stays so."""
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{UNUSED_CRD}"
        version = {"served": True, "schema": {"openAPIV3Schema": {"type": "object",
                                                                  "x-kubernetes-preserve-unknown-fields": True}}}
        client = {"service": {"name": "no-webhook", "namespace": "nowhere"}}
        change = {"spec": {"versions": [{"name": "v1beta9", "storage": True, **version},
                                        {"name": "v1alpha1", "storage": False, **version}],
                           "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                                                                             "clientConfig": client}}}}
        item = {"apiVersion": "scheduling.koordinator.sh/v1beta9", "kind": "Device",
                "metadata": {"name": f"broken-{self.random.randrange(10**9)}"}}
        self.chaos.insist(lambda: self.chaos.api.request("PATCH", path, change,
                                                         content="application/merge-patch+json"))
        time.sleep(2)
        with contextlib.suppress(ApiError, *churn.BROKEN):
            self.chaos.api.request("POST", "/apis/scheduling.koordinator.sh/v1beta9/devices", item)
        time.sleep(self._duration())

    def remove_kind(self):
        """Of Cohorts: none of the gangs names one."""
        name = "cohorts.kueue.x-k8s.io"
        definitions = [item for item in custom_resources.definitions("kueue.x-k8s.io") if item["metadata"]["name"] == name]
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self.chaos.insist(lambda: self.chaos.api.request("DELETE", f"{path}/{name}"))
        time.sleep(self._duration())
        for item in definitions:
            self.chaos.insist(lambda item=item: self.chaos.api.request("POST", path, item))

    def _node(self):
        return f"gpu-{self.random.randint(1, self.chaos.options.nodes)}"

    def _running(self, node=None):
        """Namespaces and names of pods that run, of one node or all."""
        return [key for key, item in list(self.chaos.watch.pods.items())
                if item["spec"].get("nodeName") and item["status"].get("phase") not in ("Succeeded", "Failed")
                and node in (None, item["spec"]["nodeName"])]

    def _patch_node(self, name, change, part=""):
        self.chaos.insist(lambda: self.chaos.api.patch("v1", "Node", name, part=part, change=change))

    def cordon(self):
        name = self._node()
        self._patch_node(name, {"spec": {"unschedulable": True}})
        time.sleep(self._duration())
        self._patch_node(name, {"spec": {"unschedulable": None}})

    def not_ready(self):
        name, ready = self._node(), objects.node("x")["status"]["conditions"][0]
        self._patch_node(name, {"status": {"conditions": [ready | {"status": "False"}]}}, "status")
        time.sleep(self._duration())
        self._patch_node(name, {"status": {"conditions": [ready]}}, "status")

    def delete_node(self):
        """Its pods are deleted, as the garbage collector of pods does it; a node of this name comes back."""
        name = self._node()
        self.chaos.insist(lambda: self.chaos.api.delete("v1", "Node", name))
        time.sleep(1)
        for space, pod in self._running(name):
            self.chaos.insist(lambda space=space, pod=pod: self.chaos.api.delete("v1", "Pod", pod, space))
        time.sleep(self._duration())
        self.chaos.insist(lambda: self.chaos.api.create(objects.node(name)))

    def delete_pods(self):
        running = self._running()
        for space, pod in self.random.sample(running, min(len(running), 3)):
            self.chaos.insist(lambda space=space, pod=pod: self.chaos.api.delete("v1", "Pod", pod, space))


class Chaos(churn.Churn):
    def __init__(self, options):
        super().__init__(options)
        self._started = 0

    def insist(self, write):
        return self._insist(write)

    def start_agent(self, place):
        self._started += 1
        self.agents[place] = Agent(self.cluster, f"agent-{self._started}", "--apply", "bindings", *self.options.agent)

    def run(self):
        with ControlPlane(kwok=True, controllers=True, workload_api=True, folder=self.options.folder) as cluster:
            self.cluster, self.api = cluster, cluster.api
            self._prepare()
            self.plan = [(*row[:-1], False) for row in self.plan]  # pods are deleted by hand, whatever a budget says
            with PodWatch(cluster, self.observer.event) as self.watch:
                self.agents = [None, None]
                for place in range(2):
                    self.start_agent(place)
                try:
                    self._break()
                finally:
                    for agent in self.agents:
                        agent.stop(signal.SIGKILL)
        return 1 if self.observer.faults else 0

    def _break(self):
        begin = time.monotonic()
        faults = Faults(self)
        thread = threading.Thread(target=faults.run, args=(begin, begin + self.options.minutes * 60), daemon=True)
        thread.start()
        self._arrive(begin)
        while thread.is_alive():
            self._step()
            time.sleep(0.05)
        self._settle()
        self._report(self.watch, time.monotonic() - begin)
        print(f"seed {self.options.seed}, faults: {faults.counts}")

    def _settle(self):
        """All fits by now; pods that end do not matter."""
        end = time.monotonic() + SETTLED
        while time.monotonic() < end:
            self._step()
            with self.observer.lock:
                waiting = [gang.name for gang in self.observer.gangs.values() if not gang.placed]
                partial = [gang.name for gang in self.observer.gangs.values() if gang.partial_since]
            if not waiting and not partial:
                return
            time.sleep(0.1)
        self.observer.faults += [f"{name} waits {SETTLED:.0f} s after the last fault" for name in waiting]
        self.observer.faults += [f"{name} is in part {SETTLED:.0f} s after the last fault" for name in partial]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100, help="with 8 GPUs each")
    parser.add_argument("--pods-per-minute", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=5, help="60 and more for a long run")
    parser.add_argument("--run-seconds", type=float, default=100, help="for which a gang runs")
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed if absent")
    parser.add_argument("--folder", help="keep logs and data in this folder")
    parser.add_argument("agent", nargs="*", help="further options of the agents, after --")
    options = parser.parse_args()
    options.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(3), "big")
    options.pods = int(options.minutes * options.pods_per_minute)
    options.longest_partial = LONGEST_PARTIAL
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {options.seed}", flush=True)
    sys.exit(Chaos(options).run())


if __name__ == "__main__":
    main()
