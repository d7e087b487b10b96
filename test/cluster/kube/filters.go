package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Filters answers which node kube-scheduler would let a pod go to. The plugins are those of its default profile,
// and they see the objects that they were given, with what Bind and Remove have changed since.
type Filters struct {
	context  context.Context
	nodes    []*v1.Node
	bound    map[string]*v1.Pod // by Key; on a node that exists, and not finished
	snapshot *cache.Snapshot
	profile  framework.Framework
}

// Key names a pod as Muster's plans do.
func Key(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

// Assignment is a pod that is to run on a node, after those of lower steps.
type Assignment struct {
	Pod  *v1.Pod
	Node string
	Step int
}

// NewFilters keeps a scheduler until the context ends. It shares no memory with the objects.
func NewFilters(ctx context.Context, objects Objects) (*Filters, error) {
	filters := &Filters{context: ctx, bound: map[string]*v1.Pod{}, snapshot: cache.NewEmptySnapshot()}
	var known []runtime.Object
	for _, object := range objects {
		if _, isUnknown := object.(*unstructured.Unstructured); !isUnknown {
			known = append(known, object.DeepCopyObject())
		}
	}
	filters.nodes = Of[*v1.Node](known)
	for _, pod := range Of[*v1.Pod](known) {
		filters.add(pod)
	}
	filters.refresh()
	client := fake.NewSimpleClientset(known...) //nolint:staticcheck // NewClientset takes a hundred times as long
	informers := scheduler.NewInformerFactory(client, 0, nil)
	scheduler, err := scheduler.New(ctx, client, informers, nil, discardEvents, scheduler.WithNodeInfoSnapshot(filters.snapshot))
	if err != nil {
		return nil, err
	}
	filters.profile = scheduler.Profiles[v1.DefaultSchedulerName]
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	return filters, nil
}

func discardEvents(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

var _ profile.RecorderFactory = discardEvents

// Bound is the pods that keep room on a node now.
func (f *Filters) Bound() map[string]*v1.Pod { return f.bound }

// Refusal is why kube-scheduler would not let the pod go to the node, "" if it would.
func (f *Filters) Refusal(pod *v1.Pod, node string) string {
	_, refusal := f.judge(pod, node)
	return refusal
}

// Bind puts the pod on the node if the filters let it go there, and gives their refusal otherwise.
func (f *Filters) Bind(pod *v1.Pod, node string) string {
	state, refusal := f.judge(pod, node)
	if refusal != "" {
		return refusal
	}
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	// Reserving tells the volume plugin which volumes are taken from here on.
	if status := f.profile.RunReservePluginsReserve(f.context, state, placed, node); !status.IsSuccess() {
		return status.String()
	}
	f.add(placed)
	f.refresh()
	return ""
}

// BindAll binds the pods in the order of their steps, and those of one step as they come. It gives the refusals.
func (f *Filters) BindAll(assignments []Assignment) []string {
	ordered := slices.Clone(assignments)
	slices.SortStableFunc(ordered, func(a, b Assignment) int { return cmp.Compare(a.Step, b.Step) })
	var refused []string
	for _, next := range ordered {
		if refusal := f.Bind(next.Pod, next.Node); refusal != "" {
			refused = append(refused, fmt.Sprintf("%s on %s: %s", Key(next.Pod), next.Node, refusal))
		}
	}
	return refused
}

// Remove takes a bound pod off its node.
func (f *Filters) Remove(name string) {
	delete(f.bound, name)
	f.refresh()
}

// AnyNode is a node that kube-scheduler would let the pod go to, "" if there is none.
func (f *Filters) AnyNode(pod *v1.Pod) string {
	for _, node := range f.nodes {
		if f.Refusal(pod, node.Name) == "" {
			return node.Name
		}
	}
	return ""
}

func (f *Filters) judge(pod *v1.Pod, node string) (*framework.CycleState, string) {
	info, err := f.snapshot.Get(node)
	if err != nil || info.Node() == nil {
		return nil, fmt.Sprintf("there is no node %q", node)
	}
	state := framework.NewCycleState()
	result, status, _ := f.profile.RunPreFilterPlugins(f.context, state, pod)
	if !status.IsSuccess() {
		return nil, status.Plugin() + ": " + status.Message()
	}
	if !result.AllNodes() && !result.NodeNames.Has(node) {
		return nil, "the prefilter leaves other nodes only"
	}
	if status = f.profile.RunFilterPlugins(f.context, state, pod, info); !status.IsSuccess() {
		return nil, status.Plugin() + ": " + status.Message()
	}
	return state, ""
}

func (f *Filters) add(pod *v1.Pod) {
	isOnNode := slices.ContainsFunc(f.nodes, func(node *v1.Node) bool { return node.Name == pod.Spec.NodeName })
	isFinished := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	if isOnNode && !isFinished {
		f.bound[Key(pod)] = pod
	}
}

// refresh rebuilds what the plugins see. The clusters are small, so that nothing cleverer is needed.
func (f *Filters) refresh() {
	pods := make([]*v1.Pod, 0, len(f.bound))
	for _, pod := range f.bound {
		pods = append(pods, pod)
	}
	*f.snapshot = *cache.NewSnapshot(pods, f.nodes)
}
