package filters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"

	"muster/test/cluster/kube"
	"muster/test/cluster/muster"
)

// Orders that are tried: a pod whose filters pass first may be in the way of another one that would have had to go before it.
const orders = 20

// Outcome is what became of a plan before kube-scheduler's filters.
type Outcome struct {
	Refused []string // placements that no order lets through, each with the filter's reason
	Missed  []string // pods that Muster leaves over and for which a node would pass after the plan
	Placed  int
}

// Replay carries the plan out: what is evicted, moved, or waited for goes, and then the placements come one after another.
func Replay(ctx context.Context, objects kube.Objects, plan muster.Plan) (Outcome, error) {
	var best Outcome
	for order := range orders {
		outcome, err := replayOnce(ctx, objects, plan, order)
		if err != nil || len(outcome.Refused) == 0 {
			return outcome, err
		}
		if order == 0 || len(outcome.Refused) < len(best.Refused) {
			best = outcome
		}
	}
	return best, nil
}

func replayOnce(parent context.Context, objects kube.Objects, plan muster.Plan, order int) (Outcome, error) {
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
	for _, eviction := range plan.Evictions {
		filters.Remove(eviction.Pod)
	}
	for _, placement := range plan.Placements {
		for _, name := range placement.After {
			filters.Remove(name)
		}
	}
	var assignments []kube.Assignment
	for _, placement := range plan.Placements {
		assignments = append(assignments, kube.Assignment{Pod: asNew(pods[placement.Pod]), Node: placement.Node})
	}
	rand.New(rand.NewPCG(uint64(order), 0)).Shuffle(len(assignments), func(i, j int) {
		assignments[i], assignments[j] = assignments[j], assignments[i]
	})
	outcome.Refused = filters.BindAll(assignments)
	outcome.Placed = len(plan.Placements)
	outcome.Missed = missed(filters, pods, plan)
	return outcome, nil
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
