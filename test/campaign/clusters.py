"""Random clusters as snapshots of the format muster/v1: everything that the format knows is drawn somewhere."""

import random

TIME = 1_000_000
ZONE, RACK, HOST = "zone", "rack", "kubernetes.io/hostname"


class Cluster:
    """Draws one snapshot from its seed. What runs fits: it is put on nodes that have the room."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.nodes, self.queues, self.gangs, self.pods, self.budgets = [], [], [], [], []
        self.free = []  # of each node: millicores, and twelfths free of each device
        self.leaves = []
        self.drawn = {  # what this cluster has at all, and its part of the objects
            name: self.random.random() < part
            for name, part in (
                ("topology", 0.4), ("fractions", 0.5), ("memory", 0.25), ("hierarchy", 0.5), ("limits", 0.3),
                ("subgroups", 0.3), ("odd states", 0.4), ("affinity", 0.25), ("spread", 0.2), ("ports", 0.2),
                ("budgets", 0.3), ("taints", 0.3), ("resources", 0.3), ("runtimes", 0.3), ("weights", 0.3))
        }

    def snapshot(self):
        self.draw_nodes()
        self.draw_queues()
        for number in range(self.between(2, 3 * len(self.nodes))):
            self.draw_gang(f"r{number}", runs=True)
        for number in range(self.between(1, 2 * len(self.nodes))):
            self.draw_gang(f"p{number}", runs=False)
        snapshot = {"format": "muster/v1", "id": f"campaign-{self.seed}", "time": TIME, "policy": self.policy()}
        if self.drawn["topology"]:
            snapshot["topology"] = [ZONE, RACK]
        snapshot.update(nodes=self.nodes, queues=self.queues, gangs=self.gangs, pods=self.pods)
        if self.drawn["budgets"]:
            snapshot["disruptionBudgets"] = [
                {"name": f"b{i}", "selector": {"matchLabels": {"app": app}}, "allowed": self.between(0, 2)}
                for i, app in enumerate(self.random.sample("abc", self.between(1, 2)))]
        return snapshot

    def has(self, what, part=0.5):
        return self.drawn[what] and self.random.random() < part

    def chance(self, part):
        return self.random.random() < part

    def between(self, low, high):
        return self.random.randint(low, high)

    def policy(self):
        policy = {}
        if self.chance(0.2):
            others = ["consolidate", "reclaim", "preempt", "stale"]
            policy["actions"] = ["place"] + [action for action in others if self.chance(0.65)]
        if self.chance(0.3):
            policy["maxMoves"] = self.between(0, 4)
        if self.chance(0.3):
            policy["nonPreemptibleWithinQuota"] = False
        if self.chance(0.15):
            policy["placement"] = "spread"
        if self.chance(0.3):
            policy["wholeNodes"] = self.chance(0.5)
        if self.chance(0.1):
            policy["agingInterval"] = 20
        if self.chance(0.1):
            policy["protect"] = {"matchLabels": {"app": "a"}}
        return policy

    def draw_nodes(self):
        kinds = [(self.between(1, 8), self.random.choice([None, 16, 24, 40, 80]), self.random.choice([None, "A", "B"]))
                 for _ in range(self.between(1, 3))]
        for number in range(self.between(3, 28)):
            devices, memory, model = self.random.choice(kinds)
            cores = self.random.choice([8, 16, 64])
            node = {"name": f"n{number}", "resources": {"cpu": cores, "memory": "256Gi"},
                    "labels": {HOST: f"n{number}", "pool": self.random.choice("ab")}}
            if self.chance(0.9):
                node["gpus"] = {"count": devices}
                if memory:
                    node["gpus"]["memory"] = f"{memory}Gi"
                if model:
                    node["gpus"]["model"] = model
            if self.drawn["topology"] and not self.chance(0.05):
                node["labels"].update({ZONE: f"z{number % 2}", RACK: f"r{number % 5}"})
            if self.has("taints", 0.3):
                effect = self.random.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
                node["taints"] = [{"key": "team", "value": self.random.choice("xy"), "effect": effect}]
            if self.chance(0.04):
                node["unschedulable"] = True
            if self.has("resources"):
                node["resources"]["rdma/hca"] = self.between(0, 4)
            self.nodes.append(node)
            self.free.append([1000 * cores, [12] * (devices if "gpus" in node else 0)])

    def draw_queues(self):
        devices = sum(len(free[1]) for free in self.free)

        def queue(name, parent=None):
            entry = {"name": name, "gpu": {}}
            if parent:
                entry["parent"] = parent
            if self.chance(0.7):
                entry["gpu"]["quota"] = self.between(0, max(1, devices // 2))
            if self.chance(0.3):
                entry["gpu"]["weight"] = self.between(0, 3)
            if self.has("limits", 0.4):
                entry["gpu"]["limit"] = self.between(1, devices + 1)
            if self.has("runtimes"):
                entry[self.random.choice(["preemptMinRuntime", "reclaimMinRuntime"])] = self.random.choice([30, 300])
            self.queues.append(entry)

        for number in range(self.between(1, 3)):
            queue(f"q{number}")
            children = [f"q{number}-{i}" for i in range(self.between(2, 3))] if self.has("hierarchy") else []
            for child in children:
                queue(child, f"q{number}")
            self.leaves += children or [f"q{number}"]

    def draw_shape(self):
        """Millicores, the request for GPUs, and what it takes: devices, and twelfths of each."""
        cores = self.random.choice([0, 0, 1, 2, 4])
        kind = self.random.random()
        if kind < 0.15:
            return 1000 * max(cores, 1), None, 0, 0
        if self.drawn["fractions"] and kind < 0.45:
            twelfths = self.random.choice([2, 3, 4, 6, 9])
            return 1000 * cores, {"fraction": round(twelfths / 12, 2)}, 1, twelfths
        if self.drawn["memory"] and kind < 0.55:
            return 1000 * cores, {"memory": self.random.choice(["4Gi", "8Gi", "12Gi"])}, 1, 12
        count = self.random.choice([1, 1, 1, 2, 2, 4, 8])
        return 1000 * cores, {"count": count}, count, 12

    def draw_gang(self, name, runs):
        gang = {"name": name, "queue": self.random.choice(self.leaves), "priority": self.random.choice([10, 50, 80, 120]),
                "created": TIME - self.between(0, 1000)}
        size = self.random.choice([1, 1, 2, 3, 4, 8])
        groups = []
        if self.has("subgroups", 0.4) and size > 1:
            groups = [{"name": f"s{i}", "minMember": self.between(0, size // 2)} for i in range(2)]
            gang["subgroups"] = groups
            if self.chance(0.4):
                gang["minSubgroups"] = 1
        elif self.chance(0.5):
            gang["minMember"] = self.between(0, size)
        if self.drawn["topology"] and self.chance(0.4):
            gang["topology"] = {self.random.choice(["required", "preferred"]): self.random.choice([ZONE, RACK])}
        if self.has("weights"):
            gang["weight"] = self.random.choice([0.001, 0.5, 1.5, 3])
        if self.chance(0.1):
            gang["preemptible"] = self.chance(0.5)
        if self.chance(0.1):
            gang["preemptionPolicy"] = "Never"
        if self.has("resources", 0.2):
            gang["minResources"] = {"gpu": self.between(1, 8)}
        if runs and self.chance(0.15):
            gang["staleSince"] = TIME - self.between(0, 200)
        self.gangs.append(gang)
        for _ in range(self.between(1, 2)):
            shape = self.draw_shape()
            extras = self.draw_extras()
            for _ in range(size if size == 1 else (size + 1) // 2):
                self.draw_pod(gang, groups, shape, extras, runs and not self.chance(0.15))

    def draw_extras(self):
        extras = {"labels": {"app": self.random.choice("abc")}}
        selector = {"matchLabels": {"app": self.random.choice("abc")}}
        key = self.random.choice([HOST, "pool"])
        if self.chance(0.1):
            extras["nodeSelector"] = {"pool": self.random.choice("ab")}
        if self.has("taints", 0.4):
            extras["tolerations"] = [{"key": "team", "operator": "Exists"}]
        if self.has("resources", 0.3):
            extras["resources"] = {"rdma/hca": 1}
        if self.has("affinity", 0.4):
            kind = self.random.choice(["podAffinity", "podAntiAffinity"])
            term = {"labelSelector": selector, "topologyKey": key}
            required = self.chance(0.7)
            extras[kind] = ({"requiredDuringSchedulingIgnoredDuringExecution": [term]} if required else
                            {"preferredDuringSchedulingIgnoredDuringExecution":
                             [{"weight": self.between(1, 100), "podAffinityTerm": term}]})
        if self.has("spread", 0.4):
            extras["topologySpread"] = [{
                "maxSkew": self.between(1, 2), "topologyKey": key, "labelSelector": selector,
                "whenUnsatisfiable": self.random.choice(["DoNotSchedule", "ScheduleAnyway"])}]
        if self.has("ports", 0.3):
            extras["hostPorts"] = [{"port": self.random.choice([80, 8080])}]
        return extras

    def draw_pod(self, gang, groups, shape, extras, runs):
        cores, gpu, devices, twelfths = shape
        pod = {"name": f"{gang['name']}-{len(self.pods)}", "gang": gang["name"], **extras}
        pod["resources"] = {**extras.get("resources", {}), "cpu": f"{cores}m"}
        if gpu:
            pod["gpu"] = gpu
        if groups:
            pod["subgroup"] = self.random.choice(groups)["name"]
        place = self.place_for(cores, devices, twelfths) if runs and "hostPorts" not in extras else None
        if place:
            node, indices = place
            pod.update(node=self.nodes[node]["name"], started=TIME - self.between(1, 900))
            if indices:
                pod["gpus"] = indices
            if self.drawn["odd states"] and self.chance(0.06):
                pod["status"] = "releasing"
        elif self.drawn["odd states"] and self.chance(0.15):
            pod["status"] = self.random.choice(["gated", "succeeded", "failed"])
        self.pods.append(pod)

    def place_for(self, cores, devices, twelfths):
        for node in self.random.sample(range(len(self.nodes)), len(self.nodes)):
            fitting = [i for i, free in enumerate(self.free[node][1]) if free >= twelfths]
            if self.free[node][0] < cores or len(fitting) < devices:
                continue
            indices = sorted(fitting[:devices])
            self.free[node][0] -= cores
            for index in indices:
                self.free[node][1][index] -= twelfths
            return node, indices
        return None
