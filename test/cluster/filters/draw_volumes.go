package filters

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var size = v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}

func (d *draw) storageClasses() {
	for name, mode := range map[string]storagev1.VolumeBindingMode{
		"now": storagev1.VolumeBindingImmediate, "late": storagev1.VolumeBindingWaitForFirstConsumer} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "disk.example.com", VolumeBindingMode: &mode}
		d.add(class)
	}
	d.boundClaim(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue"}}, "unused", v1.ReadWriteOnce) // so that each list has claims: without any, claims may not have been asked for
}

// volumeOf draws the volumes of a group: what is to be called for each of its pods.
func (d *draw) volumeOf(template *v1.Pod) func(*v1.Pod) {
	nothing := func(*v1.Pod) {}
	if !d.chance(35) {
		return nothing
	}
	switch d.IntN(6) {
	case 0: // a volume for each pod, in a zone
		return func(pod *v1.Pod) { use(pod, d.boundClaim(pod, pod.Name, v1.ReadWriteOnce)) }
	case 1: // one volume for all, on one node at a time
		claim := d.boundClaim(template, template.Labels["app"], v1.ReadWriteOnce)
		return func(pod *v1.Pod) { use(pod, claim) }
	case 2: // one volume for all, on any number of nodes
		claim := d.boundClaim(template, template.Labels["app"], v1.ReadWriteMany)
		return func(pod *v1.Pod) { use(pod, claim) }
	case 3: // one volume that one pod may use at a time
		claim := d.boundClaim(template, template.Labels["app"], v1.ReadWriteOncePod)
		return func(pod *v1.Pod) { use(pod, claim) }
	case 4: // made where the pod goes
		return func(pod *v1.Pod) { use(pod, d.lateClaim(pod)) }
	default: // a claim that does not exist
		return func(pod *v1.Pod) { use(pod, pod.Name+"-absent") }
	}
}

func use(pod *v1.Pod, claim string) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, v1.Volume{Name: "data",
		VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
}

// boundClaim makes a claim and the volume that it is bound to, reachable from a zone, a rack, or a node, and gives its name.
func (d *draw) boundClaim(pod *v1.Pod, name string, mode v1.PersistentVolumeAccessMode) string {
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: types.UID("claim-" + name),
			Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{mode}, StorageClassName: new("now"),
			Resources: v1.VolumeResourceRequirements{Requests: size}, VolumeName: "pv-" + pod.Namespace + "-" + name},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
	}
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName},
		Spec: v1.PersistentVolumeSpec{Capacity: size, AccessModes: claim.Spec.AccessModes, StorageClassName: "now",
			ClaimRef:     &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			NodeAffinity: d.reach(),
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{
				Driver: "disk.example.com", VolumeHandle: claim.Spec.VolumeName}}},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
	}
	if d.chance(20) { // as cloud volumes of old say it
		volume.Spec.NodeAffinity = nil
		volume.Labels = map[string]string{zone: one(d, "a", "b", "b__c")}
	}
	d.add(claim)
	d.add(volume)
	return name
}

func (d *draw) reach() *v1.VolumeNodeAffinity {
	key, values := zone, []string{one(d, "a", "b"), "c"}
	switch d.IntN(4) {
	case 0:
		key, values = hostname, []string{one(d, d.nodes...).Name}
	case 1:
		key, values = rack, []string{"r0", "r1"}
	case 2:
		return nil
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}}}}}}
}

func (d *draw) lateClaim(pod *v1.Pod) string {
	name := fmt.Sprintf("%s-late", pod.Name)
	d.add(&v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: types.UID("claim-" + name)},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: new("late"),
			Resources: v1.VolumeResourceRequirements{Requests: size}},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
	})
	return name
}
