package situations

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The one namespace of all situations.
const namespace = v1.NamespaceDefault

func cores(count int) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(count), resource.DecimalSI)}
}

func node(name string, cpu int) *v1.Node {
	room := cores(cpu)
	room[v1.ResourceMemory], room[v1.ResourcePods] = resource.MustParse("64Gi"), resource.MustParse("110")
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Capacity: room, Allocatable: room,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
}

type podOption func(*v1.Pod)

// waiting is a pod that is to be placed. Whose scheduler it names is up to the test.
func waiting(name string, cpu int, options ...podOption) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: v1.PodSpec{TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []v1.Container{{Name: "main", Image: "none", Resources: v1.ResourceRequirements{Requests: cores(cpu)}}}}}
	for _, option := range options {
		option(pod)
	}
	return pod
}

// running is a pod that has a node. No scheduler checks whether it fits there, as in a real cluster.
func running(name, node string, cpu int, options ...podOption) *v1.Pod {
	return waiting(name, cpu, append(options, func(pod *v1.Pod) { pod.Spec.NodeName = node })...)
}

func app(name string) podOption { return func(pod *v1.Pod) { pod.Labels["app"] = name } }

func scheduler(name string) podOption { return func(pod *v1.Pod) { pod.Spec.SchedulerName = name } }

func priority(class string) podOption {
	return func(pod *v1.Pod) { pod.Spec.PriorityClassName = class }
}

func port(number int32) podOption {
	return func(pod *v1.Pod) {
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: number, HostPort: number}}
	}
}

func uses(claim string) podOption {
	return func(pod *v1.Pod) {
		source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: source}}
	}
}

func tolerates(key string) podOption {
	return func(pod *v1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: key, Operator: v1.TolerationOpExists})
	}
}

// apart keeps pods of an app off the nodes (or other domains) where one of it is.
func apart(key, from string) podOption {
	return func(pod *v1.Pod) {
		affinity(pod).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(key, from)}}
	}
}

func beside(key, app string) podOption {
	return func(pod *v1.Pod) {
		affinity(pod).PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(key, app)}}
	}
}

func spreadOver(key, app string) podOption {
	return func(pod *v1.Pod) {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key,
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
	}
}

func term(key, app string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

func affinity(pod *v1.Pod) *v1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &v1.Affinity{}
	}
	return pod.Spec.Affinity
}

func inZone(node *v1.Node, zone string) *v1.Node {
	node.Labels[v1.LabelTopologyZone] = zone
	return node
}

func tainted(node *v1.Node, key string) *v1.Node {
	node.Spec.Taints = []v1.Taint{{Key: key, Effect: v1.TaintEffectNoSchedule}}
	return node
}

// budget lets pods of an app go as long as so many of them are left.
func budget(app string, minAvailable int) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(int32(minAvailable))),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
}

func named(name string, budget *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	budget.Name = name
	return budget
}

func class(mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"},
		Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode}
}

func claim(name string, volume string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: new("local"),
			VolumeName: volume, Resources: v1.VolumeResourceRequirements{Requests: storage}}}
}

var storage = v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}

// volume is reachable from the nodes that are named, or from all.
func volume(name string, nodes ...string) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{Capacity: storage, StorageClassName: "local",
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{
				Driver: "disk.example.com", VolumeHandle: fmt.Sprint("handle-", name)}}}}
	if len(nodes) > 0 {
		volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: nodes}}}}}}
	}
	return volume
}
