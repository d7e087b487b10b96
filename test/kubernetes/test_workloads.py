"""The workloads of public examples of gang scheduling, applied with kubectl: they end as these examples say.

The manifests are in workloads/. Controllers that do not run here have a stand-in (stand_ins.py).
"""

import contextlib
import json
import pathlib
import time

import objects
import stand_ins
from agent_process import ACCOUNT, AgentCase
from api_client import wait_for

MANIFESTS = pathlib.Path(__file__).resolve().parent / "workloads"


class WorkloadsTest(AgentCase):
    def apply(self, *names):
        for name in names:
            self.cluster.kubectl("apply", "-f", str(MANIFESTS / f"{name}.yaml"))

    def pods(self, namespace="default", labels=""):
        """Node by pod; empty for a pod that waits."""
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "")
                for pod in self.api.list("v1", "Pod", namespace, labels) if "deletionTimestamp" not in pod["metadata"]}

    def await_pods(self, what, holds, *, namespace="default", labels="", seconds=60):
        """Waits until the nodes by pod fulfil `holds`, and returns them."""
        def look():
            pods = self.pods(namespace, labels)
            return [pods] if holds(pods) else None
        return wait_for(what, look, seconds)[0]

    def await_all_bound(self, count, **where):
        return self.await_pods(f"{count} pods to be bound",
                               lambda pods: len(pods) == count and all(pods.values()), **where)

    def await_note(self, pod, *, part, namespace="default"):
        """Waits for an Event on a pod whose name begins so, with this text."""
        def look():
            return [event for event in self.api.list("events.k8s.io/v1", "Event", namespace)
                    if event["regarding"].get("name", "").startswith(pod)
                    and event.get("reportingController") == "muster/agent" and part in event["note"]]
        return wait_for(f"an Event on {pod} with {part}", look)

    def evicted(self):
        return {name for _, _, resource, name, code in self.cluster.writes(ACCOUNT)
                if resource == "pods/eviction" and code == 201}

    @contextlib.contextmanager
    def kai(self):
        """KAI with the agent in place of its scheduler."""
        self.apply("kai-priorities")
        with stand_ins.KaiPodGrouper(self.cluster), stand_ins.KaiBinder(self.cluster) as binder, \
                self.agent("agent", "--scheduler-name", "kai-scheduler") as agent:
            yield agent
        self.assertIsNone(binder.error)

    def test_application_with_its_models(self):
        """None starts with 15,000 MiB free; all start with 32,768; if one is deleted, the others are evicted."""
        self.start("kai", 0, controllers=True)
        self.cluster.create_nodes(1, gpus=1, memory_mib=32768)
        with self.kai():
            self.apply("app-queues", "app-filler")
            self.await_all_bound(1)
            self.apply("app-with-models")
            self.await_note("app-server", part="default/app-with-models")
            time.sleep(3)
            self.assertEqual({pod for pod, node in self.pods().items() if node}, {"filler"})
            self.cluster.kubectl("delete", "pod", "filler")
            self.await_all_bound(3, labels="kai.scheduler/podgroup=app-with-models")
            groups = {pod["metadata"]["labels"]["runai-gpu-group"] for pod in self.api.list("v1", "Pod", "default")}
            self.assertEqual(len(groups), 1, "they share the device")
            self.cluster.kubectl("delete", "pod", "model-1")
            self.await_pods("the stale gang to leave", lambda pods: not pods, seconds=100)
            self.assertEqual(self.evicted(), {"default/app-server", "default/model-2"})
            self.apply("app-with-models")
            self.await_all_bound(3)
            time.sleep(12)
            self.assertEqual(len(self.pods()), 3, "it is not stale any more")

    def test_application_of_deployments(self):
        """Three Deployments with one PodGroup start together; a fourth pod starts by itself."""
        self.start("kai", 0, controllers=True)
        self.cluster.create_nodes(1, gpus=1, memory_mib=32768)
        with self.kai():
            self.apply("app-queues", "app-deployments")
            self.await_all_bound(3)
            self.cluster.kubectl("scale", "deployment", "model-1", "--replicas", "2")
            self.await_all_bound(4)

    def test_departments_with_consolidation(self):
        """A job of 3 GPUs finds a node; for one of 4, training-job-2 moves from the first node to the second."""
        self.start("kai", 0, controllers=True)
        for i in (1, 2, 3, 4):
            self.cluster.create_nodes(1, prefix=f"node-{i}-")
        nodes = [f"node-{i}-1" for i in (1, 2, 3, 4)]
        projects = [f"project-{letter}" for letter in "abcd"]

        def places():
            pods = [pod for project in projects for pod in self.pods(project).items()]
            return {name.rsplit("-", 1)[0]: node for name, node in pods}

        with self.kai():
            self.apply("departments-queues")
            jobs = self.manifest("departments-running")
            # They are to be where the example has them: one node is open at a time.
            for node, names in zip(nodes, (("training-job-1", "training-job-2"), ("training-job-3",),
                                           ("interactive-job",))):
                self.leave_open(nodes, node)
                for job in jobs:
                    if job["metadata"]["name"] in names:
                        self.api.create(job)
                wait_for(f"{names} to run", lambda names=names: all(places().get(name) for name in names))
            # The example leaves the fourth node free to the end: jobs do not get it.
            for node in nodes[:3]:
                self.cluster.kubectl("uncordon", node)
            self.assertEqual(places(), {"training-job-1": nodes[0], "training-job-2": nodes[0],
                                        "training-job-3": nodes[1], "interactive-job": nodes[2]})
            self.apply("departments-new")
            wait_for("six jobs to run", lambda: len(places()) == 6 and all(places().values()), 100)
            self.assertEqual(places(), {"training-job-1": nodes[0], "training-job-a": nodes[0],
                                        "training-job-3": nodes[1], "training-job-2": nodes[1],
                                        "interactive-job": nodes[2], "training-job-b": nodes[2]})
        self.assertEqual({name.rsplit("-", 1)[0] for name in self.evicted()}, {"project-b/training-job-2"})

    def manifest(self, name):
        text = self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", str(MANIFESTS / f"{name}.yaml"))
        decoder, items, at = json.JSONDecoder(), [], 0
        while at < len(text):
            item, at = decoder.raw_decode(text, at)
            items += item["items"] if item["kind"] == "List" else [item]
            at += len(text[at:]) - len(text[at:].lstrip())
        return items

    def leave_open(self, nodes, node):
        for name in nodes:
            self.cluster.kubectl("uncordon" if name == node else "cordon", name)

    def test_lab_of_the_workload_api(self):
        """Gangs of PodGroups of Kubernetes on one node of 8 cores: what does not fit whole does not start at all."""
        self.start("bindings", 0, controllers=True, workload_api=True)
        self.create_cpu_nodes({"lab": 8})
        with self.agent("agent", "--scheduler-name", "default-scheduler"):
            self.apply("lab-large")
            self.apply("lab-basic")
            self.await_all_bound(4, labels="app=training")
            self.await_note("large-worker", part="default/large-gang")
            self.apply("lab-pytorch")
            self.await_all_bound(4, labels="app=pytorch")
            self.apply("lab-spark")
            self.await_note("spark-", part="default/spark-gang")
            wait_for("the pods of both Jobs", lambda: len(self.pods(labels="app in (large-training, spark)")) == 15)
            time.sleep(2)
            waiting = self.pods(labels="app in (large-training, spark)")
            self.assertEqual(set(waiting.values()), {""})
            self.cluster.kubectl("delete", "pods", "-l", "app=pytorch")
            self.await_all_bound(5, labels="app=spark")
            self.create_cpu_nodes({"lab-2": 24})
            self.await_all_bound(10, labels="app=large-training")

    def create_cpu_nodes(self, cores, taints=()):
        for name, count in cores.items():
            node = objects.node(name, gpus=0)
            node["status"]["capacity"]["cpu"] = node["status"]["allocatable"]["cpu"] = str(count)
            node["spec"] = {"taints": list(taints)}
            self.api.create(node)

    def test_leader_worker_set_with_volcano(self):
        """Tainted nodes keep all four pods waiting; once one is free, all start. Pods without a gang start in part."""
        self.start("bindings", 0, controllers=True, scheduler=True)
        self.create_cpu_nodes({"control-plane": 14},
                              [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}])
        self.create_cpu_nodes({f"worker-{i}": 14 for i in (1, 2, 3)})
        self.apply("lws-queue")

        def taint(node, suffix=""):
            self.cluster.kubectl("taint", "node", node, f"test=blocked:NoSchedule{suffix}")

        def of(name):
            return {"namespace": "gang-demo", "labels": f"leaderworkerset.sigs.k8s.io/name={name}"}

        with stand_ins.LeaderWorkerSets(self.cluster) as sets:
            with self.agent("agent", "--scheduler-name", "volcano"):
                self.apply("lws-small")
                self.await_all_bound(4, **of("gang-test"))
                taint("worker-1")
                taint("worker-2")
                self.apply("lws-constrained")
                note = self.await_note("gang-constrained", part="untolerated taint {test: blocked}",
                                       namespace="gang-demo")[0]["note"]
                self.assertIn("Insufficient cpu", note)
                time.sleep(2)
                self.assertEqual(list(self.pods(**of("gang-constrained")).values()), [""] * 4)
                taint("worker-2", "-")
                nodes = self.await_all_bound(4, **of("gang-constrained"))
                self.assertEqual(set(nodes.values()), {"worker-2", "worker-3"})
            # For comparison: kube-scheduler, without a gang. One node stays open, with room for some of the four pods.
            counts = [list(nodes.values()).count(worker) for worker in ("worker-2", "worker-3")]
            opened = "worker-2" if counts[0] < counts[1] else "worker-3"
            taint("worker-3" if opened == "worker-2" else "worker-2")
            self.apply("lws-no-gang")
            room = 3 - min(counts)
            self.await_pods("some pods to be bound", lambda pods: sum(map(bool, pods.values())) == room,
                            namespace="gang-demo", labels="app=no-gang")
            time.sleep(2)
            self.assertEqual(sum(map(bool, self.pods("gang-demo", "app=no-gang").values())), room)
        self.assertIsNone(sets.error)

    def test_training_with_coscheduling(self):
        """PyTorch, TensorFlow and MPI start whole; a group of a higher priority takes the place of a lower one."""
        self.start("bindings", 1, controllers=True)
        where = {"namespace": "ml-training"}
        with self.agent("agent", "--scheduler-name", "scheduler-plugins-scheduler"):
            self.apply("coscheduling-data", "coscheduling-pytorch")
            self.await_all_bound(4, labels="app=pytorch-training", **where)
            self.apply("coscheduling-tensorflow")
            self.await_note("tf-", part="ml-training/tf-distributed-group", namespace="ml-training")
            time.sleep(2)
            tensorflow = "app in (tensorflow-chief, tensorflow-training)"
            self.assertEqual(list(self.pods(labels=tensorflow, **where).values()), [""] * 5)
            self.cluster.create_nodes(1, prefix="second-")
            self.await_all_bound(5, labels=tensorflow, **where)
            self.apply("coscheduling-horovod")
            self.await_note("horovod-", part="ml-training/horovod-training-group", namespace="ml-training")
            self.cluster.create_nodes(1, prefix="third-")
            self.await_all_bound(9, labels="app=horovod", **where)
            # 17 of 24 GPUs are used: 7 are free. Without the third node's, the critical group has to evict.
            self.cluster.kubectl("delete", "pods", "-n", "ml-training", "-l", "app=horovod")
            self.await_pods("the workers to be gone", lambda pods: not pods, labels="app=horovod", **where)
            self.cluster.kubectl("cordon", "third-1")
            free = 16 - 9
            spec = {"schedulerName": "scheduler-plugins-scheduler", "labels": {"app": "other"}}
            self.api.create_all([objects.pod(f"other-{i}", "ml-training", 1, **spec) for i in range(free)])
            self.await_all_bound(free, labels="app=other", **where)
            self.apply("coscheduling-critical")
            self.await_all_bound(4, labels="app=critical", **where)
        evicted = self.evicted()
        self.assertGreaterEqual(len(evicted), 4)
