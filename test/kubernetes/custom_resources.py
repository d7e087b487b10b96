"""CustomResourceDefinitions of the kinds that Muster reads of other schedulers and queues.

Group, version, plural, scope and the status subresource are those of the real definitions; every field is allowed.
"""

# group, version, plural, kind, whether it has namespaces, whether it has a status subresource
TABLE = (
    ("scheduling.run.ai", "v2", "queues", "Queue", False, True),
    ("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", True, True),
    ("scheduling.run.ai", "v1alpha2", "bindrequests", "BindRequest", True, True),
    ("kai.scheduler", "v1alpha1", "topologies", "Topology", False, False),
    ("kai.scheduler", "v1", "schedulingshards", "SchedulingShard", False, True),
    ("scheduling.volcano.sh", "v1beta1", "queues", "Queue", False, True),
    ("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", True, False),
    ("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", True, True),
    ("scheduling.x-k8s.io", "v1alpha1", "elasticquotas", "ElasticQuota", True, True),
    ("scheduling.sigs.k8s.io", "v1alpha1", "podgroups", "PodGroup", True, True),  # of older releases
    ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", True, True),
    ("scheduling.koordinator.sh", "v1alpha1", "devices", "Device", False, True),
    # Kueue also serves v1beta1, which its webhook converts.
    ("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue", True, True),
    ("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", False, True),
    ("kueue.x-k8s.io", "v1beta2", "workloads", "Workload", True, True),
    ("kueue.x-k8s.io", "v1beta2", "topologies", "Topology", False, False),
    ("kueue.x-k8s.io", "v1beta2", "cohorts", "Cohort", False, True),
    ("kueue.x-k8s.io", "v1beta2", "resourceflavors", "ResourceFlavor", False, False),
    ("kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", False, False),
    ("batch.volcano.sh", "v1alpha1", "jobs", "Job", True, True),
    ("disaggregatedset.x-k8s.io", "v1", "disaggregatedsets", "DisaggregatedSet", True, True),
    ("grove.io", "v1alpha1", "podcliquesets", "PodCliqueSet", True, True),
    ("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", True, True),
    ("kubeflow.org", "v1", "jaxjobs", "JAXJob", True, True),
    ("kubeflow.org", "v2beta1", "mpijobs", "MPIJob", True, True),
    ("kubeflow.org", "v1", "notebooks", "Notebook", True, True),
    ("kubeflow.org", "v1", "paddlejobs", "PaddleJob", True, True),
    ("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", True, True),
    ("kubeflow.org", "v1", "tfjobs", "TFJob", True, True),
    ("kubeflow.org", "v1", "xgboostjobs", "XGBoostJob", True, True),
    ("ray.io", "v1", "rayclusters", "RayCluster", True, True),
    ("ray.io", "v1", "rayjobs", "RayJob", True, True),
    ("ray.io", "v1", "rayservices", "RayService", True, True),
    ("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob", True, True),
    ("trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes", "ClusterTrainingRuntime", False, False),
    ("trainer.kubeflow.org", "v1alpha1", "trainingruntimes", "TrainingRuntime", True, False),
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
