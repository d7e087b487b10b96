package filters

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeRules draws selectors, node affinity and tolerations.
func (d *draw) nodeRules(pod *v1.Pod) {
	if d.chance(12) {
		pod.Spec.NodeSelector = map[string]string{"disk": one(d, "ssd", "hdd")}
	}
	if d.chance(20) {
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}}
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{d.nodeTerm(), d.nodeTerm()},
		}
	}
	if d.chance(30) {
		pod.Spec.Tolerations = []v1.Toleration{one(d,
			v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "train", Effect: v1.TaintEffectNoSchedule},
			v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "serve"},
			v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpExists},
		)}
	}
}

func (d *draw) nodeTerm() v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{one(d,
		v1.NodeSelectorRequirement{Key: zone, Operator: v1.NodeSelectorOpIn, Values: []string{one(d, "a", "b"), "c"}},
		v1.NodeSelectorRequirement{Key: zone, Operator: v1.NodeSelectorOpExists},
		v1.NodeSelectorRequirement{Key: rack, Operator: v1.NodeSelectorOpNotIn, Values: []string{"r0"}},
		v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}},
	)}}
}

// podRules draws affinity, anti-affinity and spread, required and preferred.
func (d *draw) podRules(pod *v1.Pod) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &v1.Affinity{}
	}
	if d.chance(22) {
		pod.Spec.Affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.terms(pod)}
	}
	if d.chance(22) {
		pod.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.terms(pod)}
	}
	if d.chance(10) {
		if pod.Spec.Affinity.PodAntiAffinity == nil {
			pod.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{}
		}
		pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution =
			[]v1.WeightedPodAffinityTerm{{Weight: int32(1 + d.IntN(100)), PodAffinityTerm: d.terms(pod)[0]}}
	}
	for range one(d, 0, 0, 0, 1, 1, 2) {
		constraint := d.spread(pod)
		constraints := &pod.Spec.TopologySpreadConstraints
		if len(*constraints) > 0 && (*constraints)[0].TopologyKey == constraint.TopologyKey {
			continue // the API server refuses a key twice with one action
		}
		*constraints = append(*constraints, constraint)
	}
}

func (d *draw) terms(pod *v1.Pod) []v1.PodAffinityTerm {
	terms := make([]v1.PodAffinityTerm, one(d, 1, 1, 1, 2))
	for i := range terms {
		terms[i] = v1.PodAffinityTerm{TopologyKey: one(d, hostname, zone, zone, rack), LabelSelector: d.selector(pod)}
		switch d.IntN(6) {
		case 0:
			terms[i].Namespaces = []string{"blue", "red"}
		case 1:
			terms[i].NamespaceSelector = &metav1.LabelSelector{}
		case 2:
			terms[i].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": one(d, "a", "b")}}
		}
	}
	return terms
}

// selector draws pods of the own group, of another one, or of a tier.
func (d *draw) selector(pod *v1.Pod) *metav1.LabelSelector {
	switch d.IntN(4) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(d, d.apps...)}}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "tier", Operator: one(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: []string{"front"}}}}
	default:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}
	}
}

func (d *draw) spread(pod *v1.Pod) v1.TopologySpreadConstraint {
	constraint := v1.TopologySpreadConstraint{
		TopologyKey: one(d, zone, zone, hostname, rack), MaxSkew: int32(1 + d.IntN(2)),
		WhenUnsatisfiable: one(d, v1.DoNotSchedule, v1.DoNotSchedule, v1.ScheduleAnyway), LabelSelector: d.selector(pod),
	}
	if constraint.WhenUnsatisfiable == v1.DoNotSchedule && d.chance(25) {
		constraint.MinDomains = new(int32(1 + d.IntN(4)))
	}
	if d.chance(20) {
		constraint.MatchLabelKeys = []string{"pod-template-hash"}
	}
	if d.chance(25) {
		constraint.NodeTaintsPolicy = new(one(d, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
	}
	if d.chance(25) {
		constraint.NodeAffinityPolicy = new(one(d, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
	}
	return constraint
}
