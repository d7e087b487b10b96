"""What kwok does in place of the kubelet, as objects of its API.

A node becomes ready, a pod with a node runs, and a pod that is being deleted goes. Pods run until a test ends them.
"""

TEXT = """\
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: node-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - {key: '.status.conditions.[] | select(.type == "Ready") | .status', operator: NotIn, values: ["True"]}
  next:
    statusTemplate: |
      conditions:
      - {type: Ready, status: "True", reason: KubeletReady, lastHeartbeatTime: {{ Now | Quote }}}
---
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-runs}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
  next:
    statusTemplate: |
      {{ $now := Now | Quote }}
      phase: Running
      startTime: {{ $now }}
      conditions:
      - {type: Initialized, status: "True", lastTransitionTime: {{ $now }}}
      - {type: ContainersReady, status: "True", lastTransitionTime: {{ $now }}}
      - {type: Ready, status: "True", lastTransitionTime: {{ $now }}}
      containerStatuses:
      {{ range .spec.containers }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: true, restartCount: 0,
         state: {running: {startedAt: {{ $now }} } } }
      {{ end }}
---
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-goes}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
  next: {delete: true}
"""
