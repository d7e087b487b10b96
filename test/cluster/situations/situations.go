// Package situations carries Muster's plans out on a real control plane, beside what kube-scheduler does there.
package situations

import (
	"context"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster/test/cluster/controlplane"
	"muster/test/cluster/kube"
)

// situation is a cluster, and which of its waiting pods run in the end. Of equal pods, which have names like "web-0", only the
// number counts.
type situation struct {
	name    string
	objects kube.Objects
	then    func(context.Context, *controlplane.Cluster) error // what happens once all objects are there
	runs    []string                                           // with kube-scheduler, and with Muster
	gone    []string                                           // running pods that are evicted for it
	differs difference
}

// difference is what Muster does otherwise than kube-scheduler, on purpose.
type difference struct {
	why      string
	bindings []string // waiting pods that do not run where Muster's Bindings are the only scheduler
	patches  []string // and where kube-scheduler binds what Muster has pinned
	gone     []string // running pods that only kube-scheduler evicts
}

var situations = []situation{
	{
		name: "node whose pods exceed what it reports",
		objects: kube.Objects{node("full", 2), node("free", 4), running("old-0", "full", 2), running("old-1", "full", 2),
			waiting("new-0", 2), waiting("new-1", 2), waiting("new-2", 2)},
		runs: []string{"new-0", "new-1"},
	},
	{
		name: "pod on a node that is deleted",
		objects: kube.Objects{node("gone", 4), node("stays", 4), running("lost", "gone", 4), running("old", "stays", 2),
			waiting("new-0", 2), waiting("new-1", 2)},
		then: func(ctx context.Context, cluster *controlplane.Cluster) error {
			return cluster.Client.CoreV1().Nodes().Delete(ctx, "gone", metav1.DeleteOptions{})
		},
		runs: []string{"new-0"},
	},
	{
		name: "pod of another scheduler",
		objects: kube.Objects{node("only", 4), waiting("theirs", 2, scheduler("another.example.com")),
			waiting("ours-0", 2), waiting("ours-1", 2), waiting("ours-2", 2)},
		runs: []string{"ours-0", "ours-1"},
	},
	{
		name: "disruption budget that lets one victim go and not the other",
		objects: kube.Objects{node("only", 4), budget("kept", 1), budget("spare", 0), running("kept", "only", 2), running("spare", "only", 2),
			waiting("urgent", 2, priority("high"))},
		runs: []string{"urgent"}, gone: []string{"spare"},
	},
	{
		name: "disruption budget that allows no eviction",
		objects: kube.Objects{node("only", 4), budget("kept", 2), running("kept-0", "only", 2, app("kept")), running("kept-1", "only", 2, app("kept")),
			waiting("urgent", 2, priority("high"))},
		runs: []string{"urgent"}, gone: []string{"kept-0"},
		differs: difference{why: "to kube-scheduler a budget is a preference", bindings: []string{"urgent"}, patches: []string{"urgent"}, gone: []string{"kept-0"}},
	},
	{
		name: "disruption budget of two pods of which one may go",
		objects: kube.Objects{node("left", 2), node("right", 2), budget("web", 1), running("web-0", "left", 2, app("web")), running("web-1", "right", 2, app("web")),
			waiting("urgent-0", 2, priority("high")), waiting("urgent-1", 2, priority("high"))},
		runs: []string{"urgent-0", "urgent-1"}, gone: []string{"web-0", "web-1"},
		differs: difference{why: "to kube-scheduler a budget is a preference", bindings: []string{"urgent-1"}, patches: []string{"urgent-1"}, gone: []string{"web-1"}},
	},
	{
		name: "two disruption budgets on one pod",
		objects: kube.Objects{node("only", 2), budget("kept", 0), named("second", budget("kept", 0)), running("kept", "only", 2),
			waiting("urgent", 2, priority("high"))},
		runs: []string{"urgent"}, gone: []string{"kept"},
		differs: difference{why: "the eviction API refuses a pod of two budgets", bindings: []string{"urgent"}, patches: []string{"urgent"}, gone: []string{"kept"}},
	},
	{
		name: "bound claim of a volume that one node reaches",
		objects: kube.Objects{class(storagev1.VolumeBindingImmediate), volume("disk", "near"), claim("data", "disk"),
			node("near", 2), node("far", 8), waiting("reader-0", 2, uses("data")), waiting("reader-1", 2, uses("data"))},
		runs: []string{"reader-0"},
	},
	{
		name: "claim that is bound where its pod goes",
		objects: kube.Objects{class(storagev1.VolumeBindingWaitForFirstConsumer), volume("disk", "near"), claim("data", ""),
			node("near", 2), node("far", 8), waiting("reader", 2, uses("data")), waiting("other", 2)},
		runs:    []string{"reader", "other"},
		differs: difference{why: "a Binding alone leaves the claim unbound", bindings: []string{"reader"}},
	},
	{
		name: "claim that only one node may use at a time",
		objects: kube.Objects{class(storagev1.VolumeBindingImmediate), volume("disk"), claim("data", "disk"),
			node("here", 4), node("there", 4), running("user", "here", 2, uses("data")),
			waiting("second-0", 2, uses("data")), waiting("second-1", 2, uses("data"))},
		runs: []string{"second-0", "second-1"},
		differs: difference{why: "kube-scheduler lets the second one start elsewhere, where its volume cannot be attached",
			bindings: []string{"second-1"}, patches: []string{"second-1"}},
	},
	{
		name: "host ports",
		objects: kube.Objects{node("left", 8), node("right", 8), running("old", "left", 1, port(9000)), waiting("web-0", 1, port(80)), waiting("web-1", 1, port(80)),
			waiting("web-2", 1, port(80)), waiting("metrics-0", 1, port(9000)), waiting("metrics-1", 1, port(9000))},
		runs: []string{"web-0", "web-1", "metrics-0"},
	},
	{
		name:    "resize that the kubelet has not done yet",
		objects: kube.Objects{node("only", 4), running("shrinks", "only", 3), waiting("new", 2)},
		then:    shrink,
	},
	{
		name: "taint, affinity, anti-affinity and spread",
		objects: kube.Objects{inZone(node("a", 8), "a"), inZone(node("b", 8), "b"), tainted(inZone(node("c", 8), "c"), "dedicated"),
			running("cache", "b", 1), waiting("client", 1, beside(v1.LabelTopologyZone, "cache")),
			waiting("single-0", 1, app("single"), apart(v1.LabelHostname, "single")), waiting("single-1", 1, app("single"), apart(v1.LabelHostname, "single")),
			waiting("single-2", 1, app("single"), apart(v1.LabelHostname, "single")),
			waiting("wide-0", 1, app("wide"), spreadOver(v1.LabelTopologyZone, "wide"), tolerates("dedicated")),
			waiting("wide-1", 1, app("wide"), spreadOver(v1.LabelTopologyZone, "wide"), tolerates("dedicated")),
			waiting("wide-2", 1, app("wide"), spreadOver(v1.LabelTopologyZone, "wide"), tolerates("dedicated"))},
		runs: []string{"client", "single-0", "single-1", "wide-0", "wide-1", "wide-2"},
	},
}

// shrink asks for less, while the kubelet still holds what the pod had: until it answers, the larger of both counts.
func shrink(ctx context.Context, cluster *controlplane.Cluster) error {
	pods := cluster.Client.CoreV1().Pods(namespace)
	pod, err := pods.Get(ctx, "shrinks", metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = v1.PodRunning
	held := cores(3)
	pod.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "main", Image: "none", ImageID: "none", AllocatedResources: held,
		Resources: &v1.ResourceRequirements{Requests: held}, State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}}
	if pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	pod.Spec.Containers[0].Resources.Requests = cores(1)
	_, err = pods.UpdateResize(ctx, "shrinks", pod, metav1.UpdateOptions{})
	return err
}
