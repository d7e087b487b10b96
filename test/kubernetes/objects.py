"""Nodes, pods and gangs for tests, as dictionaries."""

GIB = 1024**3


def node(name, gpus=8, model="NVIDIA-H100-80GB-HBM3", memory_mib=81559, zone="", labels=None):
    """A node that is ready as soon as it is created. Any fake kubelet may act for it."""
    all_labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    if zone:
        all_labels["topology.kubernetes.io/zone"] = zone
    resources = {"cpu": "96", "memory": f"{1024 * GIB}", "ephemeral-storage": f"{1024 * GIB}", "pods": "110"}
    if gpus:
        resources["nvidia.com/gpu"] = str(gpus)
        all_labels |= {"nvidia.com/gpu.count": str(gpus), "nvidia.com/gpu.product": model,
                       "nvidia.com/gpu.memory": str(memory_mib)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": all_labels | (labels or {})},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                            "lastTransitionTime": "2026-01-01T00:00:00Z", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}],
        },
    }


def pod(name, namespace="default", gpus=1, *, cpu="1", memory="1Gi", labels=None, annotations=None, **spec):
    """A pod that waits. `spec` has further keys of its spec, such as schedulerName or schedulingGates."""
    resources = {"cpu": cpu, "memory": memory} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    container = {"name": "main", "image": "example.com/train:1",
                 "resources": {"requests": resources, "limits": resources}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def namespace(name, labels=None):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels or {}}}


def kai_queue(name, gpus):
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    resources = {"cpu": unlimited, "memory": unlimited, "gpu": {"quota": gpus, "limit": -1, "overQuotaWeight": 1}}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"resources": resources}}


def kai_gang(name, namespace, queue, pods, gpus, **spec):
    """A PodGroup of KAI that needs all its pods, and these pods."""
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
             "metadata": {"name": name, "namespace": namespace}, "spec": {"minMember": pods, "queue": queue}}
    annotations = {"pod-group-name": name}
    return [group] + [pod(f"{name}-{i}", namespace, gpus, annotations=annotations, **spec) for i in range(pods)]


def coscheduling_gang(name, namespace, pods, gpus, **spec):
    """A PodGroup of Coscheduling that needs all its pods, and these pods."""
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
             "metadata": {"name": name, "namespace": namespace}, "spec": {"minMember": pods}}
    labels = {"scheduling.x-k8s.io/pod-group": name}
    return [group] + [pod(f"{name}-{i}", namespace, gpus, labels=labels, **spec) for i in range(pods)]


def volcano_queue(name, gpus):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name},
            "spec": {"weight": 1, "deserved": {"nvidia.com/gpu": str(gpus)}}, "status": {"state": "Open"}}


def volcano_gang(name, namespace, queue, pods, gpus, **spec):
    """A PodGroup of Volcano that needs all its pods, and these pods."""
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": name, "namespace": namespace}, "spec": {"minMember": pods, "queue": queue}}
    annotations = {"scheduling.k8s.io/group-name": name}
    return [group] + [pod(f"{name}-{i}", namespace, gpus, annotations=annotations, **spec) for i in range(pods)]
