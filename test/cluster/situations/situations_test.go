package situations

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"muster/test/cluster/controlplane"
	"muster/test/cluster/kube"
	"muster/test/cluster/muster"
)

func TestSituations(t *testing.T) {
	if missing := controlplane.Missing(); len(missing) > 0 {
		t.Skipf("skipped: %v not built; test/cluster/run builds them", missing)
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	if _, err := os.Stat(muster.Program()); err != nil {
		t.Skipf("skipped: %v; build it, or name it by $MUSTER", err)
	}
	cluster, err := controlplane.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}
	if _, err := cluster.Client.SchedulingV1().PriorityClasses().Create(t.Context(), high, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	go kubelet(t.Context(), cluster.Client)
	for _, situation := range situations {
		t.Run(situation.name, func(t *testing.T) {
			theirs := situation.run(t, cluster, "kube-scheduler", kubeScheduler)
			bindings := situation.run(t, cluster, "bindings", carryOutBindings)
			patches := situation.run(t, cluster, "patches", carryOutPatches)
			theirs.compare(t, situation.runs, situation.gone)
			gone := without(situation.gone, situation.differs.gone)
			bindings.compare(t, without(situation.runs, situation.differs.bindings), gone)
			patches.compare(t, without(situation.runs, situation.differs.patches), gone)
		})
	}
}

// outcome is what has become of the pods of a situation.
type outcome struct {
	way        string
	runs, gone []string
}

// run makes the objects, lets a scheduler do its work, and looks at the pods.
func (s situation) run(t *testing.T, cluster *controlplane.Cluster, way string, schedule func(*testing.T, *controlplane.Cluster)) outcome {
	t.Helper()
	clear(t, cluster)
	objects := s.prepared(way)
	create(t, cluster, slices.DeleteFunc(slices.Clone(objects), isWaiting))
	awaitSettled(t, cluster)
	if s.then != nil {
		if err := s.then(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
	}
	create(t, cluster, slices.DeleteFunc(slices.Clone(objects), func(object runtime.Object) bool { return !isWaiting(object) }))
	schedule(t, cluster)
	result := outcome{way: way}
	left := podsByName(t, cluster)
	for _, pod := range kube.Of[*v1.Pod](objects) {
		now, isThere := left[pod.Name]
		if !isThere {
			result.gone = append(result.gone, pod.Name)
		} else if pod.Spec.NodeName == "" && now.Spec.NodeName != "" {
			result.runs = append(result.runs, pod.Name)
		}
	}
	return result
}

func isWaiting(object runtime.Object) bool {
	pod, isPod := object.(*v1.Pod)
	return isPod && pod.Spec.NodeName == ""
}

func create(t *testing.T, cluster *controlplane.Cluster, objects kube.Objects) {
	t.Helper()
	list, err := objects.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Kubectl(t.Context(), list, "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// compare takes equal pods, "web-0" and "web-1", for one another.
func (o outcome) compare(t *testing.T, runs, gone []string) {
	t.Helper()
	if !maps.Equal(kinds(o.runs), kinds(runs)) {
		t.Errorf("%s: these waiting pods run: %v, expected %v", o.way, o.runs, runs)
	}
	if !maps.Equal(kinds(o.gone), kinds(gone)) {
		t.Errorf("%s: these pods are gone: %v, expected %v", o.way, o.gone, gone)
	}
}

var number = regexp.MustCompile(`-\d+$`)

func kinds(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		count[number.ReplaceAllString(name, "")]++
	}
	return count
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

func podsByName(t *testing.T, cluster *controlplane.Cluster) map[string]*v1.Pod {
	t.Helper()
	list, err := cluster.Client.CoreV1().Pods(namespace).List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]*v1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods
}
