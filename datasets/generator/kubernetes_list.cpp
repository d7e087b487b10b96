#include "datasets/generator/kubernetes_list.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "datasets/generator/random.h"
#include "model/base/require.h"

namespace muster::generator {

namespace {

// Appends the pattern, `$0` to `$9` replaced by the values.
void append(std::string& out, std::string_view pattern, std::initializer_list<std::string_view> values) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '$' && at + 1 < pattern.size()) {
      out += values.begin()[pattern[++at] - '0'];
    } else {
      out += pattern[at];
    }
  }
}

std::string hexadecimal(Random& random, int digits) {
  std::string text;
  while (static_cast<int>(text.size()) < digits) text += fmt::format("{:016x}", random.next());
  text.resize(static_cast<std::size_t>(digits));
  return text;
}

std::string unique_name(Random& random) {
  const std::string all = hexadecimal(random, 32);
  return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4), all.substr(16, 4),
                     all.substr(20));
}

constexpr std::string_view kNodeHead =
    R"({"apiVersion":"v1","kind":"Node",)"
    R"("metadata":{"annotations":{"csi.volume.kubernetes.io/nodeid":"{\"csi.example.com\":\"$0\"}",)"
    R"("node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true",)"
    R"("nfd.node.kubernetes.io/feature-labels":"cpu-cpuid.ADX,cpu-cpuid.AESNI,cpu-cpuid.AVX,cpu-cpuid.AVX2,)"
    R"(cpu-cpuid.AVX512F,cpu-hardware_multithreading,kernel-version.full,pci-10de.present,)"
    R"(system-os_release.ID"},"creationTimestamp":"2026-02-01T08:00:00Z",)"
    R"("labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/instance-type":"gpu-8",)"
    R"("beta.kubernetes.io/os":"linux","feature.node.kubernetes.io/cpu-cpuid.AVX512F":"true",)"
    R"("feature.node.kubernetes.io/cpu-hardware_multithreading":"true",)"
    R"("feature.node.kubernetes.io/kernel-version.full":"6.1.0-18-amd64",)"
    R"("feature.node.kubernetes.io/pci-10de.present":"true",)"
    R"("feature.node.kubernetes.io/system-os_release.ID":"debian","kubernetes.io/arch":"amd64",)"
    R"("kubernetes.io/hostname":"$0","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"gpu-8",)"
    R"("nvidia.com/cuda.driver.major":"550","nvidia.com/cuda.driver.minor":"54",)"
    R"("nvidia.com/cuda.runtime.major":"12","nvidia.com/gfd.timestamp":"1769932800",)"
    R"("nvidia.com/gpu.compute.major":"9","nvidia.com/gpu.compute.minor":"0","nvidia.com/gpu.count":"8",)"
    R"("nvidia.com/gpu.deploy.dcgm-exporter":"true","nvidia.com/gpu.deploy.device-plugin":"true",)"
    R"("nvidia.com/gpu.deploy.driver":"true","nvidia.com/gpu.family":"hopper",)"
    R"("nvidia.com/gpu.machine":"DGXH100","nvidia.com/gpu.memory":"81559","nvidia.com/gpu.present":"true",)"
    R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.replicas":"1",)"
    R"("nvidia.com/mig.capable":"true","topology.kubernetes.io/region":"region-1",)"
    R"("topology.kubernetes.io/zone":"zone-$1"},"managedFields":[{"apiVersion":"v1",)"
    R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},)"
    R"("f:volumes.kubernetes.io/controller-managed-attach-detach":{}},"f:labels":{".":{},)"
    R"("f:beta.kubernetes.io/arch":{},"f:beta.kubernetes.io/os":{},"f:kubernetes.io/arch":{},)"
    R"("f:kubernetes.io/hostname":{},"f:kubernetes.io/os":{}}}},"manager":"kubelet","operation":"Update",)"
    R"("time":"2026-02-01T08:00:00Z"},{"apiVersion":"v1","fieldsType":"FieldsV1",)"
    R"("fieldsV1":{"f:status":{"f:allocatable":{"f:memory":{},"f:nvidia.com/gpu":{}},)"
    R"("f:conditions":{"k:{\"type\":\"DiskPressure\"}":{"f:lastHeartbeatTime":{}},)"
    R"("k:{\"type\":\"MemoryPressure\"}":{"f:lastHeartbeatTime":{}},)"
    R"("k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{},"f:lastTransitionTime":{},"f:message":{},)"
    R"("f:reason":{},"f:status":{}}},"f:images":{}}},"manager":"kubelet","operation":"Update",)"
    R"("subresource":"status","time":"2026-03-01T09:58:00Z"}],"name":"$0","resourceVersion":"$2",)"
    R"("uid":"$3"},"spec":{"podCIDR":"10.$4.0/24","podCIDRs":["10.$4.0/24"],)"
    R"("providerID":"example:///region-1/$0","taints":[{"effect":"NoSchedule","key":"nvidia.com/gpu",)"
    R"("value":"present"}]},"status":{"addresses":[{"address":"10.$4.7","type":"InternalIP"},)"
    R"({"address":"$0","type":"Hostname"}],"allocatable":{"cpu":"95500m",)"
    R"("ephemeral-storage":"1759218604441","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"790000000Ki",)"
    R"("nvidia.com/gpu":"8","pods":"110"},"capacity":{"cpu":"96","ephemeral-storage":"1908874Mi",)"
    R"("hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"792321084Ki","nvidia.com/gpu":"8","pods":"110"},)"
    R"("conditions":[)";
constexpr std::string_view kCondition =
    R"({"lastHeartbeatTime":"2026-03-01T09:58:$1Z","lastTransitionTime":"2026-02-01T08:00:30Z",)"
    R"("message":"kubelet has $2","reason":"Kubelet$2","status":"$3","type":"$0"})";
constexpr std::string_view kImage =
    R"({"names":["registry.example.com/$0@sha256:$1","registry.example.com/$0:v1.$2"],"sizeBytes":$3})";
constexpr std::string_view kNodeTail =
    R"(],"nodeInfo":{"architecture":"amd64","bootID":"$0","containerRuntimeVersion":"containerd://1.7.13",)"
    R"("kernelVersion":"6.1.0-18-amd64","kubeProxyVersion":"v1.34.1","kubeletVersion":"v1.34.1",)"
    R"("machineID":"$1","operatingSystem":"linux","osImage":"Debian GNU/Linux 12",
    "systemUUID" : "$0"
}
}
})";

void append_node(std::string& out, std::int64_t index) {
  Random random(static_cast<std::uint64_t>(index), 1);
  constexpr int kImages = 25;
  const std::string name = fmt::format("gpu-node-{:05}", index), zone = std::to_string(index % 4);
  append(out, kNodeHead,
         {name, zone, std::to_string(40'000'000 + index), unique_name(random),
          fmt::format("{}.{}", index / 250, index % 250)});
  const std::string second = fmt::format("{:02}", index % 60);
  for (const auto& [type, message] : {std::pair("MemoryPressure", "SufficientMemory"),
                                      {"DiskPressure", "NoDiskPressure"},
                                      {"PIDPressure", "SufficientPID"},
                                      {"Ready", "Ready"}}) {
    if (out.back() == '}') out += ',';
    append(out, kCondition, {type, second, message, std::string_view(type) == "Ready" ? "True" : "False"});
  }
  out += R"(],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"images":[)";
  for (int i = 0; i < kImages; ++i) {
    if (i > 0) out += ',';
    append(out, kImage,
           {fmt::format("team-{}/application-{}", random.below(40), random.below(900)), hexadecimal(random, 64),
            std::to_string(random.below(50)), std::to_string(10'000'000 + random.below(9'000'000'000))});
  }
  append(out, kNodeTail, {unique_name(random), hexadecimal(random, 32)});
}

constexpr std::string_view kPodHead =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"prometheus.io/port":"9090",)"
    R"("prometheus.io/scrape":"true"},"creationTimestamp":"2026-03-01T09:$3:00Z","generateName":"$1-",)"
    R"("labels":{"app.kubernetes.io/instance":"$1","app.kubernetes.io/managed-by":"Helm",)"
    R"("app.kubernetes.io/name":"trainer","batch.kubernetes.io/job-name":"$1"$4},)"
    R"("managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1",)"
    R"("fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/port":{},)"
    R"("f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},)"
    R"("f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/name":{}},"f:ownerReferences":{".":{},)"
    R"("k:{\"uid\":\"$2\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{".":{},)"
    R"("k:{\"name\":\"RANK\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},)"
    R"("f:name":{},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},)"
    R"("f:memory":{}}}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:tolerations":{}}},)"
    R"("manager":"kube-controller-manager","operation":"Update","time":"2026-03-01T09:$3:00Z"}],)"
    R"("name":"$0","namespace":"team-$5","ownerReferences":[{"apiVersion":"batch/v1",)"
    R"("blockOwnerDeletion":true,"controller":true,"kind":"Job","name":"$1","uid":"$2"}],)"
    R"("resourceVersion":"$6","uid":"$7"},"spec":{"containers":[{"args":["--config",)"
    R"("/etc/trainer/config.yaml"],"command":["python","-m","trainer.main"],"env":[{"name":"RANK",)"
    R"("value":"0"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1",)"
    R"("fieldPath":"metadata.name"}}},{"name":"NCCL_DEBUG","value":"INFO"}],)"
    R"("image":"registry.example.com/team-1/trainer:v1.42","imagePullPolicy":"IfNotPresent","name":"main",)"
    R"("resources":{"limits":{"memory":"4Gi"$8},"requests":{"cpu":"500m","memory":"4Gi"$8}},)"
    R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
    R"("volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount",)"
    R"("name":"kube-api-access-x7k2p","readOnly":true}]}],"dnsPolicy":"ClusterFirst",)"
    R"("enableServiceLinks":true)";
constexpr std::string_view kPodSpec =
    R"(,"preemptionPolicy":"PreemptLowerPriority","priority":0,"restartPolicy":"Never",)"
    R"("schedulerName":"default-scheduler","securityContext":{},"serviceAccount":"default",)"
    R"("serviceAccountName":"default","terminationGracePeriodSeconds":30,)"
    R"("tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists",)"
    R"("tolerationSeconds":300},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable",)"
    R"("operator":"Exists","tolerationSeconds":300},{"effect":"NoSchedule","key":"nvidia.com/gpu",)"
    R"("operator":"Exists"}],"volumes":[{"name":"kube-api-access-x7k2p","projected":{"defaultMode":420,)"
    R"("sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
    R"({"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}}]}}]},)"
    R"("status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-03-01T09:$0:10Z",)";
constexpr std::string_view kRunningTail =
    R"("status":"True","type":"PodReadyToStartContainers"},{"lastProbeTime":null,)"
    R"("lastTransitionTime":"2026-03-01T09:$0:10Z","status":"True","type":"Initialized"},)"
    R"({"lastProbeTime":null,"lastTransitionTime":"2026-03-01T09:$0:12Z","status":"True","type":"Ready"},)"
    R"({"lastProbeTime":null,"lastTransitionTime":"2026-03-01T09:$0:12Z","status":"True",)"
    R"("type":"ContainersReady"},{"lastProbeTime":null,"lastTransitionTime":"2026-03-01T09:$0:10Z",)"
    R"("status":"True","type":"PodScheduled"}],"containerStatuses":[{"containerID":"containerd://$1",)"
    R"("image":"registry.example.com/team-1/trainer:v1.42",)"
    R"("imageID":"registry.example.com/team-1/trainer@sha256:$1","lastState":{},"name":"main","ready":true,)"
    R"("restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-03-01T09:$0:11Z"}}}],)"
    R"("hostIP":"10.1.2.7","hostIPs":[{"ip":"10.1.2.7"}],"phase":"Running","podIP":"10.2.3.4",)"
    R"("podIPs":[{"ip":"10.2.3.4"}],"qosClass":"Burstable","startTime":"2026-03-01T09:$0:10Z"}})";
constexpr std::string_view kPendingTail =
    R"("message":"0/5000 nodes are available: 5000 Insufficient nvidia.com/gpu. preemption: 0/5000 nodes are availa)"
    R"(ble.","reason":"Unschedulable","status":"False","type":"PodScheduled"}],"phase":"Pending",)"
    R"("qosClass":"Burstable"}})";

void append_pod(std::string& out, std::int64_t index, const KubernetesListOptions& options) {
  Random random(static_cast<std::uint64_t>(index), 2);
  constexpr std::int64_t kDevices = 8, kGangPods = 4;
  const std::int64_t pending = options.pods / 10, running = options.pods - pending;
  const bool runs = index < running;
  const bool has_device = !runs || index / options.nodes < kDevices;
  const std::string job = fmt::format("train-{:06}", index / kGangPods), minute = fmt::format("{:02}", index % 58);
  const std::string group =
      runs ? "" : fmt::format(R"(,"scheduling.x-k8s.io/pod-group":"gang-{}")", (index - running) / kGangPods);
  append(out, kPodHead,
         {fmt::format("{}-{}", job, index % kGangPods), job, unique_name(random), minute, group,
          runs ? std::to_string(index % 40) : "0", std::to_string(50'000'000 + index), unique_name(random),
          has_device ? R"(,"nvidia.com/gpu":"1")" : ""});
  if (runs) append(out, R"(,"nodeName":"$0")", {fmt::format("gpu-node-{:05}", index % options.nodes)});
  append(out, kPodSpec, {minute});
  append(out, runs ? kRunningTail : kPendingTail, {minute, hexadecimal(random, 64)});
}

void append_group(std::string& out, std::int64_t index) {
  append(out,
         R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",)"
         R"("metadata":{"creationTimestamp":"2026-03-01T09:00:00Z","name":"gang-$0","namespace":"team-0"},)"
         R"("spec":{"minMember":4},"status":{"phase":"Pending"}})",
         {std::to_string(index)});
}

// As kubectl prints: a member or an element a line, empty ones apart.
std::string indented(const std::string& text, std::int64_t indentation) {
  std::string out;
  out.reserve(text.size() * 2);
  std::int64_t depth = 0;
  bool in_string = false;
  const auto break_line = [&] { out.append("\n").append(static_cast<std::size_t>(depth * indentation), ' '); };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string || c == '"') {
      if (c == '"') in_string = !in_string;
      out += c;
      if (in_string && c == '\\') out += text[++at];
      continue;
    }
    if (c == '}' || c == ']') {
      --depth;
      if (text[at - 1] != '{' && text[at - 1] != '[') break_line();
    }
    out += c;
    if (c == ':') out += ' ';
    if (c == '{' || c == '[') {
      ++depth;
      if (text[at + 1] != '}' && text[at + 1] != ']') break_line();
    }
    if (c == ',') break_line();
  }
  return out;
}

}  // namespace

std::string kubernetes_list(const KubernetesListOptions& options) {
  MUSTER_REQUIRE(options.nodes >= 1 && options.pods / 10 * 9 <= 100 * options.nodes);
  std::string out = R"({"apiVersion":"v1","items":[)";
  const auto append_all = [&out](std::int64_t count, const auto& append_one) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (out.back() == '}') out += ',';
      append_one(i);
    }
  };
  append_all(options.nodes, [&](std::int64_t i) { append_node(out, i); });
  append_all(options.pods, [&](std::int64_t i) { append_pod(out, i, options); });
  append_all(options.pods / 10 / 4, [&](std::int64_t i) { append_group(out, i); });
  out += R"(],"kind":"List","metadata":{"resourceVersion":""}})";
  return options.indentation > 0 ? indented(out, options.indentation) : out;
}

}  // namespace muster::generator
