#!/usr/bin/env python3
"""Compares the program with a brute force that was written from docs/semantics.md alone.

    test/oracle/by_the_text.py --muster build/release/muster --instances 20000 --seed 1

Generates random tiny snapshots: one to three nodes, running gangs, one to four gangs that wait, queues with quotas and
shares, priorities, elastic gangs, budgets and other bounds on evictions. by_the_text.cpp, which is compiled on the way,
enumerates all plans that the text allows and their values. Of each plan of the program it then holds:

- the plan keeps every rule of the text, and states its own values, shares and phases rightly;
- a plan that is proven optimal has the best values, and no bound of another plan is beaten;
- the program never warns that one of its plans refutes one of its bounds.

Each difference is one JSON line on stdout. The exit code is 1 if there is any. --shrink makes each as small as it can.
--self-check breaks one rule after another in plans and wants the brute force to refuse each.

Left out: subgroups, affinity and spread of pods, host ports, MIG slices, memory requests, taints that bind, nodes whose
pods exceed them, other schedulers, and rules over time (durations, reservations).
"""

import argparse
import collections
import copy
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "shrink"))
import shrink as shrinking  # noqa: E402
NOW = 100000


# ------------------------------------------------------------------ instances

def amount(rng, gpus):
    """Quota or limit of a queue."""
    return rng.choice([0, 0, 1, 1, 2, 2, 3, 4, gpus, max(0, gpus - 1)])


def make_queues(rng, gpus, cpus):
    shape = rng.choice(["none", "two", "two", "two", "three", "tree", "tree"])
    if shape == "none":
        queues = [{"name": "default"}] if rng.random() < 0.3 else []
        names = ["default"]
    else:
        parents = {"two": [None] * 2, "three": [None] * 3, "tree": [None, None, "q0", "q0", "q1"][: rng.randint(4, 5)]}[shape]
        queues = [{"name": f"q{i}", **({"parent": p} if p else {})} for i, p in enumerate(parents)]
        inner = set(p for p in parents if p)
        names = [q["name"] for q in queues if q["name"] not in inner]
    for q in queues:
        bounds = {}
        if rng.random() < 0.8:
            bounds["quota"] = amount(rng, gpus)
        if rng.random() < 0.1:
            bounds["limit"] = amount(rng, gpus)
        if rng.random() < 0.3:
            bounds["weight"] = rng.choice([0, 1, 2, 3, 0.5])
        if rng.random() < 0.06:
            bounds["usage"] = rng.choice([0, 1, 2, 3.5])
        if bounds:
            q["gpu"] = bounds
        if cpus and rng.random() < 0.3:
            q["cpu"] = {"quota": rng.choice([0, 1, 2, 4])}
            if rng.random() < 0.2:
                q["cpu"]["limit"] = rng.choice([1, 2, 4])
        if rng.random() < 0.2:
            q["priority"] = rng.choice([50, 100, 200])
        if rng.random() < 0.15:
            q["preemptMinRuntime"] = rng.choice([50, 500])
        if rng.random() < 0.15:
            q["reclaimMinRuntime"] = rng.choice([50, 500])
    return queues, names


def make_policy(rng, moves):
    policy = {}
    if moves == 0:
        policy["maxMoves"] = 0
    elif rng.random() < 0.4:
        policy["maxMoves"] = rng.choice([1, 2])
    if rng.random() < 0.08:
        policy["actions"] = rng.choice([["place", "preempt"], ["place", "reclaim"], ["place", "reclaim", "preempt"],
                                        ["place", "stale"], ["place", "consolidate"], ["place"],
                                        ["place", "reclaim", "preempt", "stale"]])
    if rng.random() < 0.06:
        policy["placement"] = "spread"
    if rng.random() < 0.06:
        policy["wholeNodes"] = False
    if rng.random() < 0.06:
        policy["nonPreemptibleWithinQuota"] = False
    if rng.random() < 0.06:
        policy["agingInterval"] = rng.choice([50, 100, 1000])
    if rng.random() < 0.06:
        policy["overTime"] = {"evictionPrice": rng.choice([0, 0.5, 1, 2, 10])}
    if rng.random() < 0.06:
        policy["protect"] = {"matchLabels": {"keep": "yes"}}
    return policy


def make_instance(seed, index, moves, stale=0.08):
    rng = random.Random(f"{seed}/{index}")
    if moves is None:
        moves = 1 if rng.random() < 0.4 else 0
    fractions = rng.random() < 0.2
    cpus = rng.random() < 0.3
    nodes, free, cpu_free = [], {}, {}
    for i in range(rng.choice([1, 1, 2, 2, 2, 3])):
        node = {"name": f"n{i}"}
        count = rng.choice([1, 2, 2, 3, 4])
        if cpus and rng.random() < 0.15:
            count = 0
        if count:
            node["gpus"] = {"count": count}
            if rng.random() < 0.1:
                node["gpus"]["model"] = rng.choice(["A", "B"])
        if cpus:
            node["resources"] = {"cpu": rng.choice([2, 4, 6])}
            cpu_free[node["name"]] = node["resources"]["cpu"]
        else:
            cpu_free[node["name"]] = 0
        if rng.random() < 0.2:
            node["labels"] = {"pool": rng.choice(["x", "y"])}
        free[node["name"]] = [1000000] * count
        nodes.append(node)
    gpus = sum(len(f) for f in free.values())
    queues, names = make_queues(rng, gpus, cpus)
    priorities = rng.choice([[0], [0, 10], [0, 10], [0, 10, 20], [0, 10, 100]])

    def make_gang(name, running):
        gang = {"name": name, "queue": rng.choice(names), "priority": rng.choice(priorities)}
        if gang["priority"] == 0 and rng.random() < 0.5:
            del gang["priority"]
        if rng.random() < 0.15:
            gang["preemptible"] = rng.random() < (0.3 if running else 0.5)
        if not running and rng.random() < 0.15:
            gang["preemptionPolicy"] = "Never"
        if rng.random() < 0.15:
            gang["weight"] = rng.choice([0.5, 2, 3, 0.1])
        gang["created"] = NOW - rng.choice([0, 10, 60, 100, 100, 600, 3000, 5000])
        if rng.random() < 0.03:
            gang["timeout"] = rng.choice([60, 1000])
        return gang

    def make_shape():
        if cpus and rng.random() < 0.25:
            return {"resources": {"cpu": rng.choice([1, 1, 2, 3])}}
        shape = {"gpu": {"count": rng.choice([1, 1, 1, 2, 2, 3])}}
        if fractions and rng.random() < 0.6:
            shape["gpu"] = {"fraction": rng.choice([0.5, 0.5, 0.25, 0.3, 0.75])}
            if rng.random() < 0.1:
                shape["gpu"]["devices"] = 2
        if cpus and rng.random() < 0.5:
            shape["resources"] = {"cpu": rng.choice([1, 1, 2])}
        return shape

    gangs, pods = [], []

    def settle(pod):
        """A place for a pod that runs, if there is one."""
        order = [n["name"] for n in nodes if pod.get("nodeSelector", {}).items() <= n.get("labels", {}).items()]
        rng.shuffle(order)
        need = pod.get("resources", {}).get("cpu", 0)
        gpu = pod.get("gpu", {})
        part = round(gpu["fraction"] * 1000000) if "fraction" in gpu else 1000000
        count = gpu.get("count", gpu.get("devices", 1) if "fraction" in gpu else 0)
        for name in order:
            devices = [d for d, left in enumerate(free[name]) if left >= part]
            if len(devices) < count or cpu_free[name] < need:
                continue
            if part == 1000000:
                devices = devices[:count]
            else:
                devices = sorted(rng.sample(devices, count))
            for d in devices:
                free[name][d] -= part
            cpu_free[name] -= need
            pod["node"] = name
            if count:
                pod["gpus"] = devices
            return True
        return False

    running_pods = 0
    most = 5 if moves else 6
    for g in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4])):
        gang = make_gang(f"ns/r{g}", True)
        shape = make_shape()
        size = rng.choice([1, 1, 2, 2, 3])
        started = gang["created"] + rng.choice([0, 0, 5, 50])
        started = min(started, NOW)
        mine = []
        keep = rng.random() < 0.15
        for k in range(size):
            pod = {"name": f"ns/r{g}-{k}", "gang": gang["name"], **copy.deepcopy(shape)}
            if keep:
                pod["labels"] = {"keep": "yes"}
            if rng.random() < 0.03:
                pod["gpu"] = {"count": rng.choice([1, 2])}
            if running_pods >= most or not settle(pod):
                if k == 0 or rng.random() < 0.5:
                    break
                mine.append(pod)  # it waits
                continue
            pod["started"] = started if rng.random() < 0.9 else rng.randint(started, NOW)
            if rng.random() < 0.04:
                pod["status"] = "releasing"
            running_pods += 1
            mine.append(pod)
        if not any("node" in p for p in mine):
            continue
        ran = sum(1 for p in mine if p.get("status") != "releasing" and "node" in p)
        gang["minMember"] = max(0, ran if rng.random() < 0.45 else rng.randint(0 if rng.random() < 0.1 else 1, max(1, ran)))
        if rng.random() < stale:
            gang["minMember"] = ran + 1
            if rng.random() < 0.7:
                gang["staleSince"] = NOW - rng.choice([0, 30, 100])
            if rng.random() < 0.3:
                gang["stalenessGracePeriod"] = rng.choice([0, 30, 100, "never"])
            if rng.random() < 0.5 and len(mine) < 4:
                mine.append({"name": f"ns/r{g}-x", "gang": gang["name"], **copy.deepcopy(shape)})
        if rng.random() < 0.05:
            gang["checkpointed"] = rng.randint(gang["created"], NOW)
        if size == 1 and len(mine) == 1 and rng.random() < 0.1:
            pod = {**mine[0], **{k: v for k, v in gang.items() if k not in ("name", "minMember", "staleSince", "stalenessGracePeriod")}}
            del pod["gang"]
            if "staleSince" not in gang and gang["minMember"] == 1:
                pods.append(pod)
                continue
        gangs.append(gang)
        pods += mine
    waiting = 0
    for g in range(rng.choice([1, 1, 2, 2, 3, 3, 4])):
        gang = make_gang(f"ns/p{g}", False)
        shape = make_shape()
        size = rng.choice([1, 1, 1, 2, 2, 3])
        if waiting + size > 7:
            break
        waiting += size
        if rng.random() < 0.6:
            gang["minMember"] = rng.randint(1 if rng.random() < 0.95 else 0, size)
            if rng.random() < 0.02:
                gang["minMember"] = size + 1
        if rng.random() < 0.1:
            shape["nodeSelector"] = {"pool": rng.choice(["x", "y"])}
        for k in range(size):
            pod = {"name": f"ns/p{g}-{k}", "gang": gang["name"], **copy.deepcopy(shape)}
            if rng.random() < 0.02:
                pod["status"] = "gated"
            if rng.random() < 0.03:
                pod["gpu"] = {"count": rng.choice([1, 2])}
            if rng.random() < 0.05:
                pod["nominatedNode"] = rng.choice(nodes)["name"]
            pods.append(pod)
        if rng.random() < 0.06:
            gang["minResources"] = {"gpu": rng.randint(1, 4)} if rng.random() < 0.8 or not cpus else {"cpu": rng.randint(1, 6)}
        gangs.append(gang)
    for node in nodes:
        if rng.random() < 0.05:
            node["taints"] = [{"key": "soft", "effect": "PreferNoSchedule"}]
        if rng.random() < 0.03:
            node["unschedulable"] = True
    snapshot = {"format": "muster/v1", "id": f"{seed}/{index}", "time": NOW, "policy": make_policy(rng, moves),
                "nodes": nodes, "queues": queues, "gangs": gangs, "pods": pods}
    if rng.random() < 0.06:
        snapshot["disruptionBudgets"] = [{"name": "b0", "namespace": "ns", "selector": rng.choice([{}, {"matchLabels": {"keep": "yes"}}]),
                                          "allowed": rng.choice([0, 1, 1, 2])}]
        if rng.random() < 0.3:
            snapshot["disruptionBudgets"].append({"name": "b1", "namespace": "ns", "selector": {"matchLabels": {"keep": "yes"}},
                                                  "allowed": 1, **({"exclusive": True} if rng.random() < 0.5 else {})})
    if rng.random() < 0.08 and len(nodes) > 1:
        snapshot["topology"] = ["rack"]
        for node in nodes:
            node.setdefault("labels", {})["rack"] = rng.choice(["k0", "k1"])
        for gang in gangs:
            if rng.random() < 0.4:
                gang["topology"] = {"required": "rack"}
    for key in ("policy", "queues"):
        if not snapshot[key]:
            del snapshot[key]
    return snapshot


# ------------------------------------------------------------------ programs

class Oracle:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, snapshot, plans, search=True):
        self.process.stdin.write(json.dumps({"snapshot": snapshot, "plans": plans, "search": search}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the brute force ended: " + json.dumps(snapshot))
        return json.loads(line)


def build():
    """Compiles the brute force, once for each version of its source."""
    source = HERE / "by_the_text.cpp"
    texts = [path.read_bytes() for path in sorted(HERE.glob("*.h")) + [source]]
    digest = hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    binary = pathlib.Path(tempfile.gettempdir()) / f"by_the_text-{os.getuid()}-{digest}"
    if not binary.exists():
        part = binary.with_suffix(f".{os.getpid()}")
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-I", str(HERE.parents[1]), str(source),
                        "-o", str(part)], check=True)
        part.rename(binary)
    return str(binary)


def solve(muster, engine, snapshots, budget):
    lines = "".join(json.dumps(s) + "\n" for s in snapshots)
    done = subprocess.run([muster, "solve", "-o", "json", "--engine", engine, "--budget", budget, "--threads", "1"],
                          input=lines, capture_output=True, text=True)
    plans = [json.loads(line) for line in done.stdout.splitlines()]
    if len(plans) != len(snapshots):
        raise RuntimeError(f"{engine}: {len(plans)} plans of {len(snapshots)}: {done.stderr[-2000:]}")
    # The program warns of a bound of its own that one of its plans beats.
    for line in done.stderr.splitlines():
        if match := re.search(r"line (\d+): (a bound .* was refuted .*)", line):
            plans[int(match[1]) - 1]["refuted"] = match[2]
    return plans


# ------------------------------------------------------------------ comparison

MAXIMISED = {"share", "quota", "work", "seniority", "wholeNodes", "wholeDomains", "preference"}


def near(a, b, rounding=0.0):
    """Equal, but for what three decimals cut off."""
    return abs(a - b) <= max(rounding, 1e-6 * max(1.0, abs(a), abs(b)))


def first_difference(stated, own):
    """The first level at which two lists of values differ."""
    a = [(x["level"], x.get("priority")) for x in stated]
    b = [(x["level"], x.get("priority")) for x in own]
    if a != b:
        return {"levels": [a, b]}
    for x, y in zip(stated, own):
        if not near(x["value"], y["value"], 0.0011 if x["level"] == "fragmentation" else 0):
            return {"level": x["level"], "priority": x.get("priority"), "a": x["value"], "b": y["value"]}
    return None


def judge(engine, plan, own, answer):
    """What differs between the program and the text, as (kind, details)."""
    if plan.get("status") != "ok":
        yield "error", plan
        return
    if "refuted" in plan:
        yield "refuted: " + plan["refuted"].split("of the level ")[-1].split()[0], plan["refuted"]
    if plan.get("warnings"):
        yield "warning", plan["warnings"]
    if own["broken"]:
        yield "broken: " + own["broken"][0].split(": ns/")[0], own["broken"]
    difference = first_difference(plan["objective"], own["levels"])
    if difference:
        yield "stated: " + difference.get("level", "levels"), difference
    for q in plan["queues"]:
        for r in ("gpu", "cpu", "memory"):
            fair, used = own["queues"][q["name"]][r]
            if not near(fair, q[r]["fairShare"]):
                yield "fair share", [q["name"], r, q[r]["fairShare"], fair]
            if not near(used, q[r]["allocated"]):
                yield "usage", [q["name"], r, q[r]["allocated"], used]
    listed = {g["name"]: [g["phase"], g["running"], g["placed"], g["evicted"], g["pending"]] for g in plan["gangs"]}
    if listed != own["gangs"]:
        names = sorted(n for n in set(listed) | set(own["gangs"]) if listed.get(n) != own["gangs"].get(n))
        yield "phases", [[n, listed.get(n), own["gangs"].get(n)] for n in names]
    if not answer.get("found"):
        yield "no plan", None
        return
    best = answer["best"]
    difference = first_difference(own["levels"], best)
    if difference is None or "levels" in difference:
        return
    level = difference["level"]
    better = (difference["a"] > difference["b"]) == (level in MAXIMISED)
    if better:
        yield "better: " + level, difference
    elif plan["solver"]["proof"] == "optimal":
        yield "worse: " + level, difference
    else:
        for x in plan["objective"]:
            if x["level"] == level and x.get("priority") == difference["priority"] and "bound" in x:
                short = x["bound"] < difference["b"] if level in MAXIMISED else x["bound"] > difference["b"]
                if short and not near(x["bound"], difference["b"], 0.0011):
                    yield "bound: " + level, {**difference, "bound": x["bound"]}


def differences(args, oracle, snapshot, plans):
    answer = oracle.ask(snapshot, [p if p.get("status") == "ok" else {"placements": [], "evictions": []} for _, p in plans])
    out = []
    if answer.get("own"):
        out.append(("oracle", "own plan refused", answer["own"], None))
    if answer.get("tooMany"):
        out.append(("oracle", "too many reasons", answer["tooMany"], None))
    for (engine, plan), own in zip(plans, answer["plans"]):
        for kind, details in judge(engine, plan, own, answer):
            out.append((engine, kind, details, plan))
    return answer, out


# ------------------------------------------------------------------ shrinking

def shrink(args, oracle, snapshot, engine, kind, seconds=120):
    def fails(smaller):
        try:
            plan = solve(args.muster, engine, [smaller], args.budget)[0]
        except RuntimeError:
            return False
        if plan.get("status") != "ok" or plan.get("warnings"):
            return False
        try:
            _, found = differences(args, oracle, smaller, [(engine, plan)])
        except RuntimeError:
            oracle.__init__(args.oracle)
            return False
        return any(other == kind for _, other, _, _ in found)
    return shrinking.Shrinker(fails, seconds).shrink(snapshot)


# ------------------------------------------------------------------ self-check

def pod(name, gang, gpus, node=None, devices=None, **more):
    p = {"name": f"ns/{name}", "gang": f"ns/{gang}", "gpu": {"count": gpus}, **more}
    if node:
        p.update(node=node, gpus=devices, started=more.get("started", NOW - 1000))
    return p


def gang(name, queue="default", **more):
    return {"name": f"ns/{name}", "queue": queue, "created": NOW - 100, **more}


def world(nodes, gangs, pods, queues=(), **more):
    return {"format": "muster/v1", "time": NOW, "nodes": [{"name": f"n{i}", "gpus": {"count": c}} for i, c in enumerate(nodes)],
            "queues": list(queues) or [{"name": "default"}], "gangs": gangs, "pods": pods, **more}


def place(name, node, devices, *after):
    p = {"pod": f"ns/{name}", "node": node, "gpus": [{"index": d, "share": 1} for d in devices]}
    if after:
        p["after"] = [f"ns/{a}" for a in after]
    return p


def evict(name, node, reason, claimant=None):
    return {"pod": f"ns/{name}", "node": node, "reason": reason, **({"for": f"ns/{claimant}"} if claimant else {})}


def self_check(oracle):
    """Breaks one rule of a good plan after another."""
    failures = 0
    cases = 0

    def want(rule, snapshot, placements, evictions):
        nonlocal failures, cases
        cases += 1
        broken = oracle.ask(snapshot, [{"placements": placements, "evictions": evictions}], False)["plans"][0]["broken"]
        # An eviction that no gang may ask for is in vain, too.
        follows = ("in vain", "reclaim: lower than needed", "after: ", "run time")
        ok = broken == [] if rule is None else any(b.startswith(rule) for b in broken) and all(
            b.startswith((rule, *follows)) for b in broken)
        if not ok:
            failures += 1
            print(json.dumps({"wanted": rule, "broken": broken, "snapshot": snapshot}))

    def changed(snapshot, change):
        s = copy.deepcopy(snapshot)
        change(s)
        return s

    # Preemption: a low pod on one node makes way for a high one.
    pre = world([2], [gang("low", minMember=1), gang("high", priority=10, minMember=1)],
                [pod("low-0", "low", 2, "n0", [0, 1]), pod("high-0", "high", 2)])
    new, out = [place("high-0", "n0", [0, 1], "low-0")], [evict("low-0", "n0", "preempt", "high")]
    want(None, pre, new, out)
    want("preempt: priority", changed(pre, lambda s: s["gangs"][1].update(priority=0)), new, out)
    want("preempt: never", changed(pre, lambda s: s["gangs"][1].update(preemptionPolicy="Never")), new, out)
    want("who: not preemptible", changed(pre, lambda s: s["gangs"][0].update(preemptible=False)), new, out)
    want("preempt: run time", changed(pre, lambda s: s["queues"][0].update(preemptMinRuntime=5000)), new, out)
    want("actions", changed(pre, lambda s: s.update(policy={"actions": ["place", "reclaim"]})), new, out)
    want("preempt: no placement", pre, [], out)
    want("budget", changed(pre, lambda s: s.update(disruptionBudgets=[{"name": "b", "namespace": "ns", "selector": {}, "allowed": 0}])), new, out)
    want("budget", changed(pre, lambda s: s["pods"][0].update(labels={"keep": "yes"}) or s.update(policy={"protect": {"matchLabels": {"keep": "yes"}}})), new, out)
    want("price", changed(pre, lambda s: s.update(policy={"overTime": {"evictionPrice": 1}})), new, out)
    want(None, changed(pre, lambda s: s.update(policy={"overTime": {"evictionPrice": 10}})), new, out)
    want("timeout", changed(pre, lambda s: s["gangs"][1].update(timeout=100)), new, out)
    want("capacity: before the end", pre, [place("high-0", "n0", [0, 1])], out)
    want("capacity", pre, [place("high-0", "n0", [0, 1])], [])
    want("in vain", changed(pre, lambda s: s["nodes"][0]["gpus"].update(count=4)), [place("high-0", "n0", [2, 3], "low-0")], out)
    want("limit", changed(pre, lambda s: s["queues"][0].update(gpu={"limit": 1}) or s["pods"][0].update(gpu={"count": 1}, gpus=[0])), new, out)
    want("quota", changed(pre, lambda s: s["queues"][0].update(gpu={"quota": 1}) or s["gangs"][1].update(preemptible=False)), new, out)
    # The last pods of a gang go together, or its minimum stays.
    whole = world([3], [gang("low", minMember=2), gang("high", priority=10, minMember=1)],
                  [pod("low-0", "low", 1, "n0", [0]), pod("low-1", "low", 1, "n0", [1]), pod("low-2", "low", 1, "n0", [2]), pod("high-0", "high", 1)])
    want(None, whole, [place("high-0", "n0", [0], "low-0")], [evict("low-0", "n0", "preempt", "high")])
    want("in vain", changed(whole, lambda s: s["gangs"][0].update(minMember=1)), [place("high-0", "n0", [0], "low-0")],
         [evict(f"low-{i}", "n0", "preempt", "high") for i in range(2)])
    two = changed(whole, lambda s: s["pods"][3].update(gpu={"count": 2}))
    want("whole gangs", two, [place("high-0", "n0", [0, 1], "low-0", "low-1")], [evict(f"low-{i}", "n0", "preempt", "high") for i in range(2)])
    want(None, two, [place("high-0", "n0", [0, 1], "low-0", "low-1")], [evict(f"low-{i}", "n0", "preempt", "high") for i in range(3)])
    # Room that a gang may not take: the high gang fits elsewhere, and one of equal priority takes the place.
    foreign = world([1, 1], [gang("low", minMember=1), gang("high", priority=10, minMember=1), gang("equal", minMember=1)],
                    [pod("low-0", "low", 1, "n0", [0]), pod("high-0", "high", 1), pod("equal-0", "equal", 1)])
    want("in vain", foreign, [place("high-0", "n1", [0]), place("equal-0", "n0", [0], "low-0")], [evict("low-0", "n0", "preempt", "high")])
    # Gangs start whole.
    start = world([2], [gang("new", minMember=2)], [pod("new-0", "new", 1), pod("new-1", "new", 1)])
    want(None, start, [place("new-0", "n0", [0]), place("new-1", "n0", [1])], [])
    want("gang", start, [place("new-0", "n0", [0])], [])
    want("capacity", start, [place("new-0", "n0", [0]), place("new-1", "n0", [0])], [])
    wait = world([2], [gang("old", minMember=1), gang("new", minMember=2)],
                 [pod("old-0", "old", 1, "n0", [0], status="releasing"), pod("new-0", "new", 1), pod("new-1", "new", 1)])
    want(None, wait, [place("new-0", "n0", [0], "old-0"), place("new-1", "n0", [1], "old-0")], [])
    want("after: gang", wait, [place("new-0", "n0", [0], "old-0"), place("new-1", "n0", [1])], [])
    # Reclaim: queue a holds all, queue b takes its quota back.
    queues = [{"name": "a", "gpu": {"quota": 2}}, {"name": "b", "gpu": {"quota": 2}}]
    rec = world([4], [gang("x", "a", minMember=1), gang("y", "b", minMember=1)],
                [pod(f"x-{i}", "x", 1, "n0", [i]) for i in range(4)] + [pod("y-0", "y", 1), pod("y-1", "y", 1), pod("y-2", "y", 1)], queues)
    new = [place("y-0", "n0", [0], "x-0"), place("y-1", "n0", [1], "x-1")]
    out = [evict("x-0", "n0", "reclaim", "y"), evict("x-1", "n0", "reclaim", "y")]
    want(None, rec, new, out)
    want("reclaim: queue", changed(rec, lambda s: s["gangs"][1].update(queue="a")), new, out)
    want("reclaim: never", changed(rec, lambda s: s["gangs"][1].update(preemptionPolicy="Never")), new, out)
    more = [place("y-2", "n0", [2], "x-2")], [evict("x-2", "n0", "reclaim", "y")]
    want("reclaim: ", rec, new + more[0], out + more[1])
    want("reclaim: no grounds", changed(rec, lambda s: s["queues"][0]["gpu"].update(quota=4)), new, out)
    lone = world([2], [gang("x", "a", minMember=1), gang("y", "b", minMember=1)],
                 [pod("x-0", "x", 2, "n0", [0, 1]), pod("y-0", "y", 2)], [{"name": "a", "gpu": {"quota": 0}}, {"name": "b", "gpu": {"quota": 2}}])
    new, out = [place("y-0", "n0", [0, 1], "x-0")], [evict("x-0", "n0", "reclaim", "y")]
    want(None, lone, new, out)
    want("reclaim: run time", changed(lone, lambda s: s["queues"][0].update(reclaimMinRuntime=5000)), new, out)
    want("reclaim: claimant", changed(lone, lambda s: s["queues"][1]["gpu"].update(quota=0, weight=0)), new, out)
    deep = changed(lone, lambda s: s["queues"][1].update(parent="top") or s["queues"].append({"name": "top", "gpu": {"quota": 1}}) or s["queues"][0]["gpu"].update(quota=1))
    want("reclaim: claimant", deep, new, out)
    guarded = changed(lone, lambda s: s["gangs"][1].update(preemptible=False) or s["queues"][1].update(gpu={"quota": 1}) or s.update(policy={"nonPreemptibleWithinQuota": False}))
    want("reclaim: ", guarded, new, out)
    low = world([4], [gang("x", "a", minMember=1), gang("z", "a", minMember=1), gang("y", "b", minMember=2)],
                [pod("x-0", "x", 1, "n0", [0]), pod("x-1", "x", 1, "n0", [1]), pod("x-2", "x", 1, "n0", [2]), pod("z-0", "z", 1, "n0", [3]),
                 pod("y-0", "y", 1), pod("y-1", "y", 1)], [{"name": "a", "gpu": {"quota": 3}}, {"name": "b", "gpu": {"quota": 2}}])
    want("reclaim: lower than needed", low, [place("y-0", "n0", [0], "x-0"), place("y-1", "n0", [1], "x-1")],
         [evict("x-0", "n0", "reclaim", "y"), evict("x-1", "n0", "reclaim", "y")])
    # Moves.
    move = world([2, 2], [gang("x", minMember=1), gang("w", minMember=1), gang("y", minMember=1)],
                 [pod("x-0", "x", 1, "n0", [0]), pod("w-0", "w", 1, "n1", [0]), pod("y-0", "y", 2)])
    new = [place("x-0", "n1", [1]), place("y-0", "n0", [0, 1], "x-0")]
    out = [evict("x-0", "n0", "consolidate", "y")]
    want(None, move, new, out)
    want("maxMoves", changed(move, lambda s: s.update(policy={"maxMoves": 0})), new, out)
    want("actions", changed(move, lambda s: s.update(policy={"actions": ["place"]})), new, out)
    want("who: not preemptible", changed(move, lambda s: s["gangs"][0].update(preemptible=False)), new, out)
    want(None, changed(move, lambda s: s["gangs"][2].update(preemptionPolicy="Never")), new, out)
    want("consolidate", move, [place("y-0", "n0", [0, 1], "x-0")], out)
    want("in vain", changed(move, lambda s: s["pods"][2].update(gpu={"count": 1})), [place("x-0", "n1", [1]), place("y-0", "n0", [0], "x-0")], out)
    want("in vain", move, new[:1], [evict("x-0", "n0", "consolidate", "x")])
    # Stale gangs.
    stale = world([2], [gang("x", minMember=2, staleSince=NOW - 100)], [pod("x-0", "x", 1, "n0", [0])])
    want(None, stale, [], [evict("x-0", "n0", "stale")])
    want("stale: must go", stale, [], [])
    want("stale: within grace", changed(stale, lambda s: s["gangs"][0].update(stalenessGracePeriod=200)), [], [evict("x-0", "n0", "stale")])
    want(None, changed(stale, lambda s: s["gangs"][0].update(stalenessGracePeriod=200)), [], [])
    more = changed(stale, lambda s: s["pods"].append(pod("x-1", "x", 1)))
    want(None, more, [place("x-1", "n0", [1])], [])
    want("stale: has its minimum", changed(more, lambda s: s["pods"].append(pod("x-2", "x", 1))),
         [place("x-1", "n0", [0], "x-0"), place("x-2", "n0", [1], "x-0")], [evict("x-0", "n0", "stale")])
    kept = changed(stale, lambda s: s.update(disruptionBudgets=[{"name": "b", "namespace": "ns", "selector": {}, "allowed": 0}]))
    want(None, kept, [], [])
    want("stale: ", kept, [], [evict("x-0", "n0", "stale")])
    # A required level.
    racks = changed(start, lambda s: s.update(topology=["rack"], nodes=[{"name": f"n{i}", "gpus": {"count": 1}, "labels": {"rack": f"k{i}"}} for i in range(2)]))
    want(None, racks, [place("new-0", "n0", [0]), place("new-1", "n1", [0])], [])
    want("topology", changed(racks, lambda s: s["gangs"][0].update(topology={"required": "rack"})), [place("new-0", "n0", [0]), place("new-1", "n1", [0])], [])
    print(f"self-check: {cases} plans, {failures} judged wrongly", file=sys.stderr)
    return 1 if failures else 0


# ------------------------------------------------------------------ main

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--muster", required=True)
    parser.add_argument("--instances", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="number of the first instance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default="auto,milp,greedy")
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--moves", choices=["none", "some", "mixed"], default="mixed")
    parser.add_argument("--stale", type=float, default=0.08, help="how many running gangs are below their minimum")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--shrink", type=int, default=0, help="shrink the first N differences of each kind")
    parser.add_argument("--self-check", action="store_true")
    parser.add_argument("--snapshots", help="a file of snapshots instead of random ones")
    args = parser.parse_args()
    args.oracle = build()
    oracle = Oracle(args.oracle)
    if args.self_check:
        return self_check(oracle)
    moves = {"none": 0, "some": 1, "mixed": None}[args.moves]
    if args.snapshots:
        snapshots = [json.loads(line) for line in open(args.snapshots)]
    else:
        snapshots = None
    total = len(snapshots) if snapshots else args.instances
    counts, proofs, shrunk = collections.Counter(), collections.Counter(), collections.Counter()
    agree = 0
    spent = collections.Counter()
    for start in range(args.first, args.first + total, args.batch):
        numbers = range(start, min(start + args.batch, args.first + total))
        if snapshots:
            batch = [snapshots[i - args.first] for i in numbers]
        else:
            batch = [make_instance(args.seed, i, moves, args.stale) for i in numbers]
        solved = {}
        for engine in args.engines.split(","):
            begin = time.time()
            solved[engine] = solve(args.muster, engine, batch, args.budget)
            spent[engine] += time.time() - begin
            for plan in solved[engine]:
                proofs[engine, plan.get("solver", {}).get("proof", "error")] += 1
        for k, snapshot in enumerate(batch):
            begin = time.time()
            answer, found = differences(args, oracle, snapshot, [(e, p[k]) for e, p in solved.items()])
            spent["oracle"] += time.time() - begin
            agree += not found
            for kind in {(e, kind) for e, kind, _, _ in found}:
                counts[kind] += 1
            for engine, kind, details, plan in found:
                record = {"instance": snapshot["id"], "engine": engine, "kind": kind, "details": details}
                if shrunk[kind] < args.shrink and engine != "oracle":
                    shrunk[kind] += 1
                    small = shrink(args, oracle, snapshot, engine, kind)
                    record["snapshot"] = small
                    plan = solve(args.muster, engine, [small], args.budget)[0]
                    answer, again = differences(args, oracle, small, [(engine, plan)])
                    record["details"] = [d for _, other, d, _ in again if other == kind]
                elif not args.shrink:
                    record["snapshot"] = snapshot
                else:
                    print(json.dumps(record), flush=True)
                    continue
                if plan:
                    record["plan"] = {x: plan.get(x) for x in ("placements", "evictions", "objective")}
                    record["proof"] = plan.get("solver", {}).get("proof")
                record["best"] = answer.get("best")
                record["bestPlan"] = answer.get("plan")
                print(json.dumps(record), flush=True)
        done = numbers[-1] + 1 - args.first
        print(f"{done} instances, {agree} agree, {dict((' '.join(k), v) for k, v in sorted(counts.items()))}; "
              f"ms each: {dict((k, round(v / done * 1000, 1)) for k, v in spent.items())}", file=sys.stderr, flush=True)
    print(f"{agree} of {total} agree", file=sys.stderr)
    for kind, n in sorted(counts.items()):
        print(f"  {n:6} {kind[0]}: {kind[1]}", file=sys.stderr)
    for proof, n in sorted(proofs.items()):
        print(f"  {n:6} {proof[0]}: {proof[1]}", file=sys.stderr)
    return 0 if agree == total else 1


if __name__ == "__main__":
    sys.exit(main())
