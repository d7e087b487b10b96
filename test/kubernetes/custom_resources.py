"""CustomResourceDefinitions of the kinds that Muster reads of other schedulers and queues.

Group, version, plural, scope and the status subresource are those of the real definitions; every field is allowed.
"""

# group, version, plural, kind, whether it has namespaces, whether it has a status subresource
TABLE = (
    ("scheduling.run.ai", "v2", "queues", "Queue", False, True),
    ("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", True, True),
    ("scheduling.run.ai", "v1alpha2", "bindrequests", "BindRequest", True, True),
    ("kai.scheduler", "v1alpha1", "topologies", "Topology", False, False),
    ("scheduling.volcano.sh", "v1beta1", "queues", "Queue", False, True),
    ("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", True, False),
    ("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", True, True),
    ("scheduling.sigs.k8s.io", "v1alpha1", "podgroups", "PodGroup", True, True),  # of older releases
    ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", True, True),
    ("scheduling.koordinator.sh", "v1alpha1", "devices", "Device", False, True),
    # Kueue also serves v1beta1, which its webhook converts.
    ("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue", True, True),
    ("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", False, True),
    ("kueue.x-k8s.io", "v1beta2", "workloads", "Workload", True, True),
    ("kueue.x-k8s.io", "v1beta2", "topologies", "Topology", False, False),
)


def definition(group, version, plural, kind, has_namespace, has_status):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if has_status:
        served["subresources"] = {"status": {}}
    metadata = {"name": f"{plural}.{group}"}
    if group.endswith(".k8s.io"):  # the API server asks for it in these groups
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, only for tests"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": "Namespaced" if has_namespace else "Cluster",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
            "versions": [served],
        },
    }


def definitions(*groups):
    """The definitions of the groups, or all of them."""
    return [definition(*row) for row in TABLE if not groups or row[0] in groups]
