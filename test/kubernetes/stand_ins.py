"""What controllers of other systems would do, as far as tests need it.

Each is a thread that looks at the cluster again and again, for as long as the block of `with` runs.
"""

import copy
import http.client
import threading

import objects
from api_client import ApiError

CONFLICTS = (404, 409)  # something has changed since the list: the next look sees it
RESERVATIONS = "kai-resource-reservation"  # namespace and label of the pods that hold a shared device
KAI = "scheduling.run.ai"


class StandIn:
    """Calls step() every `period` seconds. A step that fails is repeated; `error` has the last unexpected failure."""

    def __init__(self, cluster, period=0.2):
        self.api = cluster.api_as(cluster.tokens["admin"])  # connections belong to threads
        self.error = None
        self._period, self._stop = period, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def step(self):
        raise NotImplementedError

    def create_once(self, item):
        try:
            self.api.create(item)
        except ApiError as error:
            if error.status != 409:  # it exists
                raise

    def _run(self):
        while not self._stop.wait(self._period):
            try:
                self.step()
            except (ApiError, OSError, http.client.HTTPException) as error:
                if not (isinstance(error, ApiError) and error.status in CONFLICTS):
                    self.error = error


class KaiPodGrouper(StandIn):
    """Makes a PodGroup for each pod of kai-scheduler that names none, as KAI does for pods of Jobs."""

    def step(self):
        for pod in self.api.list("v1", "Pod"):
            metadata = pod["metadata"]
            has_group = ("pod-group-name" in metadata.get("annotations", {})
                         or "kai.scheduler/podgroup" in metadata.get("labels", {}))
            if pod["spec"].get("schedulerName") == "kai-scheduler" and not has_group:
                self._group(pod)

    def _group(self, pod):
        metadata = pod["metadata"]
        name = f"pg-{metadata['name']}-{metadata['uid'][:8]}"
        queue = metadata["labels"]["kai.scheduler/queue"]
        self.create_once({"apiVersion": f"{KAI}/v2alpha2", "kind": "PodGroup",
                          "metadata": {"name": name, "namespace": metadata["namespace"],
                                       "ownerReferences": [owner(pod)]},
                          "spec": {"minMember": 1, "queue": queue,
                                   "priorityClassName": pod["spec"].get("priorityClassName", "train")}})
        self.api.patch("v1", "Pod", metadata["name"], metadata["namespace"],
                       change={"metadata": {"annotations": {"pod-group-name": name}}})


class KaiBinder(StandIn):
    """Carries BindRequests out: reserves shared devices, binds the pod, and tells in the status what became of it."""

    def step(self):
        for request in self.api.list(f"{KAI}/v1alpha2", "BindRequest"):
            if request.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
                self._bind(request)
        self._release()

    def _bind(self, request):
        namespace, spec = request["metadata"]["namespace"], request["spec"]
        pod = self.api.get("v1", "Pod", spec["podName"], namespace)
        for group in spec.get("selectedGPUGroups", []):
            self._reserve(group, spec["selectedNode"])
            self.api.patch("v1", "Pod", spec["podName"], namespace,
                           change={"metadata": {"labels": {"runai-gpu-group": group}}})
        if "nodeName" not in pod["spec"]:
            self.api.request("POST", self.api.path("v1", "Pod", spec["podName"], namespace, "binding"),
                             {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": spec["podName"]},
                              "target": {"kind": "Node", "name": spec["selectedNode"]}})
        self.api.patch(f"{KAI}/v1alpha2", "BindRequest", request["metadata"]["name"], namespace, part="status",
                       change={"status": {"phase": "Succeeded"}})

    def _reserve(self, group, node):
        pod = objects.pod(f"gpu-reservation-{node}-{group[:8]}", RESERVATIONS, 1, cpu="1m", memory="10Mi",
                          labels={"app": RESERVATIONS, "runai-gpu-group": group}, nodeName=node)
        self.create_once(objects.namespace(RESERVATIONS))
        self.create_once(pod)

    def _release(self):
        pods = self.api.list("v1", "Pod")
        groups = {pod["metadata"].get("labels", {}).get("runai-gpu-group") for pod in pods
                  if pod["metadata"]["namespace"] != RESERVATIONS}
        for pod in pods:
            metadata = pod["metadata"]
            if metadata["namespace"] == RESERVATIONS and metadata["labels"]["runai-gpu-group"] not in groups:
                self.api.delete("v1", "Pod", metadata["name"], RESERVATIONS)


class LeaderWorkerSets(StandIn):
    """Makes the pods of each LeaderWorkerSet, and a PodGroup of Volcano for each of its replicas."""

    def step(self):
        names = {(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in self.api.list("v1", "Pod")}
        for item in self.api.list("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"):
            for replica in range(item["spec"].get("replicas", 1)):
                self._make(item, replica, names)

    def _make(self, item, replica, names):
        metadata, template = item["metadata"], item["spec"]["leaderWorkerTemplate"]
        namespace, size = metadata["namespace"], template["size"]
        group = f"{metadata['name']}-{replica}-{metadata['uid'][:8]}"
        leader = f"{metadata['name']}-{replica}"
        self.create_once({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                          "metadata": {"name": group, "namespace": namespace, "ownerReferences": [owner(item)]},
                          "spec": {"minMember": size, "queue": "default"}})
        for i in range(size):
            name = leader if i == 0 else f"{leader}-{i}"
            if (namespace, name) in names:
                continue
            worker = template["workerTemplate"]
            source = template.get("leaderTemplate", worker) if i == 0 else worker
            pod = copy.deepcopy({"apiVersion": "v1", "kind": "Pod", "metadata": source.get("metadata", {}),
                                 "spec": source["spec"]})
            labels = {"leaderworkerset.sigs.k8s.io/name": metadata["name"],
                      "leaderworkerset.sigs.k8s.io/group-index": str(replica),
                      "leaderworkerset.sigs.k8s.io/worker-index": str(i)}
            pod["metadata"] |= {"name": name, "namespace": namespace, "ownerReferences": [owner(item)],
                                "labels": pod["metadata"].get("labels", {}) | labels,
                                "annotations": {"scheduling.k8s.io/group-name": group}}
            self.create_once(pod)


def owner(item):
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": item["metadata"]["name"],
            "uid": item["metadata"]["uid"], "controller": True}
