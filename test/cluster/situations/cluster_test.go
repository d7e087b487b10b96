package situations

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"muster/test/cluster/controlplane"
)

// quiet is how long nothing may have changed before a cluster counts as settled: longer than kube-scheduler waits before it
// tries a pod again for which it has made room.
const quiet = 2500 * time.Millisecond

// kubelet says of each pod with a node that it runs and is ready.
func kubelet(ctx context.Context, client kubernetes.Interface) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, pod := range list.Items {
			if pod.Spec.NodeName == "" || pod.Status.Phase != v1.PodPending {
				continue
			}
			pod.Status.Phase = v1.PodRunning
			pod.Status.StartTime = new(metav1.Now())
			pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue})
			_, _ = client.CoreV1().Pods(namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{}) // tried again if it has changed
		}
	}
}

// clear takes away what the situation before has left.
func clear(t *testing.T, cluster *controlplane.Cluster) {
	t.Helper()
	kinds := "pods,poddisruptionbudgets,persistentvolumeclaims,persistentvolumes,storageclasses,nodes"
	for _, kind := range strings.Split(kinds, ",") {
		arguments := []string{"delete", kind, "--all", "--grace-period=0", "--force"}
		if _, err := cluster.Kubectl(t.Context(), nil, arguments...); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitSettled waits until the controllers and kube-scheduler have nothing more to do: each has done its work, however long that
// takes on a busy machine, and then nothing has changed for a while.
func awaitSettled(t *testing.T, cluster *controlplane.Cluster) {
	t.Helper()
	before, since, open := "", time.Now(), ""
	await(t, "the cluster to settle", func() bool {
		var now string
		now, open = state(t, cluster)
		if now != before {
			before, since = now, time.Now()
		}
		return open == "" && time.Since(since) >= quiet
	}, &open)
}

// isOpen says whether a program still has to look at the pod: the kubelet at one that has a node, kube-scheduler at one of its own, which it
// binds or calls unschedulable. One that is nominated for a node waits for its victims to go.
func isOpen(pod *v1.Pod) bool {
	if pod.Spec.NodeName != "" {
		return pod.Status.Phase == v1.PodPending
	}
	if pod.Spec.SchedulerName != v1.DefaultSchedulerName || len(pod.Spec.SchedulingGates) > 0 {
		return false
	}
	isTried := slices.ContainsFunc(pod.Status.Conditions, func(condition v1.PodCondition) bool {
		return condition.Type == v1.PodScheduled && condition.Status == v1.ConditionFalse && condition.Reason == v1.PodReasonUnschedulable
	})
	return !isTried || pod.Status.NominatedNodeName != ""
}

// isCounted says whether the budget's status is of the pods as they are. Of several budgets of the same pods the controller counts the first
// alone anew when a pod changes.
func isCounted(budget *policyv1.PodDisruptionBudget, budgets []policyv1.PodDisruptionBudget, pods []v1.Pod) bool {
	isShared := slices.ContainsFunc(budgets, func(other policyv1.PodDisruptionBudget) bool {
		return other.Name != budget.Name && reflect.DeepEqual(other.Spec.Selector, budget.Spec.Selector)
	})
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil || budget.Status.ObservedGeneration != budget.Generation {
		return false
	}
	var healthy int32
	for _, pod := range pods {
		if selector.Matches(labels.Set(pod.Labels)) && pod.Status.Phase == v1.PodRunning {
			healthy++
		}
	}
	return isShared || budget.Status.CurrentHealthy == healthy
}

// state is what the controllers, kube-scheduler and the kubelet change, and the first thing that one of them has still to do.
func state(t *testing.T, cluster *controlplane.Cluster) (found, open string) {
	t.Helper()
	var text strings.Builder
	pods, err := cluster.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	note := func(name string) {
		if open == "" {
			open = name
		}
	}
	for _, pod := range pods.Items {
		fmt.Fprintln(&text, pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.NominatedNodeName)
		if isOpen(&pod) {
			note("pod " + pod.Name)
		}
	}
	claims, err := cluster.Client.CoreV1().PersistentVolumeClaims(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims.Items {
		fmt.Fprintln(&text, claim.Name, claim.Status.Phase)
		if claim.Spec.VolumeName != "" && claim.Status.Phase != v1.ClaimBound {
			note("claim " + claim.Name)
		}
	}
	budgets, err := cluster.Client.PolicyV1().PodDisruptionBudgets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range budgets.Items {
		fmt.Fprintln(&text, budget.Name, budget.Status.DisruptionsAllowed, budget.Status.CurrentHealthy)
		if !isCounted(&budget, budgets.Items, pods.Items) {
			note("budget " + budget.Name)
		}
	}
	return text.String(), open
}
