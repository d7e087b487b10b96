// What is refused: a table of lines with one defect each, and the code and the place that the error must name.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::muster_v1 {
namespace {

struct Broken {
  std::string line;
  const char* code;
  const char* path;
};

std::string line_with(const std::string& members) { return R"({"format":"muster/v1",)" + members + "}"; }
// The members of one pod, node, ... in addition to its name.
std::string pod(const std::string& members) { return line_with(R"("pods":[{"name":"p",)" + members + "}]"); }
std::string node(const std::string& members) { return line_with(R"("nodes":[{"name":"n",)" + members + "}]"); }
std::string queue(const std::string& members) { return line_with(R"("queues":[{"name":"q",)" + members + "}]"); }
std::string gang(const std::string& members) { return line_with(R"("gangs":[{"name":"g",)" + members + "}]"); }
std::string policy(const std::string& members) { return line_with(R"("policy":{)" + members + "}"); }
std::string affinity(const std::string& requirement) {
  return pod(
      R"("nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[)" +
      requirement + "]}]}}");
}

constexpr const char* kRequirementPath =
    "$.pods[0].nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]";

std::vector<Broken> broken_text() {
  return {
      {"", "InvalidJson", "$"},
      {"   ", "InvalidJson", "$"},
      {"{", "InvalidJson", "$"},
      {"{}}", "InvalidJson", "$"},
      {"nul", "InvalidJson", "$"},
      {R"({"format":"muster/v1",})", "InvalidJson", "$"},
      {R"({'format':'muster/v1'})", "InvalidJson", "$"},
      {R"({"format":"muster/v1"} {"format":"muster/v1"})", "InvalidJson", "$"},
      {line_with(R"("id":"a)"), "InvalidJson", "$"},
      {line_with("\"id\":\"a\tb\""), "InvalidJson", "$"},
      {line_with(R"("id":"\x")"), "InvalidJson", "$"},
      {line_with(R"("id":"\ud800")"), "InvalidJson", "$"},
      {line_with(R"("time":01)"), "InvalidJson", "$"},
      {line_with(R"("time":1.)"), "InvalidJson", "$"},
      {line_with(R"("time":+1)"), "InvalidJson", "$"},
      {line_with(R"("time":NaN)"), "InvalidJson", "$"},
      {line_with(R"("time":1e400)"), "InvalidJson", "$"},
      {line_with(R"("time":100000000000000000000)"), "InvalidJson", "$"},
      {line_with("\"id\":\"\xFF\""), "InvalidUtf8", "$"},
      {line_with("\"id\":\"\xC0\x80\""), "InvalidUtf8", "$"},
      {line_with("\"id\":\"\xED\xA0\x80\""), "InvalidUtf8", "$"},
      {"\xEF\xBB\xBF{\"format\":\"muster/v1\"}", "InvalidJson", "$"},
      {"\xFF\xFE{", "InvalidUtf8", "$"},
      {"[]", "WrongType", "$"},
      {"3", "WrongType", "$"},
      {"{}", "MissingKey", "$.format"},
      {R"({"format":3})", "WrongType", "$.format"},
      {R"({"format":"muster/v2"})", "UnsupportedFormat", "$.format"},
      {R"({"apiVersion":"v1","kind":"List","items":7})", "WrongType", "$.items"},
      {R"({"format":"muster/v1","format":"muster/v1"})", "DuplicateKey", "$.format"},
      {line_with(R"("id":7)"), "WrongType", "$.id"},
      {line_with(R"("time":"yesterday")"), "InvalidValue", "$.time"},
      {line_with(R"("time":null)"), "WrongType", "$.time"},
      {line_with(R"("nods":[])"), "UnknownKey", "$.nods"},
      {line_with(R"("a key":1)"), "UnknownKey", "$[\"a key\"]"},
      {line_with(R"("topology":"zone")"), "WrongType", "$.topology"},
      {line_with(R"("topology":["zone",""])"), "InvalidValue", "$.topology[1]"},
      {line_with(R"("topology":["zone","rack","zone"])"), "InvalidValue", "$.topology[2]"},
      {line_with(R"("pods":{})"), "WrongType", "$.pods"},
      {line_with(R"("pods":[{"name":"a"},7])"), "WrongType", "$.pods[1]"},
  };
}

std::vector<Broken> broken_nodes() {
  return {
      {line_with(R"("nodes":[{"name":"a"},{}])"), "MissingKey", "$.nodes[1].name"},
      {line_with(R"("nodes":[{"name":""}])"), "InvalidValue", "$.nodes[0].name"},
      {node(R"("unschedulable":"yes")"), "WrongType", "$.nodes[0].unschedulable"},
      {node(R"("resources":[])"), "WrongType", "$.nodes[0].resources"},
      {node(R"("resources":{"cpu":"-1"})"), "InvalidValue", "$.nodes[0].resources.cpu"},
      {node(R"("resources":{"cpu":"1K"})"), "InvalidValue", "$.nodes[0].resources.cpu"},
      {node(R"("resources":{"cpu":-1})"), "InvalidValue", "$.nodes[0].resources.cpu"},
      {node(R"("resources":{"cpu":true})"), "WrongType", "$.nodes[0].resources.cpu"},
      {node(R"("resources":{"memory":"9Ei"})"), "InvalidValue", "$.nodes[0].resources.memory"},
      {node(R"("resources":{"":1})"), "InvalidValue", "$.nodes[0].resources[\"\"]"},
      {node(R"("resources":{"rdma/hca":1,"cpu":1,"rdma/hca":1})"), "DuplicateKey",
       "$.nodes[0].resources[\"rdma/hca\"]"},
      {node(R"("gpus":{"memory":"80Gi"})"), "MissingKey", "$.nodes[0].gpus.count"},
      {node(R"("gpus":{"count":-1})"), "InvalidValue", "$.nodes[0].gpus.count"},
      {node(R"("gpus":{"count":1.5})"), "InvalidValue", "$.nodes[0].gpus.count"},
      {node(R"("gpus":{"count":"8"})"), "WrongType", "$.nodes[0].gpus.count"},
      {node(R"("gpus":{"count":1000000})"), "InvalidValue", "$.nodes[0].gpus.count"},
      {node(R"("gpus":{"count":1,"memory":"1Ki"})"), "InvalidValue", "$.nodes[0].gpus.memory"},
      {node(R"("gpus":{"count":2,"ids":["a"]})"), "InvalidValue", "$.nodes[0].gpus"},
      {node(R"("gpus":{"count":2,"ids":["a","a"]})"), "InvalidValue", "$.nodes[0].gpus.ids[1]"},
      {node(R"("labels":{"a":1})"), "WrongType", "$.nodes[0].labels.a"},
      {node(R"("labels":{"a":"1","b":"2","a":"3"})"), "DuplicateKey", "$.nodes[0].labels.a"},
      {node(R"("taints":[{"key":"a","effect":"NoRun"}])"), "InvalidValue", "$.nodes[0].taints[0].effect"},
      {node(R"("taints":[{"key":"a"}])"), "MissingKey", "$.nodes[0].taints[0].effect"},
      {node(R"("taints":[{"effect":"NoSchedule"}])"), "MissingKey", "$.nodes[0].taints[0].key"},
      {node(R"("name":"again")"), "DuplicateKey", "$.nodes[0].name"},
      {node(R"("gpu":{"count":1})"), "UnknownKey", "$.nodes[0].gpu"},
  };
}

std::vector<Broken> broken_queues_and_gangs() {
  return {
      {queue(R"("gpu":{"quota":-1})"), "InvalidValue", "$.queues[0].gpu.quota"},
      {queue(R"("gpu":{"quota":"infinite"})"), "InvalidValue", "$.queues[0].gpu.quota"},
      {queue(R"("gpu":{"quota":1e15})"), "InvalidValue", "$.queues[0].gpu.quota"},
      {queue(R"("cpu":{"limit":[]})"), "WrongType", "$.queues[0].cpu.limit"},
      {queue(R"("resources":[])"), "WrongType", "$.queues[0].resources"},
      {queue(R"("resources":{"pods":2})"), "WrongType", "$.queues[0].resources.pods"},
      {queue(R"("resources":{"pods":{"limit":-1}})"), "InvalidValue", "$.queues[0].resources.pods.limit"},
      {queue(R"("resources":{"pods":{"weight":1}})"), "UnknownKey", "$.queues[0].resources.pods.weight"},
      {queue(R"("resources":{"gpu":{"limit":1}})"), "InvalidValue", "$.queues[0].resources.gpu"},
      {queue(R"("resources":{"pods":{},"pods":{}})"), "DuplicateKey", "$.queues[0].resources.pods"},
      {queue(R"("memory":{"weight":-0.5})"), "InvalidValue", "$.queues[0].memory.weight"},
      {queue(R"("memory":{"weight":"1"})"), "WrongType", "$.queues[0].memory.weight"},
      {queue(R"("gpu":4)"), "WrongType", "$.queues[0].gpu"},
      {queue(R"("priority":1.5)"), "InvalidValue", "$.queues[0].priority"},
      {queue(R"("priority":3000000000)"), "InvalidValue", "$.queues[0].priority"},
      {queue(R"("parent":"")"), "InvalidValue", "$.queues[0].parent"},
      {queue(R"("preemptMinRuntime":"5")"), "InvalidValue", "$.queues[0].preemptMinRuntime"},
      {queue(R"("reclaimMinRuntime":-1)"), "InvalidValue", "$.queues[0].reclaimMinRuntime"},
      {queue(R"("reclaimable":"no")"), "WrongType", "$.queues[0].reclaimable"},
      {line_with(R"("priorityClasses":[{"name":"c"}])"), "MissingKey", "$.priorityClasses[0].value"},
      {line_with(R"("priorityClasses":[{"name":"c","value":"1"}])"), "WrongType", "$.priorityClasses[0].value"},
      {line_with(R"("priorityClasses":[{"name":"c","value":1,"preemptionPolicy":"Always"}])"), "InvalidValue",
       "$.priorityClasses[0].preemptionPolicy"},
      {gang(R"("minMember":-1)"), "InvalidValue", "$.gangs[0].minMember"},
      {gang(R"("minMember":2.5)"), "InvalidValue", "$.gangs[0].minMember"},
      {gang(R"("minMember":4294967297)"), "InvalidValue", "$.gangs[0].minMember"},
      {gang(R"("minMember":1,"subgroups":[{"name":"s"}])"), "InvalidValue", "$.gangs[0]"},
      {gang(R"("minSubgroups":1)"), "InvalidValue", "$.gangs[0]"},
      {gang(R"("disruption":"none")"), "InvalidValue", "$.gangs[0].disruption"},
      {gang(R"("disruption":"whole","subgroups":[{"name":"s"}])"), "InvalidValue", "$.gangs[0]"},
      {gang(R"("subgroups":[{"minMember":1}])"), "MissingKey", "$.gangs[0].subgroups[0].name"},
      {gang(R"("subgroups":[{"name":"s","minMember":1,"minSubgroups":1}])"), "InvalidValue", "$.gangs[0].subgroups[0]"},
      {gang(R"("weight":0)"), "InvalidValue", "$.gangs[0].weight"},
      {gang(R"("weight":-2)"), "InvalidValue", "$.gangs[0].weight"},
      {gang(R"("timeout":"soon")"), "InvalidValue", "$.gangs[0].timeout"},
      {gang(R"("stalenessGracePeriod":"Never")"), "InvalidValue", "$.gangs[0].stalenessGracePeriod"},
      {gang(R"("preemptionPolicy":"never")"), "InvalidValue", "$.gangs[0].preemptionPolicy"},
      {gang(R"("minResources":{"gpu":-1})"), "InvalidValue", "$.gangs[0].minResources.gpu"},
      {gang(R"("minResources":{"gpu":1,"gpu":2})"), "DuplicateKey", "$.gangs[0].minResources.gpu"},
      {gang(R"("topology":{"require":"zone"})"), "UnknownKey", "$.gangs[0].topology.require"},
      {gang(R"("topology":"zone")"), "WrongType", "$.gangs[0].topology"},
      {gang(R"("created":"2026-13-01T00:00:00Z")"), "InvalidValue", "$.gangs[0].created"},
      {gang(R"("preemptible":1)"), "WrongType", "$.gangs[0].preemptible"},
      {policy(R"("actions":["place","destroy"])"), "InvalidValue", "$.policy.actions[1]"},
      {policy(R"("placement":"tight")"), "InvalidValue", "$.policy.placement"},
      {policy(R"("maxMoves":-1)"), "InvalidValue", "$.policy.maxMoves"},
      {policy(R"("agingInterval":-5)"), "InvalidValue", "$.policy.agingInterval"},
      {policy(R"("overTime":{"order":"age"})"), "InvalidValue", "$.policy.overTime.order"},
      {policy(R"("overTime":{"reserveAfter":"soon"})"), "InvalidValue", "$.policy.overTime.reserveAfter"},
      {policy(R"("overTime":{"evictionPrice":-1})"), "InvalidValue", "$.policy.overTime.evictionPrice"},
      {policy(R"("overTime":{"usageFactor":-1})"), "InvalidValue", "$.policy.overTime.usageFactor"},
      {policy(R"("overTime":{"usageFactor":"1"})"), "WrongType", "$.policy.overTime.usageFactor"},
      {queue(R"("gpu":{"usage":-1})"), "InvalidValue", "$.queues[0].gpu.usage"},
      {queue(R"("cpu":{"usage":"unlimited"})"), "InvalidValue", "$.queues[0].cpu.usage"},
      {gang(R"("checkpointed":"never")"), "InvalidValue", "$.gangs[0].checkpointed"},
      {policy(R"("overTime":{"holds":-1})"), "InvalidValue", "$.policy.overTime.holds"},
      {policy(R"("overTime":{"holds":"all"})"), "WrongType", "$.policy.overTime.holds"},
      {policy(R"("overTime":{"hold":3})"), "UnknownKey", "$.policy.overTime.hold"},
      {policy(R"("expectedDurations":{})"), "WrongType", "$.policy.expectedDurations"},
      {policy(R"("expectedDurations":[{"gpus":[1],"count":1}])"), "MissingKey", "$.policy.expectedDurations[0].mean"},
      {policy(R"("expectedDurations":[{"gpus":[],"count":1,"mean":1}])"), "InvalidValue",
       "$.policy.expectedDurations[0].gpus"},
      {policy(R"("expectedDurations":[{"gpus":[0,1],"count":1,"mean":1}])"), "InvalidValue",
       "$.policy.expectedDurations[0].gpus[0]"},
      {policy(R"("expectedDurations":[{"gpus":[4,3],"count":1,"mean":1}])"), "InvalidValue",
       "$.policy.expectedDurations[0].gpus[1]"},
      {policy(R"("expectedDurations":[{"gpus":[1],"count":-1,"mean":1}])"), "InvalidValue",
       "$.policy.expectedDurations[0].count"},
      {gang(R"("expectedDuration":0)"), "InvalidValue", "$.gangs[0].expectedDuration"},
      {gang(R"("expectedEnd":"later")"), "InvalidValue", "$.gangs[0].expectedEnd"},
      {policy(R"("budget":"200")"), "InvalidValue", "$.policy.budget"},
      {policy(R"("expectedWorkload":[{"weight":1}])"), "MissingKey", "$.policy.expectedWorkload[0].pod"},
      {policy(R"("expectedWorkload":[{"pod":{"name":"p"}}])"), "UnknownKey", "$.policy.expectedWorkload[0].pod.name"},
      {policy(R"("expectedWorkload":[{"pod":{},"weight":-1}])"), "InvalidValue", "$.policy.expectedWorkload[0].weight"},
      {policy(R"("expectedWorkload":[{"pod":{"template":"t"}}])"), "UnknownName",
       "$.policy.expectedWorkload[0].pod.template"},
  };
}

std::vector<Broken> broken_pods() {
  return {
      {pod(R"("gpu":{"count":1,"memory":"4000Mi"})"), "InvalidValue", "$.pods[0].gpu"},
      {pod(R"("gpu":{"count":1,"fraction":0.5})"), "InvalidValue", "$.pods[0].gpu"},
      {pod(R"("gpu":{"fraction":0.5,"memory":"1Gi"})"), "InvalidValue", "$.pods[0].gpu"},
      {pod(R"("gpu":{})"), "MissingKey", "$.pods[0].gpu.count"},
      {pod(R"("gpu":{"devices":1})"), "MissingKey", "$.pods[0].gpu.count"},
      {pod(R"("gpu":{"count":1,"devices":1})"), "InvalidValue", "$.pods[0].gpu.devices"},
      {pod(R"("gpu":{"count":-1})"), "InvalidValue", "$.pods[0].gpu.count"},
      {pod(R"("gpu":{"count":0.5})"), "InvalidValue", "$.pods[0].gpu.count"},
      {pod(R"("gpu":{"fraction":0})"), "InvalidValue", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":1.000001})"), "InvalidValue", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":-0.5})"), "InvalidValue", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":0.1234567})"), "InvalidValue", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":0.30000000000000004})"), "InvalidValue", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":"0.5"})"), "WrongType", "$.pods[0].gpu.fraction"},
      {pod(R"("gpu":{"fraction":0.5,"devices":0})"), "InvalidValue", "$.pods[0].gpu.devices"},
      {pod(R"("gpu":{"memory":0})"), "InvalidValue", "$.pods[0].gpu.memory"},
      {pod(R"("gpu":2)"), "WrongType", "$.pods[0].gpu"},
      {pod(R"("gpuModels":"H100")"), "WrongType", "$.pods[0].gpuModels"},
      {pod(R"("status":"Running")"), "InvalidValue", "$.pods[0].status"},
      {pod(R"("status":"running")"), "MissingKey", "$.pods[0].node"},
      {pod(R"("status":"releasing")"), "MissingKey", "$.pods[0].node"},
      {pod(R"("status":"pending","node":"n")"), "InvalidValue", "$.pods[0].status"},
      {pod(R"("status":"gated","node":"n")"), "InvalidValue", "$.pods[0].status"},
      {pod(R"("held":"why","node":"n")"), "InvalidValue", "$.pods[0].held"},
      {pod(R"("held":"why","status":"succeeded")"), "InvalidValue", "$.pods[0].held"},
      {pod(R"("held":"")"), "InvalidValue", "$.pods[0].held"},
      {pod(R"("owner":"")"), "InvalidValue", "$.pods[0].owner"},
      {pod(R"("owner":"train")"), "InvalidValue", "$.pods[0].owner"},
      {pod(R"("owner":"/train")"), "InvalidValue", "$.pods[0].owner"},
      {pod(R"("owner":"Job/")"), "InvalidValue", "$.pods[0].owner"},
      {pod(R"("owner":"Job/a/b")"), "InvalidValue", "$.pods[0].owner"},
      {pod(R"("owner":7)"), "WrongType", "$.pods[0].owner"},
      {pod(R"("node":"")"), "InvalidValue", "$.pods[0].node"},
      {pod(R"("gpus":[0])"), "InvalidValue", "$.pods[0].gpus"},
      {pod(R"("node":"n","gpus":[0])"), "InvalidValue", "$.pods[0].gpus"},
      {pod(R"("node":"n","gpu":{"count":2},"gpus":[1,1])"), "InvalidValue", "$.pods[0].gpus"},
      {pod(R"("node":"n","gpu":{"count":1},"gpus":[-1])"), "InvalidValue", "$.pods[0].gpus[0]"},
      {pod(R"("node":"n","gpu":{"count":1},"gpus":["GPU-0"])"), "WrongType", "$.pods[0].gpus[0]"},
      {pod(R"("subgroup":"s")"), "InvalidValue", "$.pods[0].subgroup"},
      {pod(R"("gang":"g","queue":"q")"), "InvalidValue", "$.pods[0].queue"},
      {pod(R"("gang":"g","priority":3)"), "InvalidValue", "$.pods[0].priority"},
      {pod(R"("weight":1,"gang":"g")"), "InvalidValue", "$.pods[0].weight"},
      {pod(R"("weight":0)"), "InvalidValue", "$.pods[0].weight"},
      {pod(R"("template":"t")"), "UnknownName", "$.pods[0].template"},
      {pod(R"("template":1)"), "WrongType", "$.pods[0].template"},
      {pod(R"("minMember":1)"), "UnknownKey", "$.pods[0].minMember"},
      {pod(R"("labels":{"a":"1","a":"1"})"), "DuplicateKey", "$.pods[0].labels.a"},
      {pod(R"("nodeSelector":{"a":null})"), "WrongType", "$.pods[0].nodeSelector.a"},
      {pod(R"("namespace":"")"), "InvalidValue", "$.pods[0].namespace"},
      {pod(R"("started":false)"), "WrongType", "$.pods[0].started"},
      {pod(R"("resources":{"cpu":"0.5.1"})"), "InvalidValue", "$.pods[0].resources.cpu"},
      {line_with(R"("podTemplates":{"t":{"podAntiAffinity":[]}})"), "UnknownKey", "$.podTemplates.t.podAntiAffinity"},
      {line_with(R"("podTemplates":{"t":{},"t":{}})"), "DuplicateKey", "$.podTemplates.t"},
      {line_with(R"("podTemplates":{"t":{"gpu":{"count":1,"memory":1}}})"), "InvalidValue", "$.podTemplates.t.gpu"},
      {line_with(
           R"("podTemplates":{"t":{"gpu":{"count":1}}},"pods":[{"name":"p","template":"t","gpu":{"fraction":2}}])"),
       "InvalidValue", "$.pods[0].gpu.fraction"},
  };
}

std::vector<Broken> broken_kubernetes_parts() {
  static const std::string kAt = kRequirementPath;
  static const std::string kAtOperator = kAt + ".operator", kAtKey = kAt + ".key";
  return {
      {affinity(R"({"key":"a","operator":"in","values":["b"]})"), "InvalidValue", kAtOperator.c_str()},
      {affinity(R"({"operator":"Exists"})"), "MissingKey", kAtKey.c_str()},
      {affinity(R"({"key":"a","operator":"In"})"), "InvalidValue", kRequirementPath},
      {affinity(R"({"key":"a","operator":"NotIn","values":[]})"), "InvalidValue", kRequirementPath},
      {affinity(R"({"key":"a","operator":"Exists","values":["b"]})"), "InvalidValue", kRequirementPath},
      {affinity(R"({"key":"a","operator":"Gt","values":["1","2"]})"), "InvalidValue", kRequirementPath},
      {affinity(R"({"key":"a","operator":"Gt","values":["1.5"]})"), "InvalidValue", kRequirementPath},
      {affinity(R"({"key":"a","operator":"Lt","values":["x"]})"), "InvalidValue", kRequirementPath},
      {pod(R"("nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}})"), "MissingKey",
       "$.pods[0].nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
      {pod(R"("nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"preference":{}}]})"),
       "InvalidValue", "$.pods[0].nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
      {pod(R"("nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"preference":{}}]})"),
       "InvalidValue", "$.pods[0].nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
      {pod(R"("nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchFields":[{"key":"spec.x","operator":"In","values":["n"]}]}}]})"),
       "InvalidValue",
       "$.pods[0].nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0]"},
      {pod(R"("nodeAffinity":{"required":[]})"), "UnknownKey", "$.pods[0].nodeAffinity.required"},
      {pod(R"("tolerations":[{"operator":"Equal"}])"), "InvalidValue", "$.pods[0].tolerations[0]"},
      {pod(R"("tolerations":[{"key":"a","operator":"Exists","value":"b"}])"), "InvalidValue",
       "$.pods[0].tolerations[0]"},
      {pod(R"("tolerations":[{"key":"a","operator":"Is"}])"), "InvalidValue", "$.pods[0].tolerations[0].operator"},
      {pod(R"("tolerations":[{"key":"a","effect":"Never"}])"), "InvalidValue", "$.pods[0].tolerations[0].effect"},
      {pod(R"("tolerations":{"key":"a"})"), "WrongType", "$.pods[0].tolerations"},
      {pod(R"("podAntiAffinity":{"matchGang":true})"), "MissingKey", "$.pods[0].podAntiAffinity.topologyKey"},
      {pod(R"("podAntiAffinity":{"topologyKey":"z","matchGang":false})"), "InvalidValue",
       "$.pods[0].podAntiAffinity.matchGang"},
      {pod(R"("podAntiAffinity":{"topologyKey":"z","matchGang":true,"labelSelector":{}})"), "InvalidValue",
       "$.pods[0].podAntiAffinity"},
      {pod(R"("podAntiAffinity":[{"topologyKey":"z","namespaceSelector":"all"}])"), "WrongType",
       "$.pods[0].podAntiAffinity[0].namespaceSelector"},
      {pod(R"("podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"podAffinityTerm":{"topologyKey":"z"}}]})"),
       "InvalidValue", "$.pods[0].podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
      {pod(R"("topologySpread":[{"maxSkew":0,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])"), "InvalidValue",
       "$.pods[0].topologySpread[0].maxSkew"},
      {pod(R"("topologySpread":[{"maxSkew":1,"topologyKey":"z"}])"), "MissingKey",
       "$.pods[0].topologySpread[0].whenUnsatisfiable"},
      {pod(R"("topologySpread":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","minDomains":2}])"),
       "InvalidValue", "$.pods[0].topologySpread[0]"},
      {pod(R"("podAntiAffinity":[{"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}}])"),
       "InvalidValue", "$.pods[0].podAntiAffinity[0].labelSelector.matchExpressions[0]"},
      {pod(R"("podAntiAffinity":"host")"), "WrongType", "$.pods[0].podAntiAffinity"},
  };
}

void expect_refused(const std::vector<Broken>& table) {
  SnapshotReader reader;
  for (const Broken& broken : table) {
    const auto snapshot = reader.read(broken.line);
    ASSERT_FALSE(snapshot) << broken.line;
    EXPECT_EQ(error_code_text(snapshot.error().code), broken.code) << broken.line << "\n" << snapshot.error().message;
    EXPECT_EQ(snapshot.error().path, broken.path) << broken.line << "\n" << snapshot.error().message;
    EXPECT_FALSE(snapshot.error().message.empty()) << broken.line;
  }
}

TEST(BrokenLines, OfBrokenTextAreRefused) { expect_refused(broken_text()); }
TEST(BrokenLines, WithBrokenNodesAreRefused) { expect_refused(broken_nodes()); }
TEST(BrokenLines, WithBrokenQueuesGangsOrPolicyAreRefused) { expect_refused(broken_queues_and_gangs()); }
TEST(BrokenLines, WithBrokenPodsAreRefused) { expect_refused(broken_pods()); }
TEST(BrokenLines, WithBrokenKubernetesPartsAreRefused) { expect_refused(broken_kubernetes_parts()); }

TEST(BrokenLines, ThatAskForTwoKindsOfGpuAreToldSoInTheWordsOfTheContract) {
  SnapshotReader reader;
  for (const char* gpu : {R"({"count":1,"memory":"1Gi"})", R"({"fraction":0.5,"memory":"1Gi"})",
                          R"({"count":1,"fraction":0.5})", R"({"count":1,"fraction":0.5,"memory":1})"}) {
    const auto snapshot = reader.read(pod(std::string(R"("gpu":)") + gpu));
    ASSERT_FALSE(snapshot) << gpu;
    EXPECT_NE(snapshot.error().message.find("cannot request both GPU and GPU memory"), std::string::npos) << gpu;
  }
}

TEST(BrokenLines, LongerThanTheLimitAreTooLarge) {
  SnapshotReader reader({.max_line_bytes = 30});
  EXPECT_TRUE(reader.read(R"({"format":"muster/v1"})"));
  const auto snapshot = reader.read(R"({"format":"muster/v1","id":"a long one"})");
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(error_code_text(snapshot.error().code), "TooLarge");
}

std::string nested(std::size_t depth) {
  return line_with(R"("x":)" + std::string(depth - 1, '[') + "1" + std::string(depth - 1, ']'));
}

TEST(BrokenLines, NestedDeeperThanTheLimitAreTooDeep) {
  SnapshotReader reader({.lenient = true, .max_depth = 10});
  EXPECT_TRUE(reader.read(nested(10)));
  for (const std::size_t depth : {std::size_t{11}, std::size_t{100'000}}) {
    const auto snapshot = reader.read(nested(depth));
    ASSERT_FALSE(snapshot) << depth;
    EXPECT_EQ(error_code_text(snapshot.error().code), "TooDeep") << depth;
  }
}

TEST(BrokenLines, WithTooManyResourcesAreTooLarge) {
  std::string resources;
  for (int i = 0; i < 1100; ++i) resources += (i == 0 ? "\"r" : ",\"r") + std::to_string(i) + "\":1";
  const auto snapshot = SnapshotReader().read(node("\"resources\":{" + resources + "}"));
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(error_code_text(snapshot.error().code), "TooLarge");
}

TEST(BrokenLines, LeaveTheReaderFitForTheNext) {
  SnapshotReader reader;
  for (const Broken& broken : broken_text()) {
    EXPECT_FALSE(reader.read(broken.line));
    const auto snapshot = reader.read(pod(R"("gpu":{"fraction":0.5})"));
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->pods.size(), 1U);
  }
}

TEST(BrokenLines, CutAnywhereOrWithAByteChangedNeverBreakTheReader) {
  const std::string line =
      pod(R"("gpu":{"fraction":0.5},"labels":{"a":"b"},"tolerations":[{"key":"a"}],"created":1.5e3)");
  SnapshotReader reader;
  for (std::size_t cut = 0; cut < line.size(); ++cut)
    EXPECT_FALSE(reader.read(std::string_view(line).substr(0, cut))) << cut;
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (const char c : {'"', '\\', '{', '}', '[', ',', ':', '0', '\0', '\x80', ' '}) {
      std::string changed = line;
      changed[at] = c;
      const auto snapshot = reader.read(changed);
      EXPECT_TRUE(snapshot || !error_code_text(snapshot.error().code).empty());
      static_cast<void>(SnapshotReader::id_of(changed));
    }
  }
}

TEST(LenientReading, PassesOverUnknownKeysButNotOverDuplicateOnes) {
  SnapshotReader reader({.lenient = true});
  const auto snapshot = reader.read(line_with(R"("x":{"y":[{"z":1}]},"pods":[{"name":"p","color":"red"}])"));
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->pods.size(), 1U);
  const std::vector<Broken> table = {{line_with(R"("x":1,"x":2)"), "DuplicateKey", "$.x"},
                                     {line_with(R"("x":{"y":[{"z":1,"z":2}]})"), "DuplicateKey", "$.x.y[0].z"},
                                     {pod(R"("color":"red","color":"red")"), "DuplicateKey", "$.pods[0].color"},
                                     {pod(R"("gpu":{"count":"1"})"), "WrongType", "$.pods[0].gpu.count"}};
  for (const Broken& broken : table) {
    const auto refused = reader.read(broken.line);
    ASSERT_FALSE(refused) << broken.line;
    EXPECT_EQ(error_code_text(refused.error().code), broken.code);
    EXPECT_EQ(refused.error().path, broken.path);
  }
}

}  // namespace
}  // namespace muster::muster_v1
