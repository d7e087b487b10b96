#include "test/cli/odd_objects.h"

#include <algorithm>
#include <map>

namespace muster::cli {
namespace {

using Test = std::function<bool(const Json&)>;
using Made = std::optional<Mutant>;

bool is_on_node(const Json& pod) {
  const std::string status = pod.value("status", pod.contains("node") ? "running" : "pending");
  return status == "running" || status == "releasing";
}
std::string status_of(const Json& pod) { return pod.value("status", pod.contains("node") ? "running" : "pending"); }
bool runs(const Json& pod) { return status_of(pod) == "running"; }
bool is_pending(const Json& pod) { return status_of(pod) == "pending"; }
bool has_gang(const Json& pod) { return pod.contains("gang"); }

// A position of the list at which `test` holds.
std::optional<std::size_t> pick(const Json& snapshot, const char* list, Draws& draws, const Test& test) {
  if (!snapshot.contains(list)) return {};
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < snapshot[list].size(); ++i) {
    if (test(snapshot[list][i])) positions.push_back(i);
  }
  if (positions.empty()) return {};
  return positions[draws.below(positions.size())];
}

bool any(const Json&) { return true; }

void gate_gang(Json& snapshot, const std::string& gang) {
  for (Json& known : snapshot["gangs"]) {
    if (known["name"] != gang) continue;
    known["preemptible"] = false;
    known["stalenessGracePeriod"] = "never";
  }
  for (Json& pod : snapshot["pods"]) {
    if (pod.value("gang", "") == gang && is_pending(pod)) pod["status"] = "gated";
  }
}

// The pod's gang as the reader holds it.
void gate_gang_of(Json& snapshot, const Json& pod) {
  const std::string gang = pod.value("gang", ""), name = pod["name"];
  if (!gang.empty()) return gate_gang(snapshot, gang);
  for (Json& other : snapshot["pods"]) {
    if (other["name"] != name) continue;
    if (is_pending(other)) other["status"] = "gated";
    other["preemptible"] = false;
  }
}

// Changes one object of the list in the snapshot, and the members of `settle` in the reference.
struct Change {
  const char* list;
  const char* object;
  Test test;
  std::function<void(Json& snapshot, Json& element)> breaks;
  std::function<void(Json& snapshot, Json& element)> settles;  // empty: no reference
};

Mutation change(std::string what, Change change) {
  return {std::move(what), [change](const Json& snapshot, Draws& draws) -> Made {
            const auto at = pick(snapshot, change.list, draws, change.test);
            if (!at) return {};
            Mutant mutant{snapshot, change.object, snapshot[change.list][*at]["name"], {}};
            change.breaks(mutant.snapshot, mutant.snapshot[change.list][*at]);
            if (change.settles) {
              Json reference = snapshot;
              change.settles(reference, reference[change.list][*at]);
              mutant.reference = std::move(reference);
            }
            return mutant;
          }};
}

void nothing(Json&, Json&) {}
void cordon(Json&, Json& node) { node["unschedulable"] = true; }
void hold(Json& snapshot, Json& pod) { gate_gang_of(snapshot, Json(pod)); }
void hold_gang(Json& snapshot, Json& gang) { gate_gang(snapshot, gang["name"]); }

// The element once more, at the end.
Mutation twice(const char* list, const char* object, const Test& test) {
  return change(std::string(object) + " twice", {list, object, test,
                                                 [list](Json& snapshot, Json& element) {
                                                   Json copy = element;
                                                   snapshot[list].push_back(std::move(copy));
                                                 },
                                                 nothing});
}

// --- Nodes

// The pods that run on each node, if the pods themselves give it in plain numbers.
std::map<std::string, Json> residents(const Json& snapshot) {
  std::map<std::string, Json> all;
  for (const Json& pod : snapshot["pods"]) {
    if (is_on_node(pod)) all[pod["node"]].push_back(pod);
  }
  return all;
}

bool has_releasing(const Json& residents) {
  return std::ranges::any_of(residents, [](const Json& pod) { return !runs(pod); });
}

// A node that is full of what it lacks: no pod leaves, so that nothing of it becomes free.
void place_only(Json& snapshot) { snapshot["policy"]["actions"] = Json::array({"place"}); }

// A running pod asks for what its node does not have, or has too little of.
Mutation exceeding(std::string what, std::string resource, std::int64_t amount) {
  return {std::move(what), [=](const Json& snapshot, Draws& draws) -> Made {
            const auto at = pick(snapshot, "pods", draws, runs);
            if (!at) return {};
            const std::string node = snapshot["pods"][*at]["node"];
            Mutant mutant{snapshot, "node", node, {}};
            Json& broken = mutant.snapshot["pods"][*at];
            if (broken.contains("template") && !broken.contains("resources")) return {};
            broken["resources"][resource] = amount;
            if (resource == "cpu") return mutant;
            Json reference = mutant.snapshot;  // no other pod asks for it
            for (Json& other : reference["nodes"]) {
              if (other["name"] == node) other["resources"][resource] = amount;
            }
            mutant.reference = std::move(reference);
            return mutant;
          }};
}

Mutation too_few(std::string what, std::string resource) {
  return {std::move(what), [=](const Json& snapshot, Draws& draws) -> Made {
            const auto all = residents(snapshot);
            const auto asks = [&](const Json& node) {
              const auto at = all.find(node["name"]);
              return at != all.end() && std::ranges::any_of(at->second, [&](const Json& pod) {
                       return resource == "pods" || (pod.contains("resources") && pod["resources"].contains(resource));
                     });
            };
            const auto at = pick(snapshot, "nodes", draws, asks);
            if (!at) return {};
            Mutant mutant{snapshot, "node", snapshot["nodes"][*at]["name"], {}};
            mutant.snapshot["nodes"][*at]["resources"][resource] = 0;
            if (resource != "pods" || has_releasing(all.at(mutant.name))) return mutant;
            place_only(mutant.snapshot);
            mutant.reference = mutant.snapshot;
            (*mutant.reference)["nodes"][*at]["resources"][resource] = all.at(mutant.name).size();
            return mutant;
          }};
}

Mutation too_few_devices() {
  return {"fewer devices than its pods use", [](const Json& snapshot, Draws& draws) -> Made {
            const auto all = residents(snapshot);
            const auto uses = [&](const Json& node) {
              const auto at = all.find(node["name"]);
              return at != all.end() && node.contains("gpus") &&
                     std::ranges::any_of(at->second, [](const Json& pod) { return pod.contains("gpu"); });
            };
            const auto at = pick(snapshot, "nodes", draws, uses);
            if (!at) return {};
            Mutant mutant{snapshot, "node", snapshot["nodes"][*at]["name"], {}};
            Json& gpus = mutant.snapshot["nodes"][*at]["gpus"];
            gpus.erase("ids");
            gpus["count"] = 0;
            if (has_releasing(all.at(mutant.name))) return mutant;
            std::size_t devices = 0;
            for (const Json& pod : all.at(mutant.name)) {
              if (!pod.contains("gpu")) continue;
              if (!pod["gpu"].contains("count")) return mutant;
              devices += pod["gpu"]["count"].get<std::size_t>();
            }
            place_only(mutant.snapshot);
            mutant.reference = mutant.snapshot;
            (*mutant.reference)["nodes"][*at]["gpus"]["count"] = devices;
            for (Json& pod : (*mutant.reference)["pods"]) {
              if (pod.value("node", "") == mutant.name) pod.erase("gpus");
            }
            return mutant;
          }};
}

bool is_whole(const Json& pod) { return runs(pod) && pod.contains("gpu") && pod["gpu"].contains("count"); }

// --- All of them

std::vector<Mutation> of_nodes() {
  return {
      too_few("less cpu than its pods ask for", "cpu"),
      too_few("less memory than its pods ask for", "memory"),
      too_few("fewer pods than run there", "pods"),
      too_few_devices(),
      exceeding("an extended resource that the node does not show", "example.com/fpga", 2),
      exceeding("a running pod of a million cores", "cpu", 1'000'000),
      twice("nodes", "node", any),
      change("a node's unknown key", {"nodes", "node", any, [](Json&, Json& node) { node["colour"] = "red"; }, cordon}),
      change("a node's cpu is a list",
             {"nodes", "node", any, [](Json&, Json& node) { node["resources"]["cpu"] = Json::array({1}); }, {}}),
      change("a taint of no known effect", {"nodes",
                                            "node",
                                            any,
                                            [](Json&, Json& node) {
                                              node["taints"].push_back({{"key", "k"}, {"effect", "Perhaps"}});
                                            },
                                            {}}),
      change("a negative number of devices", {"nodes",
                                              "node",
                                              any,
                                              [](Json&, Json& node) {
                                                node["gpus"] = {{"count", -1}};
                                              },
                                              {}}),
      change("an unclear node", {"nodes", "node", any, [](Json&, Json& node) { node["unclear"] = "why"; }, cordon})};
}

void run_nowhere(Json&, Json& pod) {
  const bool releasing = pod.value("status", "") == "releasing";
  pod.erase("node");
  pod.erase("gpus");
  pod["status"] = releasing ? "failed" : "succeeded";
}

std::vector<Mutation> of_running_pods() {
  const auto on_device = [](Json list) { return [list](Json&, Json& pod) { pod["gpus"] = list; }; };
  return {
      change("a pod on a node that is not there",
             {"pods", "pod", is_on_node, [](Json&, Json& pod) { pod["node"] = "gone-for-ever"; }, run_nowhere}),
      change("a running pod without a node", {"pods", "pod", is_on_node,
                                              [](Json&, Json& pod) {
                                                pod["status"] = pod.value("status", "running");
                                                pod.erase("node");
                                              },
                                              run_nowhere}),
      change("a device beyond those of the node", {"pods", "pod", is_whole, on_device({99'999}), {}}),
      change("a device listed twice by one pod", {"pods", "pod", is_whole, on_device({0, 0}), {}}),
      change("more devices listed than asked for",
             {"pods", "pod", is_whole, on_device({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), {}}),
      change("a running pod whose request is no quantity", {"pods",
                                                            "pod",
                                                            runs,
                                                            [](Json&, Json& pod) {
                                                              pod["resources"] = {{"cpu", "much"}};
                                                            },
                                                            {}}),
      twice("pods", "pod", is_on_node),
      change("a pod that runs on two nodes", {"pods",
                                              "pod",
                                              runs,
                                              [](Json& snapshot, Json& pod) {
                                                Json copy = pod;
                                                copy["node"] = snapshot["nodes"].back()["name"];
                                                copy.erase("gpus");
                                                snapshot["pods"].push_back(std::move(copy));
                                              },
                                              {}}),
      change("an unclear pod that runs", {"pods", "pod", runs, [](Json&, Json& pod) { pod["unclear"] = "why"; }, {}})};
}

std::vector<Mutation> of_waiting_pods() {
  const auto set = [](const char* key, Json value) { return [key, value](Json&, Json& pod) { pod[key] = value; }; };
  return {twice("pods", "pod", is_pending),
          change("an unknown key of a pod that waits", {"pods", "pod", is_pending, set("colour", "red"), hold}),
          change("a request for devices of two kinds",
                 {"pods", "pod", is_pending, set("gpu", {{"count", 1}, {"fraction", 0.5}}), hold}),
          change("a template that is not there", {"pods", "pod", is_pending, set("template", "nowhere"), hold}),
          change("a pod that is a list of numbers in its labels",
                 {"pods", "pod", is_pending, set("labels", Json::array({1, 2})), hold}),
          change("a subgroup without a gang",
                 {"pods", "pod", [](const Json& pod) { return is_pending(pod) && !has_gang(pod); },
                  set("subgroup", "s"), nothing}),
          change("terms of its own beside a gang",
                 {"pods", "pod", [](const Json& pod) { return is_pending(pod) && has_gang(pod); }, set("priority", 7),
                  nothing}),
          change("a pod that waits and has a node", {"pods",
                                                     "pod",
                                                     is_pending,
                                                     [](Json& snapshot, Json& pod) {
                                                       pod["status"] = "pending";
                                                       pod["node"] = snapshot["nodes"][0]["name"];
                                                     },
                                                     {}}),
          change("an unclear pod that waits", {"pods", "pod", is_pending, set("unclear", "why"), hold})};
}

std::vector<Mutation> of_gangs_and_queues() {
  const auto gangs_pod = [](const Json& pod) { return is_pending(pod) && has_gang(pod); };
  return {twice("gangs", "gang", any),
          twice("queues", "queue", any),
          twice("priorityClasses", "priorityClass", any),
          change("a subgroup that the gang has not",
                 {"pods", "pod", gangs_pod, [](Json&, Json& pod) { pod["subgroup"] = "nowhere"; },
                  [](Json& snapshot, Json& pod) { gate_gang(snapshot, pod["gang"]); }}),
          change("a level that the topology has not", {"gangs", "gang", any,
                                                       [](Json&, Json& gang) {
                                                         gang["topology"] = {{"required", "nowhere"}};
                                                       },
                                                       hold_gang}),
          change("a gang's minimum that is no number",
                 {"gangs", "gang", any, [](Json&, Json& gang) { gang["minMember"] = "all"; }, hold_gang}),
          change("an unknown key of a gang",
                 {"gangs", "gang", any, [](Json&, Json& gang) { gang["colour"] = "red"; }, hold_gang}),
          change("a priority class that is not there", {"gangs", "gang", any,
                                                        [](Json&, Json& gang) {
                                                          gang.erase("priority");
                                                          gang["priorityClass"] = "nowhere";
                                                        },
                                                        [](Json&, Json& gang) {
                                                          gang.erase("priorityClass");
                                                          gang["priority"] = 0;
                                                          gang["preemptible"] = false;
                                                          gang["preemptionPolicy"] = "Never";
                                                        }}),
          change("a queue whose parent is not there",
                 {"queues", "queue", any, [](Json&, Json& queue) { queue["parent"] = "nowhere"; }, {}}),
          change("a queue that is its own parent",
                 {"queues", "queue", any, [](Json&, Json& queue) { queue["parent"] = queue["name"]; }, {}}),
          change("a queue's quota that is no quantity", {"queues",
                                                         "queue",
                                                         any,
                                                         [](Json&, Json& queue) {
                                                           queue["gpu"] = {{"quota", "much"}};
                                                         },
                                                         {}})};
}

}  // namespace

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all = [] {
    std::vector<Mutation> list;
    for (std::vector<Mutation> part : {of_nodes(), of_running_pods(), of_waiting_pods(), of_gangs_and_queues()}) {
      for (Mutation& mutation : part) list.push_back(std::move(mutation));
    }
    return list;
  }();
  return all;
}

}  // namespace muster::cli
