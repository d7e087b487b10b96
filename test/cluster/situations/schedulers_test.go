package situations

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"muster/test/cluster/controlplane"
	"muster/test/cluster/kube"
	"muster/test/cluster/muster"
)

const (
	ours   = "muster.example.com"  // schedulerName of the pods that get Bindings
	gate   = "example.com/planned" // of the pods that get patches
	cycles = 4                     // plans at most; the situations are done after one or two
)

// prepared is the objects with the pods as each way of scheduling needs them.
func (s situation) prepared(way string) kube.Objects {
	var objects kube.Objects
	for _, object := range s.objects {
		object = object.DeepCopyObject()
		if pod, isPod := object.(*v1.Pod); isPod && pod.Spec.SchedulerName == "" {
			switch {
			case way == "bindings": // running pods, too: Muster evicts only pods of its own scheduler
				pod.Spec.SchedulerName = ours
			case way == "patches" && pod.Spec.NodeName == "":
				pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: gate}}
			}
		}
		objects = append(objects, object)
	}
	return objects
}

func kubeScheduler(t *testing.T, cluster *controlplane.Cluster) { awaitSettled(t, cluster) }

// carryOutBindings does what docs/export.md says of `bindings`: Muster is the scheduler.
func carryOutBindings(t *testing.T, cluster *controlplane.Cluster) {
	refusals := map[string]int{}
	for range cycles {
		snapshot := get(t, cluster)
		plan := solve(t, snapshot, "--scheduler-name", ours)
		bind(t, cluster, snapshot, export(t, snapshot, plan, "bindings", "now"))
		if evict(t, cluster, export(t, snapshot, plan, "bindings", "evictions"), refusals) {
			bind(t, cluster, get(t, cluster), export(t, snapshot, plan, "bindings", "after-evictions"))
		}
		awaitSettled(t, cluster)
		if len(plan.Placements)+len(plan.Evictions) == 0 {
			return
		}
	}
}

// carryOutPatches does what docs/export.md says of `patches`: kube-scheduler binds, where Muster has pinned.
func carryOutPatches(t *testing.T, cluster *controlplane.Cluster) {
	refusals := map[string]int{}
	for range cycles {
		snapshot := withoutGate(t, get(t, cluster))
		plan := solve(t, snapshot, "--scheduler-name", v1.DefaultSchedulerName)
		patches := export(t, snapshot, plan, "patches", "now", "--gate", gate)
		patch(t, cluster, patches)
		if evict(t, cluster, export(t, snapshot, plan, "patches", "evictions", "--gate", gate), refusals) {
			after := export(t, snapshot, plan, "patches", "after-evictions", "--gate", gate)
			patch(t, cluster, after)
			patches = append(patches, after...)
		}
		awaitSettled(t, cluster)
		pods := podsByName(t, cluster)
		for _, object := range patches {
			pod := pods[object.Metadata.Name]
			if host := object.Spec.NodeSelector[v1.LabelHostname]; pod != nil && pod.Spec.NodeName != host {
				t.Errorf("patches: kube-scheduler does not bind %s on %s as planned: it is on %q", pod.Name, host, pod.Spec.NodeName)
			}
		}
		if len(plan.Placements)+len(plan.Evictions) == 0 {
			return
		}
	}
}

// exported is what the test reads of an object that `muster export` writes.
type exported struct {
	Kind     string
	Metadata struct{ Namespace, Name string }
	Target   struct{ Name string }
	Spec     struct{ NodeSelector map[string]string }
	raw      json.RawMessage
}

// get is the command of docs/kubernetes.md.
func get(t *testing.T, cluster *controlplane.Cluster) []byte {
	t.Helper()
	kinds := "nodes,pods,namespaces,priorityclasses,poddisruptionbudgets,persistentvolumeclaims,persistentvolumes,storageclasses"
	snapshot, err := cluster.Kubectl(t.Context(), nil, "get", kinds, "-A", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func solve(t *testing.T, snapshot []byte, options ...string) muster.Plan {
	t.Helper()
	plan, err := muster.Solve(snapshot, append(options, "--deterministic")...)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func export(t *testing.T, snapshot []byte, plan muster.Plan, format, phase string, options ...string) []exported {
	t.Helper()
	lines, err := muster.Export(snapshot, plan, append(options, "--format", format, "--phase", phase)...)
	if err != nil {
		t.Fatal(err)
	}
	objects := make([]exported, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &objects[i]); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		objects[i].raw = line
	}
	return objects
}

// bind makes the Bindings if kube-scheduler's filters let each pod go where it is sent.
func bind(t *testing.T, cluster *controlplane.Cluster, snapshot []byte, bindings []exported) {
	t.Helper()
	objects, err := kube.Parse(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	filters, err := kube.NewFilters(t.Context(), objects)
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]*v1.Pod{}
	for _, pod := range kube.Of[*v1.Pod](objects) {
		pods[kube.Key(pod)] = pod
	}
	var assignments []kube.Assignment
	for _, binding := range bindings {
		pod := pods[binding.Metadata.Namespace+"/"+binding.Metadata.Name]
		if pod == nil {
			t.Fatalf("bindings: no pod is known for %s", binding.raw)
		}
		assignments = append(assignments, kube.Assignment{Pod: pod, Node: binding.Target.Name})
	}
	for _, refusal := range filters.BindAll(assignments) {
		t.Errorf("bindings: kube-scheduler's filters refuse %s", refusal)
	}
	for _, binding := range bindings {
		if _, err := cluster.Kubectl(t.Context(), binding.raw, "create", "-f", "-"); err != nil {
			t.Errorf("bindings: %v", err)
		}
	}
}

func patch(t *testing.T, cluster *controlplane.Cluster, patches []exported) {
	t.Helper()
	for _, object := range patches {
		_, err := cluster.Kubectl(t.Context(), nil, "patch", "pod", "--type", "strategic", "-p", string(object.raw),
			"-n", object.Metadata.Namespace, object.Metadata.Name)
		if err != nil {
			t.Errorf("patches: %v", err)
		}
	}
}

// evict asks for the evictions, waits until the pods are gone, and says whether all went. A budget may have changed since the plan, so that one
// refusal of a pod is no fault; a second one is: the next plan has seen the budget.
func evict(t *testing.T, cluster *controlplane.Cluster, evictions []exported, refusals map[string]int) bool {
	t.Helper()
	allWent := true
	for _, eviction := range evictions {
		pod := "/api/v1/namespaces/" + eviction.Metadata.Namespace + "/pods/" + eviction.Metadata.Name
		_, err := cluster.Kubectl(t.Context(), eviction.raw, "create", "--raw", pod+"/eviction", "-f", "-")
		switch {
		case err == nil:
			await(t, "the eviction of "+eviction.Metadata.Name, func() bool { return podsByName(t, cluster)[eviction.Metadata.Name] == nil })
		case strings.Contains(err.Error(), "disruption budget"):
			allWent = false
			if refusals[pod]++; refusals[pod] > 1 {
				t.Errorf("429 again: %v", err)
			}
		default:
			allWent = false
			t.Error(err)
		}
	}
	return allWent
}

// withoutGate takes our gate away, so that the pods are to be placed.
func withoutGate(t *testing.T, snapshot []byte) []byte {
	t.Helper()
	gates, err := json.Marshal([]v1.PodSchedulingGate{{Name: gate}})
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, snapshot); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(compact.Bytes(), append([]byte(`"schedulingGates":`), gates...), []byte(`"schedulingGates":[]`))
}

// await gives up after a minute; `detail` is then told, too.
func await(t *testing.T, what string, isDone func() bool, detail ...*string) {
	t.Helper()
	for range 600 {
		if isDone() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, text := range detail {
		what += ": " + *text
	}
	t.Fatalf("after a minute still waiting for %s", what)
}
