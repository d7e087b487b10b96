#!/usr/bin/env python3
"""Gangs of five dialects arrive for minutes while the cluster has faults; `muster agent --apply bindings` places them.

    churn.py [--nodes N] [--pods N] [--minutes N] [--no-faults]

Two agents run. The API server is restarted, etcd pauses for 20 s, and the agent that leads is killed. Gangs of a high
priority evict others, some of which a disruption budget protects. Evicted pods are created anew, as by a controller.
A client of its own watches all pods. At the end, the script prints what it saw, and fails if

- a pod was bound twice, or a node had more than it has room for,
- a gang stayed with some of its pods bound and others not for longer than 30 s,
- a pod was lost, or not placed in the end,
- a gang that a budget protects lost a pod.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import signal
import sys
import threading
import time

import objects
from agent_process import Agent, grant
from api_client import ApiError
from control_plane import ControlPlane
from pod_watch import PodWatch

LONGEST_PARTIAL = 30.0  # seconds, of a gang whose agent was killed in the middle: the other takes over within 15 s
DIALECTS = ("coscheduling", "volcano", "kai", "workload", "kueue")
BROKEN = (OSError, http.client.HTTPException)


def workload_gang(name, namespace, pods, gpus, **spec):
    """A PodGroup of Kubernetes 1.37 that needs all its pods, and these pods."""
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
             "metadata": {"name": name, "namespace": namespace},
             "spec": {"schedulingPolicy": {"gang": {"minCount": pods}}}}
    members = [objects.pod(f"{name}-{i}", namespace, gpus, schedulingGroup={"podGroupName": name}, **spec)
               for i in range(pods)]
    return [group, *members]


def kueue_gang(name, namespace, pods, gpus, **spec):
    """Pods with the label of Kueue's pod groups, which have no object."""
    return [objects.pod(f"{name}-{i}", namespace, gpus, labels={"kueue.x-k8s.io/pod-group-name": name},
                        annotations={"kueue.x-k8s.io/pod-group-total-count": str(pods)}, **spec) for i in range(pods)]


def gang_of(dialect, name, pods, gpus, **spec):
    if dialect == "coscheduling":
        return objects.coscheduling_gang(name, "ml", pods, gpus, **spec)
    if dialect == "volcano":
        return objects.volcano_gang(name, "ml", "default", pods, gpus, **spec)
    if dialect == "kai":
        return objects.kai_gang(name, "ml", "research", pods, gpus, **spec)
    if dialect == "workload":
        return workload_gang(name, "ml", pods, gpus, **spec)
    return kueue_gang(name, "ml", pods, gpus, **spec)


class Gang:
    def __init__(self, name, dialect, pods, gpus, priority, is_protected):
        self.name, self.size, self.gpus = name, pods, gpus
        self.priority, self.is_protected = priority, is_protected
        members = gang_of(dialect, name, pods, gpus, schedulerName="muster", priorityClassName=priority)
        self.group = [item for item in members if item["kind"] != "Pod"]
        self.pods = {item["metadata"]["name"]: item for item in members if item["kind"] == "Pod"}
        for pod in self.pods.values():
            pod["metadata"]["labels"]["gang"] = name
        self.bound = {}  # pod -> moment, of those that are bound now
        self.whole_since = self.partial_since = None
        self.longest_partial, self.placed, self.ended = 0.0, False, False
        self.created = time.monotonic()

    def budget(self):
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": self.name, "namespace": "ml"},
                "spec": {"minAvailable": self.size, "selector": {"matchLabels": {"gang": self.name}}}}


class Observer:
    """What the watch shows: room on nodes, gangs that are bound in part, pods that went."""

    def __init__(self, gpus_of_node):
        self.lock = threading.Lock()
        self.gangs, self.faults, self.lost = {}, [], collections.deque()
        self.evicted, self.waits = 0, []
        self._gpus_of_node, self._used, self._counted = gpus_of_node, collections.Counter(), {}

    def event(self, kind, pod, moment):
        name = pod["metadata"]["name"]
        gang = self.gangs.get(pod["metadata"].get("labels", {}).get("gang"))
        if gang is None:
            return
        is_over = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        node = pod["spec"].get("nodeName")
        with self.lock:
            self._count(pod, node, gang.gpus if node and not is_over else 0)
            if kind == "DELETED":
                gang.bound.pop(name, None)
                if not gang.ended:
                    self.lost.append((gang, name))
                    self.evicted += 1
                    if gang.is_protected:
                        self.faults.append(f"{name} of a protected gang was evicted")
            elif node and not is_over and "deletionTimestamp" not in pod["metadata"]:
                gang.bound.setdefault(name, moment)
            self._judge(gang, moment)

    def _count(self, pod, node, gpus):
        uid = pod["metadata"]["uid"]
        where, amount = self._counted.pop(uid, (None, 0))
        self._used[where] -= amount
        if gpus:
            self._counted[uid] = node, gpus
            self._used[node] += gpus
            if self._used[node] > self._gpus_of_node:
                self.faults.append(f"{node} has {self._used[node]} GPUs in use")

    def _judge(self, gang, moment):
        if gang.ended:
            gang.partial_since = None
            return
        if 0 < len(gang.bound) < gang.size:
            gang.partial_since = gang.partial_since or moment
            gang.whole_since = None
            return
        if gang.partial_since:
            gang.longest_partial = max(gang.longest_partial, moment - gang.partial_since)
        gang.partial_since = None
        if len(gang.bound) == gang.size and not gang.whole_since:
            gang.whole_since = moment
            if not gang.placed:
                self.waits.append(moment - gang.created)
            gang.placed = True


class Churn:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)
        self.observer, self.plan = Observer(8), []

    def run(self):
        with ControlPlane(kwok=True, controllers=True, workload_api=True, folder=self.options.folder) as cluster:
            self.cluster, self.api = cluster, cluster.api
            self._prepare()
            with PodWatch(cluster, self.observer.event) as watch, contextlib.ExitStack() as stack:
                self.agents = [Agent(cluster, name, "--apply", "bindings", *self.options.agent)
                               for name in ("first", "second")]
                for agent in self.agents:
                    stack.callback(agent.stop)
                begin = time.monotonic()
                faults = threading.Thread(target=self._faults, args=(begin,), daemon=True)
                faults.start()
                self._arrive(begin)
                faults.join()
                self._drain(begin)
                self._report(watch, time.monotonic() - begin)
        return 1 if self.observer.faults else 0

    def _prepare(self):
        self.cluster.install_custom_resources()
        self.cluster.create_nodes(self.options.nodes)
        self.api.apply(objects.namespace("ml"), objects.kai_queue("research", 8 * self.options.nodes),
                       objects.volcano_queue("default", 8 * self.options.nodes))
        for name, value in (("low", 10), ("high", 90)):
            self.api.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                            "value": value})
        grant(self.cluster, "bindings")
        pods = 0
        while pods < self.options.pods:
            size = min(self.random.choice((2, 4, 4, 8, 8, 12, 16)), self.options.pods - pods)
            number = len(self.plan)
            priority = "high" if self.random.random() < 0.25 else "low"
            is_protected = priority == "low" and self.random.random() < 0.2
            self.plan.append((f"g{number}", DIALECTS[number % len(DIALECTS)], size, self.random.choice((1, 2, 2, 4)),
                              priority, is_protected))
            pods += size

    def _arrive(self, begin):
        seconds = self.options.minutes * 60
        for number, row in enumerate(self.plan):
            while time.monotonic() < begin + seconds * number / len(self.plan):
                self._step()
                time.sleep(0.05)
            gang = Gang(*row)
            with self.observer.lock:
                self.observer.gangs[gang.name] = gang
            items = [*gang.group, *([gang.budget()] if gang.is_protected else []), *gang.pods.values()]
            for item in items:
                self._insist(lambda item=item: self.api.create(item))
            self._step()

    def _insist(self, write):
        """Until the API server takes it; it is restarted meanwhile, and so may fail in any way."""
        while True:
            try:
                return write()
            except ApiError as error:
                if error.status in (404, 409):  # gone, or there already
                    return None
            except BROKEN:
                pass
            time.sleep(0.2)

    def _step(self):
        """Creates anew what was evicted, and ends gangs that have run for their time."""
        while self.observer.lost:
            gang, name = self.observer.lost.popleft()
            self._insist(lambda gang=gang, name=name: self.api.create(gang.pods[name]))
        now = time.monotonic()
        with self.observer.lock:
            done = [gang for gang in self.observer.gangs.values() if not gang.ended and gang.whole_since
                    and now - gang.whole_since > self.options.run_seconds]
            for gang in done:
                gang.ended = True
        for gang in done:
            self._end(gang)

    def _end(self, gang):
        """Half of them finish, the others are deleted."""
        finishes = int(gang.name[1:]) % 2 == 0
        for name in gang.pods:
            if finishes:
                self._insist(lambda name=name: self.api.patch("v1", "Pod", name, "ml", part="status",
                                                              change={"status": {"phase": "Succeeded"}}))
            else:
                self._insist(lambda name=name: self.api.delete("v1", "Pod", name, "ml"))

    def _faults(self, begin):
        if not self.options.faults:
            return
        seconds = self.options.minutes * 60

        def at(share, what):
            time.sleep(max(0.0, begin + share * seconds - time.monotonic()))
            print(f"{time.monotonic() - begin:5.0f} s: {what}", flush=True)

        at(0.25, "the API server is restarted")
        self.cluster.restart("kube-apiserver")
        at(0.45, "etcd pauses for 20 s")
        with self.cluster.paused("etcd"):
            time.sleep(20)
        at(0.7, "the agent that leads is killed")
        leader = next((agent for agent in self.agents if agent.leads()), self.agents[0])
        leader.stop(signal.SIGKILL)

    def _drain(self, begin):
        """Until every gang has been placed, or nothing changes for two minutes."""
        left, changed = None, time.monotonic()
        while True:
            self._step()
            with self.observer.lock:
                waiting = [gang.name for gang in self.observer.gangs.values() if not gang.placed or not gang.ended]
            if not waiting:
                return
            if waiting != left:
                left, changed = waiting, time.monotonic()
            if time.monotonic() - changed > 120:
                self.observer.faults.append(f"{len(waiting)} gangs are not placed: {', '.join(waiting[:10])}")
                return
            time.sleep(0.1)

    def _report(self, watch, seconds):
        observer, bound = self.observer, collections.Counter()
        refused = collections.Counter()
        for event in self.cluster.audit():
            target = event.get("objectRef", {})
            if (event["stage"] != "ResponseComplete" or event["verb"] != "create" or "dryRun" in event["requestURI"]
                    or target.get("subresource") not in ("binding", "eviction")):
                continue
            code = event["responseStatus"]["code"]
            if code == 201 and target["subresource"] == "binding":
                bound[target["name"], event["requestObject"]["metadata"].get("uid")] += 1
            elif code != 201:
                refused[target["subresource"], code] += 1
        observer.faults += [f"{name} was bound {count} times" for (name, _), count in bound.items() if count > 1]
        partial = sorted(gang.longest_partial for gang in observer.gangs.values())
        observer.faults += [f"{gang.name} was bound in part for {gang.longest_partial:.1f} s"
                            for gang in observer.gangs.values()
                            if gang.longest_partial > self.options.longest_partial]
        pods = sum(gang.size for gang in observer.gangs.values())
        waits = sorted(observer.waits)
        print(json.dumps({
            "seconds": round(seconds), "gangs": len(observer.gangs), "pods": pods, "bindings": sum(bound.values()),
            "evicted": observer.evicted, "refused": {f"{what} {code}": n for (what, code), n in refused.items()},
            "placed": sum(gang.placed for gang in observer.gangs.values()),
            "partial": {"longest": round(partial[-1], 2), "p99": round(partial[int(len(partial) * 0.99) - 1], 2),
                        "median": round(partial[len(partial) // 2], 2)},
            "wait": {"median": round(waits[len(waits) // 2], 1), "longest": round(waits[-1], 1)} if waits else {},
            "breaks of the watch": watch.breaks, "memory": self.cluster.memory(),
            "agents": [agent.memory() for agent in self.agents]}))
        for fault in observer.faults[:50]:
            print("FAULT:", fault)
        print("FAILED" if observer.faults else "all gangs were placed, none in part, no pod was bound twice")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200, help="with 8 GPUs each")
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=5, help="in which they arrive")
    parser.add_argument("--run-seconds", type=float, default=150, help="for which a gang runs")
    parser.add_argument("--no-faults", dest="faults", action="store_false")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="keep logs and data in this folder")
    parser.add_argument("agent", nargs="*", help="further options of the agents, after --")
    options = parser.parse_args()
    options.longest_partial = LONGEST_PARTIAL
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(Churn(options).run())


if __name__ == "__main__":
    main()
