#include "test/brute_force/instances/policy_instance.h"

#include <algorithm>
#include <functional>
#include <optional>
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
constexpr std::int64_t kWhole = 12;  // parts of a device in which the fractions here can be counted

// A request: whole devices, or a number of twelfths or GiB of each; cores.
struct Shape {
  std::int64_t devices = 0, twelfths = kWhole, gib = 0, cpu = 0;
};

struct Room {
  std::vector<std::int64_t> devices;  // twelfths free of each
  std::int64_t gib = 0;               // of one device, 0: unknown
  std::int64_t cpu = 0;

  // None: the request cannot be there.
  std::optional<std::int64_t> twelfths_of(const Shape& shape) const {
    if (shape.gib == 0) return shape.twelfths;
    return gib == 0 ? std::nullopt : std::optional(kWhole * shape.gib / gib);
  }
};

// Gangs of one instance in four leave as a whole, or give their surplus only, and some queues give nothing back. Drawn
// separately from everything else, so that a seed's snapshot is otherwise the same.
void restrict_departures(Json& snapshot, std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15U + 1804);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  if (below(4) != 0) return;
  for (Json& gang : snapshot["gangs"]) {
    const std::uint64_t drawn = below(3);
    if (drawn == 0) gang["disruption"] = "surplus";
    if (drawn == 1 && !gang.contains("subgroups")) gang["disruption"] = "whole";
  }
  for (Json& queue : snapshot["queues"]) {
    if (below(6) == 0) queue["reclaimable"] = false;
  }
}

class PolicyDraw {
 public:
  explicit PolicyDraw(std::uint64_t seed) : seed_(seed), random_(seed * 0x9E3779B97F4A7C15U + 7) {
    fractions_ = chance(40);
    topology_ = chance(15);
    hierarchy_ = chance(40);
    quotas_ = chance(75);
    limits_ = chance(15);
    runtimes_ = chance(25);
    subgroups_ = chance(20);
    elastic_ = chance(50);
    stale_ = chance(15);
    min_resources_ = chance(12);
    tight_cpu_ = chance(15);
    selectors_ = chance(12);
    weights_ = chance(15);
    releasing_ = chance(15);
    scattered_ = chance(45);
    gpu_memory_ = chance(6);
    anti_affinity_ = chance(6);
    requestless_ = chance(15);
    gated_ = chance(20);
    succeeded_ = chance(20);
    priorities_ = {10, 50};
    if (chance(60)) priorities_.push_back(chance(20) ? 120 : 80);
  }

  std::string build() {
    Json snapshot{{"format", "muster/v1"}, {"id", "tiny-policy"}, {"time", kTime}, {"policy", policy()}};
    if (topology_) snapshot["topology"] = Json::array({"rack"});
    add_nodes();
    add_queues();
    for (std::int64_t g = 0, count = draw(2, 5); g < count && running_ < kMostRunning; ++g)
      add_running_gang("r" + std::to_string(g));
    tighten();
    for (std::int64_t g = 0, count = draw(1, 3); g < count; ++g) add_pending_gang("p" + std::to_string(g));
    make_odd();
    if (chance(35)) add_budgets(snapshot);
    if (chance(30)) tell_durations(snapshot["policy"]);
    snapshot["nodes"] = nodes_;
    snapshot["queues"] = queues_;
    snapshot["gangs"] = gangs_;
    snapshot["pods"] = pods_;
    add_host_ports(snapshot["pods"], seed_);
    limit_queues(snapshot, seed_);
    restrict_departures(snapshot, seed_);
    add_inter_pod(snapshot, seed_);
    exceed_nodes(snapshot, seed_);
    if (chance(20)) set_price(snapshot);
    return snapshot.dump();
  }

 private:
  // Not std::uniform_int_distribution: that differs from library to library.
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(std::int64_t percent) { return draw(0, 99) < percent; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(draw(0, std::ssize(list) - 1))];
  }

  Json policy() {
    Json policy = Json::object();
    if (chance(25)) {
      Json actions = Json::array({"place"});
      for (const char* action : {"consolidate", "reclaim", "preempt", "stale"}) {
        if (chance(65)) actions.push_back(action);
      }
      policy["actions"] = actions;
    }
    if (chance(35)) policy["maxMoves"] = chance(20) ? 0 : draw(1, 2);
    if (chance(20)) policy["nonPreemptibleWithinQuota"] = false;
    if (chance(15)) policy["placement"] = "spread";
    if (chance(10)) policy["agingInterval"] = 20;
    return policy;
  }

  // By what has been lost so far, and since the last checkpoint of some gangs.
  void set_price(Json& snapshot) {
    snapshot["policy"]["overTime"]["evictionPrice"] = pick<double>({0, 0.5, 1, 2.5, 10});
    for (Json& gang : snapshot["gangs"]) {
      if (chance(25)) gang["checkpointed"] = kTime - draw(0, 60);
    }
  }

  // Of what has finished, and of some gangs.
  void tell_durations(Json& policy) {
    policy["expectedDurations"] = Json::array({{{"gpus", {1, 2}}, {"count", draw(0, 20)}, {"mean", draw(60, 9'000)}}});
    for (Json& gang : gangs_) {
      if (chance(40)) gang["expectedDuration"] = draw(30, 9'000);
    }
  }

  void add_nodes() {
    const std::int64_t count = scattered_ ? draw(2, 4) : draw(1, 4);
    const std::int64_t most = count <= 2 ? 4 : 3;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t devices = draw(scattered_ || count == 1 ? 2 : 1, most);
      Json node{{"name", "n" + std::to_string(i)}};
      const std::int64_t cpu = tight_cpu_ ? draw(3, 6) : 32;
      node["resources"] = {{"cpu", cpu}, {"memory", "64Gi"}};
      node["gpus"] = {{"count", devices}};
      const std::int64_t gib = gpu_memory_ ? pick<std::int64_t>({16, 24, 24, 0}) : pick<std::int64_t>({16, 0});
      if (gib > 0) node["gpus"]["memory"] = std::to_string(gib) + "Gi";
      node["labels"] = {{"pool", pick<std::string>({"a", "b"})}, {"host", "n" + std::to_string(i)}};
      if (topology_ && !chance(8)) node["labels"]["rack"] = pick<std::string>({"r1", "r2"});
      if (chance(4)) node["unschedulable"] = true;
      rooms_.push_back({std::vector<std::int64_t>(static_cast<std::size_t>(devices), kWhole), gib, cpu});
      total_ += devices;
      nodes_.push_back(std::move(node));
    }
  }

  Json queue_gpu(std::int64_t most_quota) {
    Json gpu = Json::object();
    if (quotas_ && chance(93)) gpu["quota"] = chance(15) ? Json("0.5") : Json(draw(0, most_quota));
    if (!quotas_ && chance(80)) gpu["quota"] = 0;
    if (limits_ && chance(35)) gpu["limit"] = chance(20) ? Json("1.5") : Json(draw(2, total_ + 1));
    if (chance(30)) gpu["weight"] = draw(0, 3);
    return gpu;
  }

  void add_queue(const std::string& name, const std::string& parent, bool is_leaf) {
    Json queue{{"name", name}};
    if (!parent.empty()) queue["parent"] = parent;
    if (chance(15)) queue["priority"] = draw(90, 110);
    queue["gpu"] = queue_gpu(is_leaf ? std::max<std::int64_t>(1, total_ / 2 + 1) : total_);
    if (tight_cpu_ && chance(40)) queue["cpu"] = {{"quota", draw(0, 6)}};
    if (runtimes_ && chance(50)) queue["preemptMinRuntime"] = pick<std::int64_t>({20, 100});
    if (runtimes_ && chance(50)) queue["reclaimMinRuntime"] = pick<std::int64_t>({20, 100});
    queues_.push_back(std::move(queue));
    if (is_leaf) leaves_.push_back(name);
  }

  void add_queues() {
    const std::int64_t leaves = draw(2, 3), parents = hierarchy_ ? draw(1, 2) : 0;
    for (std::int64_t p = 0; p < parents; ++p) add_queue("top" + std::to_string(p), "", false);
    for (std::int64_t q = 0; q < leaves; ++q) {
      // A parent has a child at least; the others may stand alone.
      const bool is_below = q < parents || (parents > 0 && chance(60));
      const std::int64_t parent = q < parents ? q : draw(0, std::max<std::int64_t>(parents - 1, 0));
      add_queue("q" + std::to_string(q), is_below ? "top" + std::to_string(parent) : "", true);
    }
  }

  // Small pods run where they leave holes, larger ones wait for one hole.
  Shape shape(bool is_running) {
    Shape shape;
    if (requestless_ && chance(25)) return shape;
    if (tight_cpu_) shape.cpu = draw(0, 3);
    if (tight_cpu_ && shape.cpu > 0 && chance(15)) return shape;  // cpu alone
    shape.devices = chance(!scattered_ ? 30 : is_running ? 5 : 65) ? 2 : 1;
    if (chance(4)) shape.devices = 3;
    if (fractions_ && chance(!scattered_ || is_running ? 55 : 30)) {
      shape.twelfths = pick<std::int64_t>({6, 6, 3, 9, 4});
      shape.devices = chance(10) ? 2 : 1;
    }
    if (gpu_memory_ && chance(50)) {
      shape.gib = pick<std::int64_t>({4, 8});
      shape.devices = chance(10) ? 2 : 1;
    }
    return shape;
  }

  // Thirds are rounded down to six places.
  static Json request(const Shape& shape) {
    Json pod = Json::object();
    if (shape.cpu > 0) pod["resources"] = {{"cpu", shape.cpu}};
    if (shape.gib > 0) {
      pod["gpu"] = {{"memory", std::to_string(shape.gib) + "Gi"}, {"devices", shape.devices}};
      return pod;
    }
    if (shape.devices > 0 && shape.twelfths == kWhole) pod["gpu"] = {{"count", shape.devices}};
    if (shape.devices > 0 && shape.twelfths != kWhole) {
      const double fraction = shape.twelfths == 4 ? 0.333333 : static_cast<double>(shape.twelfths) / kWhole;
      pod["gpu"] = {{"fraction", fraction}, {"devices", shape.devices}};
    }
    return pod;
  }

  // The devices that the pod is given on a node that has room, drawn; none there: no node has.
  bool give_room(const Shape& shape, Json& pod) {
    std::vector<std::size_t> order(rooms_.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    for (std::size_t n = order.size(); n > 1; --n)
      std::swap(order[n - 1], order[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(n) - 1))]);
    for (const std::size_t n : order) {
      std::vector<std::size_t> free;
      const std::optional<std::int64_t> twelfths = rooms_[n].twelfths_of(shape);
      if (!twelfths) continue;
      for (std::size_t d = 0; d < rooms_[n].devices.size(); ++d) {
        if (rooms_[n].devices[d] >= *twelfths) free.push_back(d);
      }
      if (std::ssize(free) < shape.devices || rooms_[n].cpu < shape.cpu) continue;
      if (!scattered_ && chance(50)) std::ranges::reverse(free);
      // Sharers are put apart from others where holes are wanted.
      if (scattered_)
        std::ranges::stable_sort(free, std::greater{}, [&](std::size_t d) { return rooms_[n].devices[d]; });
      free.resize(static_cast<std::size_t>(shape.devices));
      std::ranges::sort(free);
      for (const std::size_t d : free) rooms_[n].devices[d] -= *twelfths;
      rooms_[n].cpu -= shape.cpu;
      pod["node"] = nodes_[n]["name"];
      if (!free.empty()) pod["gpus"] = free;
      return true;
    }
    return false;
  }

  Json gang(const std::string& name, bool is_running) {
    Json gang{{"name", name}, {"created", kTime - draw(0, 50)}};
    // Most of what runs is of one queue, which is then over its share.
    gang["queue"] = chance(is_running ? 55 : 30) ? leaves_.front() : pick(leaves_);
    // What runs is more often of low priority, what waits of high.
    const std::int64_t last = std::ssize(priorities_) - 1, a = draw(0, last), b = draw(0, last);
    const std::int64_t c = chance(40) ? draw(0, last) : a;
    gang["priority"] = priorities_[static_cast<std::size_t>(is_running ? std::min({a, b, c}) : std::max({a, b, c}))];
    if (chance(is_running ? 8 : 12)) gang["preemptible"] = chance(20);
    if (!is_running && chance(10)) gang["preemptionPolicy"] = "Never";
    if (weights_ && chance(50)) gang["weight"] = pick<double>({0.5, 2, 1.5, 0.001, 0.0004});
    if (topology_ && chance(45)) gang["topology"] = {{"required", "rack"}};
    return gang;
  }

  Json pod(const std::string& gang, const Shape& shape) {
    Json pod{{"name", gang + "-" + std::to_string(pods_.size())}, {"gang", gang}};
    pod.update(request(shape));
    if (!anti_affinity_) return pod;
    pod["labels"] = {{"app", pick<std::string>({"x", "y"})}};
    if (chance(20)) {
      pod["podAntiAffinity"] = {{"topologyKey", "host"}, {"matchGang", true}};
    } else if (chance(30)) {
      pod["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
          Json::array({{{"topologyKey", "host"}, {"labelSelector", {{"matchLabels", {{"app", "x"}}}}}}});
    }
    return pod;
  }

  void run(Json& pod) {
    pod["started"] = kTime - pick<std::int64_t>({5, 50, 50, 500});
    ++running_;
  }

  // In two subgroups, by turns; the one needs one of them or both.
  void divide(Json& gang, std::size_t first_pod, std::size_t count) {
    gang["subgroups"] = Json::array({{{"name", "s0"}}, {{"name", "s1"}}});
    for (Json& subgroup : gang["subgroups"]) {
      if (chance(50)) subgroup["minMember"] = 1;
    }
    if (chance(60)) gang["minSubgroups"] = 1;
    const bool halves = chance(50);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_second = halves ? 2 * i >= count : i % 2 == 1;
      pods_[first_pod + i]["subgroup"] = is_second ? "s1" : "s0";
    }
  }

  // A pod that neither runs nor may be placed.
  void add_present_nowhere(const std::string& gang, const Shape& shape, const std::string& status) {
    pods_.push_back(pod(gang, shape));
    pods_.back()["status"] = status;
  }

  void add_running_gang(const std::string& name) {
    Json entry = gang(name, true);
    const std::size_t first = pods_.size();
    const std::int64_t wanted = std::min<std::int64_t>(chance(45) ? 1 : draw(2, 3), kMostRunning - running_);
    Shape common = shape(true);
    for (std::int64_t i = 0; i < wanted; ++i) {
      if (chance(20)) common = shape(true);
      Json next = pod(name, common);
      if (!give_room(common, next)) continue;
      run(next);
      pods_.push_back(std::move(next));
    }
    const auto runs = static_cast<std::int64_t>(pods_.size() - first);
    if (runs == 0) return;
    if (releasing_ && chance(30)) pods_[first]["status"] = "releasing";
    if (elastic_ && chance(6)) add_present_nowhere(name, common, "succeeded");
    if (gated_ && chance(30)) add_present_nowhere(name, common, "gated");
    std::int64_t waits = 0;
    if (elastic_ && pending_ < 2 && chance(25)) {
      pods_.push_back(pod(name, common));
      waits = 1;
      ++pending_;
    }
    if (subgroups_ && pods_.size() - first > 1 && chance(60)) {
      divide(entry, first, pods_.size() - first);
    } else if (elastic_ || waits > 0) {
      entry["minMember"] = chance(70) ? draw(1, runs) : draw(0, runs + waits);
    }
    if (stale_ && chance(50)) {
      if (!entry.contains("subgroups")) entry["minMember"] = runs + draw(0, 1);
      entry["stalenessGracePeriod"] = pick<std::int64_t>({30, 60, 200});
      entry["staleSince"] = kTime - 100;
    }
    gangs_.push_back(std::move(entry));
  }

  // Removes what no pod holds, so that little or nothing is free. The last devices are removed first: the lists of
  // devices stay as they are.
  void tighten() {
    if (chance(8)) return;
    for (std::size_t n = 0; n < rooms_.size(); ++n) {
      std::vector<std::int64_t>& devices = rooms_[n].devices;
      std::int64_t spare = chance(scattered_ ? 35 : 75) ? 0 : 1;
      while (devices.size() > 1 && devices.back() == kWhole) {
        if (spare-- > 0) break;
        devices.pop_back();
      }
      nodes_[n]["gpus"]["count"] = devices.size();
    }
  }

  // Up to two disruption budgets over tiers, and now and then some pods that the policy protects.
  void add_budgets(Json& snapshot) {
    for (Json& pod : pods_) {
      if (chance(85)) pod["labels"]["tier"] = pick<std::string>({"a", "a", "b"});
      if (chance(10)) pod["namespace"] = "other";
    }
    const auto selector = [this] {
      Json expression{{"key", "tier"}, {"operator", chance(50) ? "In" : "NotIn"}, {"values", {"a"}}};
      if (chance(50)) return Json{{"matchLabels", {{"tier", pick<std::string>({"a", "b"})}}}};
      return chance(50) ? Json::object() : Json{{"matchExpressions", Json::array({expression})}};
    };
    Json budgets = Json::array();
    for (std::int64_t b = 0, count = draw(1, 2); b < count; ++b) {
      Json budget{{"name", "b" + std::to_string(b)}, {"allowed", draw(0, 2)}};
      if (chance(95)) budget["selector"] = selector();
      if (chance(20)) budget["exclusive"] = true;
      budgets.push_back(std::move(budget));
    }
    snapshot["disruptionBudgets"] = budgets;
    if (chance(10)) snapshot["policy"]["protect"] = {{"matchLabels", {{"tier", "b"}}}};
  }

  void add_pending_gang(const std::string& name) {
    Json entry = gang(name, false);
    const std::int64_t count = std::min<std::int64_t>(chance(55) ? 1 : draw(2, 3), kMostPending - pending_);
    if (count == 0) return;
    const std::size_t first = pods_.size();
    Shape common = shape(false);
    for (std::int64_t i = 0; i < count; ++i) {
      if (chance(15)) common = shape(false);
      Json next = pod(name, common);
      if (selectors_ && chance(40)) next["nodeSelector"] = {{"pool", pick<std::string>({"a", "b"})}};
      pods_.push_back(std::move(next));
      ++pending_;
    }
    if (gated_ && chance(40)) add_present_nowhere(name, common, "gated");
    if (succeeded_ && chance(40)) add_present_nowhere(name, common, "succeeded");
    const std::int64_t all = std::ssize(pods_) - static_cast<std::int64_t>(first);
    if (subgroups_ && all > 1 && chance(40)) {
      divide(entry, first, static_cast<std::size_t>(all));
    } else if (all > 1 && chance(elastic_ || all > count ? 80 : 30)) {
      entry["minMember"] = draw(chance(20) ? 0 : 1, all);
    }
    if (min_resources_ && chance(50)) entry["minResources"] = {{"gpu", draw(1, 3)}};
    if (chance(2)) entry["timeout"] = 10;
    gangs_.push_back(std::move(entry));
  }

  // Minima of none, and pods that are gated, held or finished among those that would wait. Last of all, so that the
  // rest of an instance is what it was without.
  void make_odd() {
    if (!chance(25)) return;
    for (Json& gang : gangs_) {
      if (gang.contains("minMember") && chance(20)) gang["minMember"] = 0;
    }
    for (Json& pod : pods_) {
      if (pod.contains("node") || pod.contains("status") || !chance(30)) continue;
      pod["status"] = pick<std::string>({"gated", "gated", "succeeded", "failed"});
      if (pod["status"] == "gated" && chance(40)) pod["held"] = "drawn at random";
    }
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  bool fractions_ = false, topology_ = false, hierarchy_ = false, quotas_ = false, limits_ = false, runtimes_ = false,
       subgroups_ = false, elastic_ = false, stale_ = false, min_resources_ = false, tight_cpu_ = false,
       selectors_ = false, weights_ = false, releasing_ = false, scattered_ = false, gpu_memory_ = false,
       anti_affinity_ = false, requestless_ = false, gated_ = false, succeeded_ = false;
  std::vector<std::int64_t> priorities_;
  std::vector<Json> nodes_;
  std::vector<Room> rooms_;
  Json queues_ = Json::array(), gangs_ = Json::array();
  std::vector<Json> pods_;
  std::vector<std::string> leaves_;
  std::int64_t total_ = 0, running_ = 0, pending_ = 0;
};

}  // namespace

std::string policy_instance(std::uint64_t seed) { return PolicyDraw(seed).build(); }

std::string exceeding_instance(std::uint64_t seed) {
  Json snapshot = Json::parse(policy_instance(seed));
  exceed_rules(snapshot, seed);
  return snapshot.dump();
}

}  // namespace muster::brute_force
