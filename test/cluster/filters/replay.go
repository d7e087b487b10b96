package filters

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"muster/test/cluster/kube"
	"muster/test/cluster/muster"
)

// Outcome is what became of a plan before kube-scheduler's filters.
type Outcome struct {
	Refused []string // placements that the filters refuse, each with the reason
	Missed  []string // pods that Muster leaves over and for which a node would pass after the plan
	Broken  []string // disruption budgets that the plan's evictions and moves exceed
}

// Replay carries the plan out in the phases of `muster export`: the placements that wait for nothing come in the plan's order,
// then all that is evicted, moved, or waited for goes, and the other placements come.
func Replay(parent context.Context, objects kube.Objects, plan muster.Plan) (Outcome, error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var outcome Outcome
	filters, err := kube.NewFilters(ctx, objects)
	if err != nil {
		return outcome, err
	}
	pods := map[string]*v1.Pod{}
	for _, pod := range kube.Of[*v1.Pod](objects) {
		pods[kube.Key(pod)] = pod
	}
	var now, later []kube.Assignment
	leaves := map[string]bool{}
	for _, eviction := range plan.Evictions {
		leaves[eviction.Pod] = true
	}
	for _, placement := range plan.Placements {
		assignment := kube.Assignment{Pod: asNew(pods[placement.Pod]), Node: placement.Node, Step: placement.Step}
		if len(placement.After) == 0 && !leaves[placement.Pod] {
			now = append(now, assignment)
			continue
		}
		later = append(later, assignment)
		for _, name := range placement.After {
			leaves[name] = true
		}
	}
	outcome.Refused = filters.BindAll(now)
	for name := range leaves {
		filters.Remove(name)
	}
	outcome.Refused = append(outcome.Refused, filters.BindAll(later)...)
	outcome.Broken = broken(objects, pods, leaves)
	outcome.Missed = missed(filters, pods, plan)
	return outcome, nil
}

func broken(objects kube.Objects, pods map[string]*v1.Pod, leaves map[string]bool) []string {
	var found []string
	for _, budget := range kube.Of[*policyv1.PodDisruptionBudget](objects) {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			return []string{err.Error()}
		}
		var disrupted []string
		for name := range leaves {
			pod := pods[name]
			if pod.Namespace == budget.Namespace && pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels)) {
				disrupted = append(disrupted, name)
			}
		}
		if len(disrupted) > int(budget.Status.DisruptionsAllowed) {
			found = append(found, fmt.Sprintf("budget %s/%s lets %d go, and %v go", budget.Namespace, budget.Name, budget.Status.DisruptionsAllowed, disrupted))
		}
	}
	return found
}

// asNew is the pod as it waits, also if it runs and moves.
func asNew(pod *v1.Pod) *v1.Pod {
	fresh := pod.DeepCopy()
	fresh.Spec.NodeName = ""
	fresh.Status = v1.PodStatus{Phase: v1.PodPending}
	return fresh
}

// missed asks only of pods without a gang: a gang may have to wait for a pod that fits nowhere.
func missed(filters *kube.Filters, pods map[string]*v1.Pod, plan muster.Plan) []string {
	var found []string
	for _, gang := range plan.Gangs {
		pod, isSingle := pods[gang.Name]
		if !isSingle || gang.Phase != "Unschedulable" {
			continue
		}
		if node := filters.AnyNode(pod); node != "" {
			found = append(found, fmt.Sprintf("%s could go to %s, Muster says %s: %s", gang.Name, node, gang.Reason, firstLine(gang.Message)))
		}
	}
	return found
}

func firstLine(text string) string { return strings.SplitN(text, "\n", 2)[0] }
