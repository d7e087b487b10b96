package situations

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// awaitSettled waits until the controllers and kube-scheduler have nothing more to do.
func awaitSettled(t *testing.T, cluster *controlplane.Cluster) {
	t.Helper()
	before, since := "", time.Now()
	await(t, "the cluster to settle", func() bool {
		now := state(t, cluster)
		if now != before {
			before, since = now, time.Now()
		}
		return time.Since(since) >= quiet
	})
}

// state is what the controllers, kube-scheduler and the kubelet change.
func state(t *testing.T, cluster *controlplane.Cluster) string {
	t.Helper()
	var text strings.Builder
	pods, err := cluster.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		fmt.Fprintln(&text, pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.NominatedNodeName)
	}
	claims, err := cluster.Client.CoreV1().PersistentVolumeClaims(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims.Items {
		fmt.Fprintln(&text, claim.Name, claim.Status.Phase)
	}
	budgets, err := cluster.Client.PolicyV1().PodDisruptionBudgets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range budgets.Items {
		fmt.Fprintln(&text, budget.Name, budget.Status.DisruptionsAllowed, budget.Status.CurrentHealthy)
	}
	return text.String()
}
