"""Compares a plan with what is expected of it. README.md describes the keys of an expectation."""

import fnmatch
import json
import re


class Case:
    """One cluster: its Kubernetes objects, and the pods and gangs that the import makes of them."""

    def __init__(self, objects, snapshot):
        self.objects = objects
        self.gang_of = {pod["name"]: pod.get("gang", pod["name"]) for pod in snapshot["pods"]}
        self.runs_on = {pod["name"]: pod["node"] for pod in snapshot["pods"]
                        if "node" in pod and pod.get("status", "running") == "running"}
        self.labels = {node["name"]: node.get("labels", {}) for node in snapshot["nodes"]}

    def of_kind(self, kind):
        return [item for item in self.objects if item["kind"] == kind]

    def domain(self, node, key):
        """Of a node: the value of a label, or with the key hypernode:N the HyperNode of tier N."""
        if not key.startswith("hypernode:"):
            return self.labels[node].get(key)
        tier = int(key.partition(":")[2])
        for item in self.of_kind("HyperNode"):
            if item["spec"]["tier"] == tier and self.contains(item, node):
                return item["metadata"]["name"]
        return None

    def contains(self, hyper_node, node):
        for member in hyper_node["spec"].get("members", []):
            selector = member["selector"]
            named = selector.get("exactMatch", {}).get("name")
            pattern = selector.get("regexMatch", {}).get("pattern")
            labels = selector.get("labelMatch", {}).get("matchLabels")
            if member["type"] == "Node":
                if named == node or (pattern and re.search(pattern, node)):
                    return True
                if labels and labels.items() <= self.labels[node].items():
                    return True
                continue
            for inner in self.of_kind("HyperNode"):
                name = inner["metadata"]["name"]
                if (named == name or (pattern and re.search(pattern, name))) and self.contains(inner, node):
                    return True
        return False


class Outcome:
    """What is the case once the plan is carried out."""

    def __init__(self, case, plan):
        self.case = case
        self.placed = {entry["pod"]: entry["node"] for entry in plan["placements"]}
        leaving = {entry["pod"] for entry in plan["evictions"]}
        self.moved = leaving & self.placed.keys()
        self.evicted = leaving - self.moved
        self.node_of = {pod: node for pod, node in case.runs_on.items() if pod not in leaving} | self.placed
        self.gangs = {gang["name"]: gang for gang in plan["gangs"]}
        self.warnings = [json.dumps(warning, ensure_ascii=False) for warning in plan.get("warnings", [])]

    def pods_of(self, name):
        return [pod for pod, gang in self.case.gang_of.items() if gang == name]

    def running(self, pattern):
        return sum(fnmatch.fnmatchcase(self.case.gang_of[pod], pattern) for pod in self.node_of)

    def waiting(self):
        """What is left over, as text for the table."""
        return ", ".join(f"{gang['name']} waits ({gang.get('reason', gang['phase'])})"
                         for gang in self.gangs.values() if gang["pending"])

    def words_of(self, name):
        gang = self.gangs.get(name, {})
        return json.dumps([gang.get(key, "") for key in ("reason", "makeRoom", "message", "blockers")]).lower()

    def __str__(self):
        started = sorted(self.placed.keys() - self.moved)
        parts = [f"starts {', '.join(started)}" if len(started) < 4 else f"starts {len(started)} pods"] if started else []
        for what, pods in (("evicts", self.evicted), ("moves", self.moved)):
            if pods:
                parts.append(f"{what} {', '.join(sorted(pods)) if len(pods) < 4 else len(pods)}")
        return "; ".join(parts + ([self.waiting()] if self.waiting() else [])) or "nothing"


def gang_faults(outcome, name, expected):
    """Of one gang: each key of what is expected that does not hold."""
    if name not in outcome.gangs and name not in outcome.case.gang_of.values():
        return [f"there is no gang {name}"]
    gang = outcome.gangs.get(name, {})
    found = {
        "running": outcome.running(name),
        "evicted": sum(pod in outcome.evicted for pod in outcome.pods_of(name)),
        "moved": sum(pod in outcome.moved for pod in outcome.pods_of(name)),
        "pending": gang.get("pending", 0),
        "phase": gang.get("phase", "Running"),
        "reason": gang.get("reason"),
        "makeRoom": gang.get("makeRoom"),
        "onNodes": sorted({outcome.node_of[pod] for pod in outcome.pods_of(name) if pod in outcome.node_of}),
        "waits": gang.get("pending", 0) > 0 and gang.get("reason") not in ("Held", "Gated"),
    }
    faults = [f"{name}: {key} {found[key]}, not {value}" for key, value in expected.items()
              if key in found and found[key] != value]
    faults += [f"{name}: {key[:-2]} is {value}" for key, value in expected.items()
               if key.endswith("No") and found[key[:-2]] == value]
    words = outcome.words_of(name)
    faults += [f"{name}: no word of {word}" for word in expected.get("says", []) if word.lower() not in words]
    if "because" in expected and not any(word in words for word in expected["because"]):
        faults.append(f"{name}: none of {', '.join(expected['because'])} is said")
    return faults


def pod_faults(outcome, pod, expected):
    """Of one pod: `node`, `nodes`, `placed`, `waits`, `evicted`, `moved`, `stays`."""
    if pod not in outcome.case.gang_of:
        return [f"there is no pod {pod}"]
    node = outcome.node_of.get(pod)
    found = {"node": node, "placed": pod in outcome.placed, "waits": node is None, "evicted": pod in outcome.evicted,
             "moved": pod in outcome.moved, "stays": pod in outcome.node_of and pod not in outcome.placed}
    faults = [f"{pod}: {key} is {found[key]}" for key, value in expected.items() if key in found and found[key] != value]
    if "nodes" in expected and node not in expected["nodes"]:
        faults.append(f"{pod}: node {node}, none of {', '.join(expected['nodes'])}")
    return faults


def domain_faults(outcome, rule):
    """Of one rule about the domains of a level: `counts`, `segments` with `in`, `distinct`."""
    key = rule["key"]

    def domains(pods):
        return [outcome.case.domain(outcome.node_of[pod], key) for pod in pods if pod in outcome.node_of]

    faults = []
    if "counts" in rule:
        found = domains(rule["pods"])
        counts = {domain: found.count(domain) for domain in found}
        if counts != rule["counts"]:
            faults.append(f"{key}: {counts}, not {rule['counts']}")
    for segment in rule.get("segments", []):
        found = set(domains(segment))
        if len(found) > 1 or not found <= set(rule.get("in", found)):
            faults.append(f"{key}: {segment[0]} and those beside it are in {sorted(map(str, found))}")
    lists = [set(domains(pods)) for pods in rule.get("distinct", [])]
    if sum(map(len, lists)) != len(set().union(*lists)):
        faults.append(f"{key}: a domain is shared")
    return faults


def flavor_faults(outcome, queue, most):
    """Of a ClusterQueue: GPUs of its pods on nodes of a flavor, beyond the most that is allowed there."""
    local = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in outcome.case.of_kind("LocalQueue")
             if item["spec"]["clusterQueue"] == queue}
    used = dict.fromkeys(most, 0)
    for item in outcome.case.of_kind("Pod"):
        meta = item["metadata"]
        node = outcome.node_of.get(f"{meta['namespace']}/{meta['name']}")
        if node is None or (meta["namespace"], meta.get("labels", {}).get("kueue.x-k8s.io/queue-name")) not in local:
            continue
        for flavor in outcome.case.of_kind("ResourceFlavor"):
            name = flavor["metadata"]["name"]
            if name in used and flavor["spec"].get("nodeLabels", {}).items() <= outcome.case.labels[node].items():
                used[name] += gpus(item)
    return [f"{queue} uses {used[name]} GPUs of {name}, at most {most[name]} are allowed" for name in most
            if used[name] > most[name]]


def gpus(pod):
    resources = [container.get("resources", {}) for container in pod["spec"]["containers"]]
    return sum(int((each.get("requests", {}) | each.get("limits", {})).get("nvidia.com/gpu", 0)) for each in resources)


def faults_of(outcome, expected):
    """Everything that is expected of a plan and does not hold; empty if the plan is right."""
    if "anyOf" in expected:
        shared = faults_of(outcome, {key: value for key, value in expected.items() if key != "anyOf"})
        ways = [faults_of(outcome, way) for way in expected["anyOf"]]
        return shared + (min(ways, key=len) if all(ways) else [])
    faults = []
    for name, gang in expected.get("gangs", {}).items():
        faults += gang_faults(outcome, name, gang)
    for pod, where in expected.get("pods", {}).items():
        faults += pod_faults(outcome, pod, where)
    for pattern, count in expected.get("running", {}).items():
        if outcome.running(pattern) != count:
            faults.append(f"{pattern}: {outcome.running(pattern)} run, not {count}")
    for key, pods in (("evicted", outcome.evicted), ("moved", outcome.moved)):
        if key in expected and len(pods) != expected[key]:
            faults.append(f"{len(pods)} pods are {key}, not {expected[key]}")
    faults += [f"{pod} leaves" for pod in expected.get("notEvicted", []) if pod in outcome.evicted]
    for group in expected.get("wholeGroups", []):
        if len({pod in outcome.node_of for pod in group}) > 1:
            faults.append(f"a part of {', '.join(group)} runs")
    for rule in expected.get("domains", []):
        faults += domain_faults(outcome, rule)
    for queue, most in expected.get("flavors", {}).items():
        faults += flavor_faults(outcome, queue, most)
    faults += [f"no warning says {word}" for word in expected.get("warnings", [])
               if not any(word.lower() in warning.lower() for warning in outcome.warnings)]
    return faults


def is_held_or_said(outcome, words):
    """Whether what the plan does not read is named in a warning or in what it says of a gang; no words: never."""
    texts = outcome.warnings + [outcome.words_of(name) for name in outcome.gangs]
    return any(word.lower() in text.lower() for word in words for text in texts)
