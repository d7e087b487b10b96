#!/usr/bin/env python3
"""How long `muster agent --apply bindings` takes from a pod to its Binding in a large cluster, and its memory.

    scale.py [--nodes N] [--pods N] [--rate N] [--minutes N] [--report-every SECONDS] [-- OPTION...]

`--pods` run before the agent starts. Then gangs arrive, `--rate` pods a second, while as many that run are deleted; so
the cluster stays as full as it is. A client of its own measures for each new gang the time from the creation of its
last pod, as the client's watch shows it, to the moment at which that watch shows the Binding of its last pod. Options
after -- go to the agent.

With `--minutes 30 --rate 50` it is a soak: each `--report-every` seconds a line has the agent's memory and what waits.
The agent's token lives for 600 s and is replaced each 240 s, so that old ones expire. The script fails if a node has
more than it has room for, a pod was bound twice, or pods wait at the end.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import queue
import random
import signal
import sys
import threading
import time

import bulk
import objects
from agent_process import Agent, grant
from api_client import ApiError, wait_for
from control_plane import ControlPlane
from pod_watch import PodWatch

TOKEN_SECONDS, TOKEN_EVERY = 600, 240  # the API server grants no shorter ones


class Gang:
    def __init__(self, size):
        self.size, self.seen, self.bound, self.complete_at = size, 0, 0, None


class Observer:
    def __init__(self, gpus_of_node):
        self.lock = threading.Lock()
        self.gangs, self.delays, self.faults = {}, [], []
        self.running = queue.SimpleQueue()  # names of gangs that can be deleted
        self._gpus_of_node, self._used, self._pods = gpus_of_node, collections.Counter(), {}

    def event(self, kind, pod, moment):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        gang_name = name.rsplit("-", 1)[0]
        node = pod["spec"].get("nodeName", "")
        with self.lock:
            gang = self.gangs.get(gang_name)
            known = self._pods.get(uid)
            if kind == "DELETED":
                if self._pods.pop(uid, ""):
                    self._used[node] -= 1
                return
            self._pods[uid] = node
            if known is None and gang:
                gang.seen += 1
                if gang.seen == gang.size:
                    gang.complete_at = moment
            if node and not known:
                self._used[node] += 1
                if self._used[node] > self._gpus_of_node:
                    self.faults.append(f"{node} has {self._used[node]} GPUs in use")
                if gang:
                    self._bound(gang_name, gang, moment)

    def _bound(self, name, gang, moment):
        gang.bound += 1
        if gang.bound == gang.size:
            if gang.complete_at:
                self.delays.append(moment - gang.complete_at)
            self.gangs.pop(name)
            self.running.put((name, gang.size))

    def waiting(self):
        with self.lock:
            return sum(gang.size - gang.bound for gang in self.gangs.values())

    def quantiles(self, since=0):
        with self.lock:
            delays = sorted(self.delays[since:])
        if not delays:
            return {}
        at = {f"p{round(share * 100)}": round(delays[min(len(delays) - 1, int(share * len(delays)))], 3)
              for share in (0.5, 0.9, 0.99)}
        return {"gangs": len(delays), **at, "most": round(delays[-1], 3)}


def bare_gang(name, size, **spec):
    """All its members on 1 GPU each, and their PodGroup of Coscheduling first."""
    group, *pods = objects.coscheduling_gang(name, "ml", size, 1, cpu="2", memory="4Gi", **spec)
    return group, pods


class Scale:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)
        self.observer = Observer(8)
        self.made = self.owed = 0  # pods; owed: to be deleted

    def run(self):
        with ControlPlane(kwok=True, folder=self.options.folder) as cluster, contextlib.ExitStack() as stack:
            self.cluster, self.api = cluster, cluster.api
            self.pool = concurrent.futures.ThreadPoolExecutor(4)
            stack.callback(self.pool.shutdown, cancel_futures=True)
            self._prepare()
            watch = stack.enter_context(PodWatch(cluster, self.observer.event))
            try:
                wait_for("the watch", lambda: len(watch.pods) >= self.options.pods, 120)
            except TimeoutError:
                sys.exit(f"the watch shows {len(watch.pods)} of {self.options.pods} pods; last error: {watch.error}")
            self.agent = Agent(cluster, "agent", "--apply", "bindings", "--period", "1s", *self.options.agent)
            stack.callback(self.agent.stop)
            begun = time.monotonic()
            wait_for("the agent's first plan", self._has_planned, 300)
            print(f"the first plan came after {time.monotonic() - begun:.0f} s; memory {self.agent.memory()}", flush=True)
            self._churn()
            self._finish()
        return 1 if self.observer.faults else 0

    def _prepare(self):
        options = self.options
        self.cluster.install_custom_resources("scheduling.x-k8s.io")
        self.api.create(objects.namespace("ml"))
        grant(self.cluster, "bindings")
        begun = time.monotonic()
        self._fill()
        print(f"{options.nodes} nodes, {options.pods} pods created in {time.monotonic() - begun:.0f} s", flush=True)

    def _fill(self):
        """Node i has the pods i, i + nodes, ...; they run, in gangs of 4. The API server makes one of each."""
        options = self.options
        nodes = [f"gpu-{i}" for i in range(1, options.nodes + 1)]
        gangs = [f"old{number}" for number in range(options.pods // 4)]
        self.cluster.create_nodes(1)
        node = self.api.get("v1", "Node", nodes[0])
        group, pods = bare_gang(gangs[0], 4, schedulerName="muster")
        group = self.api.create(group)
        pods[0]["spec"]["nodeName"] = nodes[0]
        self.api.create(pods[0])

        def running():
            first = self.api.get("v1", "Pod", f"{gangs[0]}-0", "ml")
            return first if first["status"]["phase"] == "Running" else None

        pod = wait_for("the first pod", running)

        def host(made, _):
            made["metadata"]["labels"]["kubernetes.io/hostname"] = made["metadata"]["name"]

        def place(made, index):
            made["spec"]["nodeName"] = nodes[(index + 1) % len(nodes)]
            made["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = made["metadata"]["name"].rsplit("-", 1)[0]

        members = [f"{gang}-{i}" for gang in gangs for i in range(4)]
        bulk.write(self.cluster, "minions", bulk.clones(node, nodes[1:], host))
        bulk.write(self.cluster, "scheduling.x-k8s.io/podgroups", bulk.clones(group, gangs[1:]))
        bulk.write(self.cluster, "pods", bulk.clones(pod, members[1:], place))
        for gang in gangs:
            self.observer.running.put((gang, 4))
        # A transaction is one version: a list in the middle of it has a part, and a watch from there on never the rest.
        wait_for("the API server to show all pods", lambda: len(self.api.list("v1", "Pod")) == options.pods, 300)

    def _has_planned(self):
        if self.agent.process.poll() is not None:
            sys.exit(self.agent.text()[-2000:])
        return self.agent.leads() and json.loads(self.agent.get("/v1/status"))["plans"] > 0

    def _churn(self):
        options, begin = self.options, time.monotonic()
        end, next_report, next_token, reported = begin + options.minutes * 60, begin, begin + TOKEN_EVERY, 0
        pending = collections.deque()
        while time.monotonic() < end:
            due = int((time.monotonic() - begin) * options.rate)
            while self.made < due:
                size = self.random.choice((1, 2, 4, 8))
                self.made += size
                name = f"new{self.made}"
                with self.observer.lock:
                    self.observer.gangs[name] = Gang(size)
                pending.append(self.pool.submit(self._make, name, size))
                pending.append(self.pool.submit(self._replace_room, size))
            while pending and pending[0].done():
                pending.popleft().result()
            if time.monotonic() >= next_report:
                print(json.dumps({"seconds": round(time.monotonic() - begin), "made": self.made,
                                  "waiting": self.observer.waiting(), "unsent": len(pending),
                                  "delay": self.observer.quantiles(reported), **self._agent_status()}), flush=True)
                reported = len(self.observer.delays)
                next_report += options.report_every
            if time.monotonic() >= next_token:
                self.agent.replace_token(self.cluster.service_account_token("muster-agent", "muster", TOKEN_SECONDS))
                next_token += TOKEN_EVERY
            time.sleep(0.01)
        for future in pending:
            future.result()

    def _make(self, name, size):
        group, pods = bare_gang(name, size, schedulerName="muster")
        self.api.create(group)
        for pod in pods:
            self.api.create(pod)

    def _replace_room(self, size):
        """Deletes gangs that run, of as many pods in all."""
        with self.observer.lock:
            self.owed += size
        while self.owed > 0:
            try:
                name, count = self.observer.running.get_nowait()
            except queue.Empty:
                return
            with self.observer.lock:
                self.owed -= count
            for path in [self.api.path("v1", "Pod", f"{name}-{i}", "ml") for i in range(count)] + [
                    self.api.path("scheduling.x-k8s.io/v1alpha1", "PodGroup", name, "ml")]:
                with contextlib.suppress(ApiError):
                    self.api.request("DELETE", path)

    def _agent_status(self):
        status = json.loads(self.agent.get("/v1/status"))
        return {"memory": self.agent.memory()} | {key: status[key] for key in (
            "objects", "bytes", "plans", "stale", "started", "refused", "blocked")}

    def _finish(self):
        with contextlib.suppress(TimeoutError):
            wait_for("all pods to be bound", lambda: self.observer.waiting() == 0, 120)
        if self.observer.waiting():
            self.observer.faults.append(f"{self.observer.waiting()} pods wait at the end")
        bound = collections.Counter()
        with open(self.cluster.audit_log, encoding="utf-8") as log:
            for line in log:
                if '"subresource":"binding"' in line and '"code":201' in line and "dryRun" not in line:
                    bound[json.loads(line)["objectRef"]["name"]] += 1
        self.observer.faults += [f"{name} was bound {count} times" for name, count in bound.items() if count > 1]
        seconds = self._cpu_seconds()
        print(json.dumps({"delay": self.observer.quantiles(), "bindings": sum(bound.values()), "processor": seconds,
                          "memory of the control plane": self.cluster.memory(), **self._agent_status()}))
        cycles = [line for line in self.agent.get("/metrics").splitlines() if "cycle_seconds" in line]
        print("\n".join(cycles))
        for fault in self.observer.faults[:20]:
            print("FAULT:", fault)
        print("FAILED" if self.observer.faults else "no node was overfull, no pod was bound twice, none waits")

    def _cpu_seconds(self):
        def of(process):
            fields = open(f"/proc/{process.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
            return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 1)
        return {"agent": of(self.agent.process), **{name: of(one) for name, one in self.cluster.programs.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000, help="with 8 GPUs each")
    parser.add_argument("--pods", type=int, default=30000, help="that run when the agent starts, 1 GPU each")
    parser.add_argument("--rate", type=float, default=10, help="new pods a second")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--report-every", type=float, default=15, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="keep logs and data in this folder")
    parser.add_argument("agent", nargs="*", help="further options of the agent, after --")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(Scale(options).run())


if __name__ == "__main__":
    main()
