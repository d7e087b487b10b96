#include "test/solver/random_cluster.h"

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "datasets/generator/generator.h"
#include "test/solver/random_milp.h"
#include "test/solver/tiny_options.h"
#include "test/support/drawn.h"

namespace muster::test {
namespace {

class ClusterDraw {
 public:
  ClusterDraw(std::uint32_t seed, const ClusterShape& shape)
      : random_(seed), shape_(shape), compares_whole_nodes_(seed % 2 == 0) {}

  Cluster draw() {
    memory_known_ = chance(60);
    nodes_ = pick(random_, 1, shape_.most_nodes);
    const std::string shared = policy();
    for (int node = 0; node < nodes_; ++node) drawn_.node("n" + std::to_string(node), node_of(node));
    add_queues();
    add_gangs();
    drawn_.policy(shared + durations());
    drawn_.with(R"("id":"random",)" + topologies());
    return drawn_;
  }

 private:
  bool chance(int percent) { return pick(random_, 1, 100) <= percent; }
  std::string number(int lowest, int highest) { return std::to_string(pick(random_, lowest, highest)); }
  template <std::size_t count>
  std::string one_of(const char* const (&words)[count]) {
    return words[static_cast<std::size_t>(pick(random_, 0, static_cast<int>(count) - 1))];
  }

  // Drawn last, so that the other numbers stay what they were without.
  std::string durations() {
    return chance(30) ? R"(,"expectedDurations":[{"gpus":[1],"count":)" + number(0, 30) + R"(,"mean":"2h"}])"
                      : std::string();
  }

  // One chain, chains that cross, or two of which the finer level is that of both.
  std::string topologies() {
    const int kind = pick(random_, 1, 10);
    if (kind > 4) return R"("topology":["zone","rack"])";
    const std::string rack_too = kind > 2 ? R"(,"rack")" : "";
    return R"("topologies":[{"name":"zones","levels":["zone")" + rack_too + R"(]},{"name":"racks","levels":["rack"]}])";
  }

  std::string policy() {
    std::string text = shape_.may_evict ? "" : R"("actions":["place"],)";
    text += chance(25) ? R"("placement":"spread")" : R"("placement":"binpack")";
    if (!compares_whole_nodes_) text += R"(,"wholeNodes":false)";
    if (chance(20)) text += R"(,"agingInterval":600)";
    if (chance(20)) text += R"(,"nonPreemptibleWithinQuota":false)";
    if (shape_.may_evict && chance(20)) text += R"(,"maxMoves":)" + number(0, 2);
    return text;
  }

  std::string node_of(int position) {
    const std::string name = "n" + std::to_string(position);
    std::string text = R"("resources":{"cpu":)" + number(2, 12) + R"(,"memory":")";
    text += number(4, 24) + R"(Gi","pods":)" + number(2, 12) + R"(},"labels":{"kubernetes.io/hostname":")" + name + '"';
    if (chance(90)) text += R"(,"zone":"z)" + number(0, 1) + '"';
    if (chance(90)) text += R"(,"rack":"r)" + number(0, 2) + '"';
    text += '}';
    if (chance(85)) {
      text += R"(,"gpus":{"count":)" + number(1, 4) + R"(,"model":")" + one_of({"A100", "H100"}) + '"';
      if (memory_known_) text += R"(,"memory":")" + one_of({"16Gi", "24Gi", "40Gi"}) + '"';
      text += '}';
    }
    const bool is_soft = chance(15);
    if (is_soft) text += R"(,"taints":[{"key":"soft","value":"","effect":"PreferNoSchedule"}])";
    if (!is_soft && chance(8)) text += R"(,"taints":[{"key":"hard","value":"","effect":"NoSchedule"}])";
    if (chance(5)) text += R"(,"unschedulable":true)";
    return text;
  }

  std::string queue_amounts() {
    std::string text;
    if (chance(70)) text += R"(,"gpu":{"quota":)" + number(0, 4) + limit(1, 6) + R"(,"weight":)" + number(0, 3) + "}";
    if (chance(20)) text += R"(,"cpu":{"quota":)" + number(0, 12) + limit(2, 16) + "}";
    if (chance(15)) text += R"(,"memory":{"quota":")" + number(2, 24) + R"(Gi"})";
    return text;
  }
  std::string limit(int lowest, int highest) {
    return chance(35) ? R"(,"limit":)" + number(lowest, highest) : std::string();
  }

  void add_queues() {
    if (chance(25)) {
      leaves_ = {"default"};
      return;
    }
    leaves_ = {"a", "b", "c"};
    drawn_.queue("org", without_comma(queue_amounts()));
    for (const std::string& leaf : leaves_) {
      std::string text = leaf == "c" ? "" : R"(,"parent":"org")";
      if (chance(30)) text += R"(,"priority":)" + number(50, 150);
      text += queue_amounts();
      drawn_.queue(leaf, without_comma(text));
    }
  }
  static std::string without_comma(const std::string& members) { return members.empty() ? "" : members.substr(1); }

  std::string gpu() {
    switch (pick(random_, 0, memory_known_ ? 8 : 6)) {
      case 0:
        return "";
      case 1:
      case 2:
        return R"(,"gpu":{"count":1})";
      case 3:
        return R"(,"gpu":{"count":)" + number(1, 4) + "}";
      case 4:
      case 5:
        return R"(,"gpu":{"fraction":)" + one_of({"0.25", "0.3", "0.5", "0.333333", "0.7", "1"}) + "}";
      case 6:
        return R"(,"gpu":{"fraction":)" + one_of({"0.25", "0.4", "0.5"}) + R"(,"devices":2})";
      default:
        return R"(,"gpu":{"memory":")" + one_of({"5Gi", "8Gi", "12Gi", "20Gi"}) + R"("})";
    }
  }

  std::string filters() {
    std::string text;
    if (chance(10)) text += R"(,"gpuModels":["A100"])";
    if (chance(8)) text += R"(,"nodeSelector":{"zone":"z)" + number(0, 1) + R"("})";
    if (chance(15)) text += R"(,"tolerations":[{"operator":"Exists"}])";
    if (chance(15)) {
      text += R"(,"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)" + number(1, 100) +
              R"(,"preference":{"matchExpressions":[{"key":"rack","operator":"In","values":["r)" + number(0, 2) +
              R"("]}]}}]})";
    }
    const std::string key = one_of({"kubernetes.io/hostname", "kubernetes.io/hostname", "rack", "zone"});
    if (chance(10)) {
      text += R"(,"podAntiAffinity":{"topologyKey":")" + key + R"(","matchGang":true})";
    } else if (chance(10)) {
      text += R"(,"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":")" + key +
              R"(","labelSelector":{"matchLabels":{"app":")" + one_of({"x", "y"}) + R"("}}}]})";
    }
    return text;
  }

  std::string pod_shape() {
    std::string text = R"("resources":{"cpu":)" + one_of({"0.5", "1", "2", "3"});
    if (chance(60)) text += R"(,"memory":")" + number(1, 6) + R"(Gi")";
    return text + "}" + gpu() + filters() + R"(,"labels":{"app":")" + one_of({"x", "y", "z"}) + R"("})";
  }

  std::string topology() {
    std::string text = R"(,"topology":{)";
    const bool required = chance(50);
    if (required) text += R"("required":")" + one_of({"zone", "rack"}) + '"';
    if (!required || chance(40)) text += (required ? "," : "") + (R"("preferred":")" + one_of({"zone", "rack"})) + '"';
    return text + "}";
  }

  void add_gangs() {
    const int gangs = pick(random_, 1, shape_.most_gangs);
    // Equal shapes among gangs, so that there are classes of several.
    for (int i = 0; i < 3; ++i) shapes_.push_back(pod_shape());
    for (int gang = 0; gang < gangs; ++gang) add_gang("g" + std::to_string(gang));
  }

  std::string some_shape() { return chance(60) ? shapes_[static_cast<std::size_t>(pick(random_, 0, 2))] : pod_shape(); }

  void add_gang(const std::string& name) {
    const int pods = pick(random_, 1, shape_.most_pods);
    const bool has_subgroups = pods >= 2 && chance(25);
    std::string text = R"("queue":")" +
                       leaves_[static_cast<std::size_t>(pick(random_, 0, static_cast<int>(leaves_.size()) - 1))] + '"';
    text += R"(,"priority":)" + one_of({"0", "50", "50", "100"});
    text += R"(,"created":)" + std::to_string(1'000'000 - pick(random_, 0, 3) * 500);
    if (chance(20)) text += R"(,"preemptible":false)";
    if (chance(15)) text += R"(,"weight":)" + one_of({"0.5", "2", "1.7"});
    if (chance(5)) text += R"(,"minResources":{"cpu":)" + number(1, 20) + "}";
    if (chance(25)) text += topology();
    if (has_subgroups) {
      text += subgroups();
    } else if (chance(50)) {
      text += R"(,"minMember":)" + number(chance(10) ? 0 : 1, pods);
    }
    drawn_.gang(name, text);
    add_pods(name, pods, has_subgroups);
  }

  // s0 and s1 at the top, or both of them below `inner`.
  std::string subgroups() {
    const bool is_nested = chance(30);
    std::string text = chance(30) ? R"(,"minSubgroups":1)" : "";
    text += R"(,"subgroups":[)";
    if (is_nested) text += R"({"name":"inner")" + (chance(40) ? R"(,"minSubgroups":1)" : std::string()) + "},";
    for (int i = 0; i < 2; ++i) {
      text += (i > 0 ? "," : "") + (R"({"name":"s)" + std::to_string(i)) + '"';
      if (is_nested) text += R"(,"parent":"inner")";
      if (chance(40)) text += R"(,"minMember":1)";
      if (chance(15)) text += topology();
      text += "}";
    }
    return text + "]";
  }

  void add_pods(const std::string& gang, int pods, bool has_subgroups) {
    const std::string first = some_shape(), second = chance(70) ? first : some_shape();
    const bool runs = chance(shape_.running);
    for (int pod = 0; pod < pods; ++pod) {
      std::string text = R"("gang":")" + gang + R"(",)" + (pod % 2 == 0 ? first : second);
      if (has_subgroups) text += R"(,"subgroup":"s)" + std::to_string(pod % 2) + '"';
      if (runs && chance(70)) {
        text += R"(,"node":"n)" + number(0, nodes_ - 1) + R"(","started":)" + number(900'000, 999'999);
        if (chance(15)) text += R"(,"status":"releasing")";
      } else if (chance(5)) {
        text += R"(,"status":")" + one_of({"gated", "succeeded", "failed"}) + '"';
      } else if (chance(8)) {
        text += R"(,"nominatedNode":"n)" + number(0, nodes_ - 1) + '"';
      }
      drawn_.pod(gang + "-" + std::to_string(pod), text);
    }
  }

  std::mt19937 random_;
  const ClusterShape& shape_;
  bool compares_whole_nodes_;  // every other cluster
  bool memory_known_ = false;
  int nodes_ = 0;
  std::vector<std::string> leaves_, shapes_;
  Cluster drawn_;
};

Case generated_cluster(std::uint32_t seed) {
  std::optional<Case> cluster = Case::if_valid(drawn(generator::generate_snapshot(tiny_options(seed))));
  return cluster ? std::move(*cluster) : random_cluster(seed);
}

}  // namespace

// Running pods of a random cluster need not fit: then another is drawn.
Case random_cluster(std::uint32_t seed, const ClusterShape& shape) {
  for (std::uint32_t draw = 0;; ++draw)
    if (auto cluster = Case::if_valid(drawn(ClusterDraw(seed * 1000 + draw, shape).draw().line())))
      return std::move(*cluster);
}

Case any_cluster(std::uint32_t seed) {
  if (seed % 3 == 0) return generated_cluster(seed);
  return seed % 3 == 1 ? random_cluster(seed) : random_cluster(seed, {.may_evict = true, .running = 50});
}

}  // namespace muster::test
