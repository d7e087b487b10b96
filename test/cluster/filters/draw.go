// Package filters lays Muster's plans for random clusters before kube-scheduler's own filters.
package filters

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"muster/test/cluster/kube"
)

const (
	hostname = v1.LabelHostname
	zone     = v1.LabelTopologyZone
	rack     = "rack"
	gpu      = v1.ResourceName("nvidia.com/gpu")
)

// draw makes one cluster of a seed: nodes, namespaces, volumes, running and waiting pods.
type draw struct {
	*rand.Rand
	objects kube.Objects
	nodes   []*v1.Node
	running []*v1.Pod
	waiting []*v1.Pod
	apps    []string          // the label app of the groups so far, for affinity between them
	spaces  map[string]string // the namespace of each
}

// Draw gives the cluster of a seed.
func Draw(seed uint64) kube.Objects {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 28)), spaces: map[string]string{}}
	d.namespaces()
	d.drawNodes(4 + d.IntN(9))
	d.storageClasses()
	for range 2 + d.IntN(4) {
		d.group(d.runs)
	}
	for _, app := range d.apps {
		d.budget(app)
	}
	for range 3 + d.IntN(5) {
		d.group(d.waits)
	}
	return d.objects
}

func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func one[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

func (d *draw) add(object runtime.Object) { d.objects = append(d.objects, object) }

func (d *draw) namespaces() {
	for i, name := range []string{"blue", "green", "red"} {
		labels := map[string]string{v1.LabelMetadataName: name, "team": []string{"a", "a", "b"}[i]}
		d.add(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
}

func (d *draw) drawNodes(count int) {
	for i := range count {
		name := fmt.Sprintf("n%d", i)
		labels := map[string]string{hostname: name, "disk": one(d, "ssd", "hdd"), rack: fmt.Sprintf("r%d", d.IntN(4))}
		if d.chance(92) {
			labels[zone] = one(d, "a", "b", "c")
		}
		room := v1.ResourceList{
			v1.ResourceCPU:    *resource.NewQuantity(int64(2+d.IntN(7)), resource.DecimalSI),
			v1.ResourceMemory: *resource.NewQuantity(int64(4+d.IntN(13))<<30, resource.BinarySI),
			v1.ResourcePods:   *resource.NewQuantity(int64(one(d, 4, 8, 110)), resource.DecimalSI),
		}
		if d.chance(40) {
			room[gpu] = *resource.NewQuantity(int64(one(d, 1, 2, 4)), resource.DecimalSI)
		}
		node := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Spec:       v1.NodeSpec{Taints: d.taints(), Unschedulable: d.chance(6)},
			Status: v1.NodeStatus{Capacity: room, Allocatable: room,
				Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}},
		}
		if node.Spec.Unschedulable { // as the node controller does
			node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
		}
		d.nodes = append(d.nodes, node)
		d.add(node)
	}
}

func (d *draw) taints() []v1.Taint {
	if !d.chance(25) {
		return nil
	}
	effect := one(d, v1.TaintEffectNoSchedule, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)
	return []v1.Taint{{Key: "dedicated", Value: one(d, "train", "serve"), Effect: effect}}
}

// group draws one to five equal pods and hands each to put.
func (d *draw) group(put func(*v1.Pod)) {
	name := fmt.Sprintf("g%d", len(d.apps))
	d.apps = append(d.apps, name)
	template := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: one(d, "blue", "green", "red"),
			Labels:    map[string]string{"app": name, "tier": one(d, "front", "back"), "pod-template-hash": one(d, "1", "2")},
		},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName,
			Priority:      new(one[int32](d, 0, 0, 0, 10, 100)),
			Containers:    []v1.Container{{Name: "main", Image: "none"}},
		},
	}
	d.spaces[name] = template.Namespace
	d.requests(template)
	d.nodeRules(template)
	d.podRules(template)
	d.ports(template)
	count := 1 + d.IntN(5)
	d.podGroup(template, count)
	volume := d.volumeOf(template)
	for i := range count {
		pod := template.DeepCopy()
		pod.Name = fmt.Sprintf("%s-%d", name, i)
		pod.UID = types.UID(pod.Namespace + "-" + pod.Name)
		volume(pod)
		put(pod)
	}
}

func (d *draw) requests(pod *v1.Pod) {
	requests := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(one(d, 100, 500, 1000, 2000)), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(one(d, 1, 2, 4))<<29, resource.BinarySI),
	}
	if d.chance(20) {
		requests[gpu] = *resource.NewQuantity(int64(one(d, 1, 1, 2)), resource.DecimalSI)
	}
	pod.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: requests, Limits: v1.ResourceList{}}
	if count, ok := requests[gpu]; ok {
		pod.Spec.Containers[0].Resources.Limits[gpu] = count
	}
}

func (d *draw) ports(pod *v1.Pod) {
	for range one(d, 0, 0, 0, 0, 1, 1, 2) {
		port := v1.ContainerPort{
			ContainerPort: one[int32](d, 80, 81), Protocol: one(d, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP),
			HostIP: one(d, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"),
		}
		port.HostPort = port.ContainerPort
		ports := &pod.Spec.Containers[0].Ports
		if len(*ports) > 0 && (*ports)[0].HostPort == port.HostPort {
			continue // the API server refuses a pod that asks for a port twice
		}
		*ports = append(*ports, port)
	}
}

// podGroup makes some groups gangs, by the label of Coscheduling.
func (d *draw) podGroup(pod *v1.Pod, count int) {
	if !d.chance(25) {
		return
	}
	pod.Labels["pod-group.scheduling.sigs.k8s.io/name"] = pod.Labels["app"]
	pod.Labels["pod-group.scheduling.sigs.k8s.io/min-available"] = fmt.Sprint(1 + d.IntN(count))
}

// budget lets some of the running pods of a group go, as the disruption controller says it.
func (d *draw) budget(app string) {
	if !d.chance(40) {
		return
	}
	d.add(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.spaces[app], Name: app, Generation: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: int32(d.IntN(3))},
	})
}

func (d *draw) waits(pod *v1.Pod) {
	pod.Status.Phase = v1.PodPending
	d.waiting = append(d.waiting, pod)
	d.add(pod)
}

// runs puts the pod on a node that has the resources for it, with rare exceptions. Labels and other pods may have changed
// since it started, so that no other rule is looked at.
func (d *draw) runs(pod *v1.Pod) {
	node := one(d, d.nodes...)
	switch {
	case d.chance(1): // overcommitted, perhaps
	case !d.hasRoom(node, pod):
		return
	}
	pod.Spec.NodeName = node.Name
	if d.chance(1) {
		pod.Spec.NodeName = "deleted"
	}
	pod.Status.Phase = v1.PodRunning
	pod.Status.StartTime = &metav1.Time{Time: metav1.Unix(1_700_000_000, 0).Time}
	if d.chance(5) {
		pod.DeletionTimestamp = &metav1.Time{Time: metav1.Unix(1_700_000_100, 0).Time}
		pod.DeletionGracePeriodSeconds = new(int64(30))
	}
	d.running = append(d.running, pod)
	d.add(pod)
}

func (d *draw) hasRoom(node *v1.Node, pod *v1.Pod) bool {
	left := node.Status.Allocatable.DeepCopy()
	pods := left[v1.ResourcePods]
	for _, other := range append([]*v1.Pod{pod}, d.running...) {
		if other != pod && other.Spec.NodeName != node.Name {
			continue
		}
		pods.Sub(resource.MustParse("1"))
		for name, quantity := range other.Spec.Containers[0].Resources.Requests {
			rest := left[name]
			rest.Sub(quantity)
			left[name] = rest
		}
	}
	for _, rest := range left {
		if rest.Sign() < 0 {
			return false
		}
	}
	return pods.Sign() >= 0
}
