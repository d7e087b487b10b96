#include "test/brute_force/instances/tiny_instance.h"

#include <algorithm>
#include <random>
#include <vector>

#include <nlohmann/json.hpp>

#include "test/brute_force/instances/exceeded_draw.h"
#include "test/brute_force/instances/inter_pod_draw.h"
#include "test/brute_force/instances/limit_draw.h"
#include "test/brute_force/instances/port_draw.h"

namespace muster::brute_force {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kTime = 1'000'000;
constexpr std::int64_t kMib = 1 << 20;

// What the random draws decide for the whole instance.
struct Features {
  bool gpu_memory, fractions, several_devices, taints, selectors, cordons, models, topology, anti_affinity, limits,
      quotas, hierarchy, subgroups, elastic, releasing, running, priorities, weights, preferences, resources, spread,
      min_resources, expected, tight_cpu, gated;
};

class TinyDraw {
 public:
  TinyDraw(std::uint64_t seed, const TinyOptions& options)
      : seed_(seed), random_(seed * 0x9E3779B97F4A7C15U + 1), options_(options) {
    Features& f = features_;
    for (bool* feature : {&f.gpu_memory, &f.fractions, &f.elastic, &f.running, &f.priorities, &f.tight_cpu})
      *feature = chance(0.5);
    for (bool* feature : {&f.several_devices, &f.taints, &f.selectors, &f.topology, &f.limits, &f.quotas, &f.subgroups,
                          &f.preferences, &f.weights})
      *feature = chance(0.3);
    for (bool* feature : {&f.cordons, &f.models, &f.anti_affinity, &f.hierarchy, &f.releasing, &f.resources, &f.spread,
                          &f.min_resources, &f.expected, &f.gated})
      *feature = chance(0.2);
  }

  std::string build() {
    Json snapshot{{"format", "muster/v1"}, {"id", "tiny"}, {"time", kTime}};
    snapshot["policy"] = policy();
    if (features_.topology) snapshot["topology"] = Json::array({"zone", "rack"});
    add_nodes();
    add_queues();
    if (features_.running || features_.releasing) add_running();
    add_gangs();
    snapshot["nodes"] = nodes_;
    if (!queues_.empty()) snapshot["queues"] = queues_;
    snapshot["gangs"] = gangs_;
    add_host_ports(pods_, seed_);
    snapshot["policy"]["wholeNodes"] = seed_ % 4 == 1;
    snapshot["pods"] = pods_;
    if (features_.topology) divide_topology(snapshot);
    limit_queues(snapshot, seed_);
    add_inter_pod(snapshot, seed_);
    exceed_nodes(snapshot, seed_);
    return snapshot.dump();
  }

 private:
  // Not std::uniform_int_distribution: that differs from library to library.
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return static_cast<double>(draw(0, 999'999)) < probability * options_.load * 1e6; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(draw(0, std::ssize(list) - 1))];
  }

  Json policy() {
    Json policy{{"actions", {"place"}}};
    if (features_.spread) policy["placement"] = "spread";
    if (features_.quotas && chance(0.3)) policy["nonPreemptibleWithinQuota"] = false;
    if (!features_.expected) return policy;
    policy["expectedWorkload"] = Json::array();
    for (std::int64_t i = draw(1, 3); i > 0; --i) {
      policy["expectedWorkload"].push_back(
          {{"pod", {{"resources", {{"cpu", draw(1, 4)}}}, {"gpu", gpu_request()}}}, {"weight", draw(1, 3)}});
    }
    return policy;
  }

  void add_nodes() {
    const std::int64_t count = draw(1, options_.most_nodes);
    const bool alike = chance(0.4);
    for (std::int64_t i = 0; i < count; ++i) {
      Json node{{"name", "n" + std::to_string(i)}};
      node["resources"] = {{"cpu", alike ? 8 : draw(3, 12)}, {"memory", std::to_string(draw(8, 64)) + "Gi"}};
      if (features_.resources) node["resources"]["rdma/hca"] = draw(0, 3);
      if (features_.resources && chance(0.3)) node["resources"]["nvidia.com/mig-2g.10gb"] = draw(1, 3);
      if (chance(0.1)) node["resources"]["pods"] = draw(1, 4);
      const std::int64_t gpus = alike ? 2 : draw(0, 4);
      if (gpus > 0) {
        node["gpus"] = {{"count", gpus}};
        if (!chance(0.1))
          node["gpus"]["memory"] = std::to_string(alike ? 16 : pick<std::int64_t>({10, 16, 16, 24})) + "Gi";
        if (features_.models) node["gpus"]["model"] = pick<std::string>({"A", "B"});
      }
      Json labels{{"host", "n" + std::to_string(i)}};
      if (features_.topology && !chance(0.1)) labels["zone"] = pick<std::string>({"z1", "z1", "z2"});
      if (features_.topology && !chance(0.1)) labels["rack"] = pick<std::string>({"r1", "r2"});
      if (features_.selectors || features_.preferences) labels["pool"] = pick<std::string>({"p", "q"});
      node["labels"] = labels;
      if (features_.taints && chance(0.4)) {
        node["taints"] =
            Json::array({{{"key", "t"},
                          {"value", "v"},
                          {"effect", pick<std::string>({"NoSchedule", "NoExecute", "PreferNoSchedule"})}}});
      }
      if (features_.cordons && chance(0.3)) node["unschedulable"] = true;
      free_.push_back(
          {node["resources"]["cpu"].get<std::int64_t>(), gpus, node["resources"].value("pods", std::int64_t{110})});
      nodes_.push_back(std::move(node));
    }
  }

  Json bounds(bool leaf) {
    Json gpu = Json::object();
    if (features_.quotas && chance(0.7)) gpu["quota"] = draw(0, 4);
    if (features_.limits && chance(leaf ? 0.6 : 0.4)) gpu["limit"] = chance(0.3) ? Json("1.5") : Json(draw(1, 5));
    if (features_.quotas && chance(0.5)) gpu["weight"] = draw(0, 3);
    return gpu;
  }

  void add_queues() {
    if (!features_.limits && !features_.quotas && !features_.hierarchy) {
      leaves_ = {"default"};
      return;
    }
    const std::int64_t tops = draw(1, 2);
    for (std::int64_t i = 0; i < tops; ++i) {
      const std::string top = "q" + std::to_string(i);
      const std::int64_t children = features_.hierarchy ? draw(0, 2) : 0;
      add_queue(top, "", children == 0);
      for (std::int64_t c = 0; c < children; ++c) add_queue(top + "-" + std::to_string(c), top, true);
    }
  }

  void add_queue(const std::string& name, const std::string& parent, bool leaf) {
    Json queue{{"name", name}};
    if (!parent.empty()) queue["parent"] = parent;
    if (chance(0.2)) queue["priority"] = draw(90, 110);
    queue["gpu"] = bounds(leaf);
    if (features_.limits && chance(0.3)) queue["cpu"] = {{"limit", draw(2, 10)}};
    queues_.push_back(std::move(queue));
    if (leaf) leaves_.push_back(name);
  }

  // Whole-device and cpu-only pods that hold some of the room; each fits what is left of its node.
  void add_running() {
    for (std::int64_t i = draw(1, 4); i > 0; --i) {
      const auto node = static_cast<std::size_t>(draw(0, std::ssize(nodes_) - 1));
      Room& room = free_[node];
      const std::int64_t gpus = draw(0, std::min<std::int64_t>(room.gpus, 2)),
                         cpu = draw(0, std::min<std::int64_t>(room.cpu, 3));
      if (room.pods == 0) continue;
      Json pod{{"name", "r" + std::to_string(i)},
               {"node", nodes_[node]["name"]},
               {"queue", pick(leaves_)},
               {"started", kTime - draw(1, 500)},
               {"created", kTime - 600}};
      if (cpu > 0) pod["resources"] = {{"cpu", cpu}};
      const bool is_half = gpus > 0 && features_.fractions && chance(0.4);
      if (gpus > 0) pod["gpu"] = is_half ? Json{{"fraction", 0.5}, {"devices", gpus}} : Json{{"count", gpus}};
      if (features_.releasing && (!features_.running || chance(0.4))) pod["status"] = "releasing";
      if (features_.priorities) pod["priority"] = 10 * draw(0, 3);
      if (chance(0.3)) pod["preemptible"] = false;
      if (features_.anti_affinity && chance(0.5)) pod["labels"] = {{"app", "x"}};
      room.gpus -= gpus;
      room.cpu -= cpu;
      room.pods -= 1;
      pods_.push_back(std::move(pod));
    }
  }

  Json gpu_request() {
    const std::int64_t devices = features_.several_devices && chance(0.5) ? draw(1, 2) : 1;
    if (features_.fractions && chance(0.5))
      return {{"fraction", pick<double>({0.5, 0.25, 0.3, 0.75, 0.333333})}, {"devices", devices}};
    if (features_.gpu_memory && chance(0.4))
      return {{"memory", std::to_string(pick<std::int64_t>({4, 5, 8, 12})) + "Gi"}, {"devices", devices}};
    return {{"count", features_.several_devices || chance(0.3) ? draw(1, 3) : 1}};
  }

  // A pod without its name and gang.
  Json shape(const std::string& gang) {
    Json pod = Json::object();
    const std::int64_t cpu = features_.tight_cpu ? draw(1, 5) : draw(0, 2);
    if (cpu > 0) pod["resources"]["cpu"] = cpu;
    if (chance(0.2)) pod["resources"]["memory"] = std::to_string(draw(1, 16)) + "Gi";
    if (features_.resources && chance(0.3)) pod["resources"]["rdma/hca"] = 1;
    const bool mig = features_.resources && chance(0.2);
    if (mig) pod["resources"]["nvidia.com/mig-2g.10gb"] = 1;
    if (!mig && !chance(0.2)) pod["gpu"] = gpu_request();
    if (features_.models && chance(0.4)) pod["gpuModels"] = Json::array({pick<std::string>({"A", "B"})});
    if (features_.selectors && chance(0.4)) pod["nodeSelector"] = {{"pool", pick<std::string>({"p", "q"})}};
    if (features_.taints && chance(0.5)) pod["tolerations"] = Json::array({{{"key", "t"}, {"operator", "Exists"}}});
    if (features_.preferences && chance(0.5)) {
      pod["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = Json::array(
          {{{"weight", draw(1, 100)},
            {"preference",
             {{"matchExpressions", Json::array({{{"key", "pool"}, {"operator", "In"}, {"values", {"p"}}}})}}}}});
    }
    if (features_.preferences && chance(0.2)) pod["nominatedNode"] = pick(nodes_)["name"];
    if (features_.anti_affinity && chance(0.5)) {
      pod["labels"] = {{"app", pick<std::string>({"x", "y"})}};
      const std::string key = features_.topology && chance(0.4) ? "rack" : "host";
      if (chance(0.5) && !gang.empty()) {
        pod["podAntiAffinity"] = {{"topologyKey", key}, {"matchGang", true}};
      } else if (chance(0.7)) {
        pod["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = Json::array(
            {{{"topologyKey", key}, {"labelSelector", {{"matchLabels", {{"app", pick<std::string>({"x", "y"})}}}}}}});
      }
    }
    return pod;
  }

  Json topology() { return {{chance(0.6) ? "required" : "preferred", pick<std::string>({"zone", "rack"})}}; }

  void add_gangs() {
    std::int64_t left = draw(1, options_.most_pods);
    const std::int64_t count = draw(1, options_.most_gangs);
    for (std::int64_t g = 0; g < count && left > 0; ++g) {
      const std::string name = "g" + std::to_string(g);
      const std::int64_t pods = std::min(left, draw(1, 5));
      left -= pods;
      Json gang{{"name", name}, {"queue", pick(leaves_)}, {"created", kTime - draw(0, 5)}};
      if (features_.priorities) gang["priority"] = 10 * draw(0, 3);
      if (features_.quotas && chance(0.5)) gang["preemptible"] = chance(0.5);
      if (features_.weights && chance(0.5)) gang["weight"] = pick<double>({0.5, 2, 1.5, 3, 0.001});
      if (features_.topology && topologies_ < 2 && chance(0.6)) {
        gang["topology"] = topology();
        ++topologies_;
      }
      if (features_.min_resources && chance(0.4)) gang["minResources"] = {{"gpu", draw(0, 4)}, {"cpu", draw(0, 6)}};
      if (chance(0.03)) gang["timeout"] = 2;
      if (features_.subgroups && pods > 1 && chance(0.6)) {
        add_subgroups(name, pods, gang);
      } else {
        if (features_.elastic && chance(0.6)) gang["minMember"] = draw(0, pods);
        add_pods(name, "", pods);
      }
      gangs_.push_back(std::move(gang));
    }
  }

  // Now and then topologies that cross, or of which two have one level.
  void divide_topology(Json& snapshot) const {
    if (seed_ % 5 > 1) return;
    const bool share_racks = seed_ % 5 == 1;
    snapshot.erase("topology");
    snapshot["topologies"] = {{{"name", "zones"}, {"levels", Json::array({"zone"})}},
                              {{"name", "racks"}, {"levels", Json::array({"rack"})}}};
    if (!share_racks) return;
    snapshot["topologies"][0]["levels"].push_back("rack");
    std::size_t requests = 0;
    for (Json& gang : snapshot["gangs"]) {
      const bool needs_zones = gang.value("topology", Json::object()).dump().find("zone") != std::string::npos;
      if (gang.contains("topology") && requests++ % 2 == 0) gang["topology"]["name"] = needs_zones ? "zones" : "racks";
    }
  }

  void add_subgroups(const std::string& name, std::int64_t pods, Json& gang) {
    const std::int64_t first = draw(1, pods - 1);
    gang["subgroups"] = Json::array();
    std::int64_t number = 0;
    for (const std::int64_t size : {first, pods - first}) {
      const std::string subgroup = "s" + std::to_string(number++);
      Json entry{{"name", subgroup}};
      if (features_.elastic && chance(0.5)) entry["minMember"] = draw(0, size);
      if (features_.topology && topologies_ < 2 && chance(0.4)) {
        entry["topology"] = topology();
        ++topologies_;
      }
      gang["subgroups"].push_back(entry);
      add_pods(name, subgroup, size);
    }
    if (chance(0.4)) gang["minSubgroups"] = 1;
  }

  void add_pods(const std::string& gang, const std::string& subgroup, std::int64_t count) {
    Json common = shape(gang);
    for (std::int64_t i = 0; i < count; ++i) {
      if (chance(0.15)) common = shape(gang);
      Json pod{{"name", "p" + std::to_string(pods_.size())}, {"gang", gang}};
      if (!subgroup.empty()) pod["subgroup"] = subgroup;
      pod.update(common);
      if (features_.gated && chance(0.2)) pod["status"] = pick<std::string>({"gated", "succeeded", "failed"});
      pods_.push_back(std::move(pod));
    }
  }

  struct Room {
    std::int64_t cpu = 0, gpus = 0, pods = 0;
  };
  std::uint64_t seed_;
  std::mt19937_64 random_;
  TinyOptions options_;
  Features features_{};
  std::vector<Json> nodes_;
  std::vector<Room> free_;
  Json queues_ = Json::array(), gangs_ = Json::array(), pods_ = Json::array();
  std::vector<std::string> leaves_;
  int topologies_ = 0;
};

}  // namespace

std::string tiny_instance(std::uint64_t seed, const TinyOptions& options) { return TinyDraw(seed, options).build(); }

}  // namespace muster::brute_force
