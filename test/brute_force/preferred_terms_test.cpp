// Preferred pod affinity and anti-affinity and ScheduleAnyway: every plan of tiny instances valued by separate code,
// from the names in the line, and the engines against the best of them.
//
// MUSTER_INSTANCES and MUSTER_SEED as in campaign.h.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heuristics/state/cluster_state.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "solver/portfolio/portfolio.h"
#include "test/brute_force/campaign.h"
#include "test/support/case.h"
#include "test/support/paths.h"

namespace muster::brute_force {
namespace {

using Json = nlohmann::ordered_json;

// Nodes in zones, some without; pods of two applications that preferred term for one another or apart.
class PreferredTermDraw {
 public:
  explicit PreferredTermDraw(std::uint64_t seed) : random_(seed * 0x9E37'79B9'7F4A'7C15U + 5) {}

  Json line() {
    Json snapshot{{"format", "muster/v1"}, {"time", 1000}, {"policy", {{"actions", {"place"}}}}};
    const std::size_t nodes = 2 + below(3), pods = 3 + below(3);
    for (std::size_t n = 0; n < nodes; ++n) {
      Json node{{"name", "n" + std::to_string(n)}, {"resources", {{"cpu", 2 + below(3)}}}};
      if (below(6) != 0) node["labels"]["zone"] = "z" + std::to_string(below(2));
      node["labels"]["host"] = "h" + std::to_string(n);
      if (below(3) == 0) node["labels"]["pool"] = "p";
      snapshot["nodes"].push_back(node);
    }
    for (std::size_t p = 0; p < pods; ++p) snapshot["pods"].push_back(pod(p, nodes));
    if (below(2) == 0) make_gang(snapshot);
    return snapshot;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  Json pod(std::size_t number, std::size_t nodes) {
    Json pod{{"name", "p" + std::to_string(number)}, {"resources", {{"cpu", 1 + below(2)}}}};
    pod["labels"]["app"] = app();
    if (below(6) == 0) pod["namespace"] = "other";
    if (below(4) == 0) pod["node"] = "n" + std::to_string(below(nodes));
    if (below(5) == 0) pod["nodeSelector"]["pool"] = "p";
    for (const char* key : {"podAffinity", "podAntiAffinity"}) {
      for (std::size_t terms = below(3); terms > 0; --terms)
        pod[key]["preferredDuringSchedulingIgnoredDuringExecution"].push_back(term());
    }
    for (std::size_t constraints = below(3); constraints > 0; --constraints) {
      Json constraint{{"maxSkew", 1 + below(2)}, {"topologyKey", key()}, {"whenUnsatisfiable", "ScheduleAnyway"}};
      if (below(6) != 0) constraint["labelSelector"]["matchLabels"]["app"] = app();
      if (below(3) == 0) constraint["nodeAffinityPolicy"] = "Ignore";
      pod["topologySpread"].push_back(constraint);
    }
    return pod;
  }

  Json term() {
    Json term{{"topologyKey", key()}};
    if (below(6) != 0) term["labelSelector"]["matchLabels"]["app"] = app();
    if (below(5) == 0) term["namespaces"] = Json::array({"other"});
    return {{"weight", 1 + 33 * below(4)}, {"podAffinityTerm", term}};
  }

  // Of the first two pods that wait; each counts for the other.
  static void make_gang(Json& snapshot) {
    snapshot["gangs"].push_back({{"name", "g"}});
    int members = 0;
    for (Json& pod : snapshot["pods"]) {
      if (pod.contains("node") || members == 2) continue;
      pod["gang"] = "g";
      pod["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].push_back(
          {{"weight", 50}, {"podAffinityTerm", {{"topologyKey", "zone"}, {"matchGang", true}}}});
      ++members;
    }
  }

  std::string app() { return below(2) == 0 ? "x" : "y"; }
  std::string key() { return below(3) == 0 ? "host" : "zone"; }

  std::mt19937_64 random_;
};

// The preferences of pods that are met, as semantics.md defines them. `place`: each pod's node by name; none: it has
// none.
class PreferredTerms {
 public:
  explicit PreferredTerms(const Json& line) : line_(line) {}

  // In hundredths of the pod's work.
  std::int64_t points(std::size_t pod, const std::vector<std::string>& place) const {
    const Json& own = line_["pods"][pod];
    std::int64_t sum = 0;
    for (const Json& term : preferred(own, "podAffinity"))
      sum += has_inter_pod(term["podAffinityTerm"], pod, place) ? term["weight"].get<std::int64_t>() : 0;
    for (const Json& term : preferred(own, "podAntiAffinity"))
      sum += has_inter_pod(term["podAffinityTerm"], pod, place) ? 0 : term["weight"].get<std::int64_t>();
    if (!own.contains("topologySpread")) return sum;
    for (const Json& constraint : own["topologySpread"]) sum -= cost(constraint, pod, place);
    return sum;
  }

 private:
  static Json preferred(const Json& pod, const char* key) {
    return pod.contains(key) ? pod[key]["preferredDuringSchedulingIgnoredDuringExecution"] : Json::array();
  }
  static std::string space_of(const Json& pod) { return pod.value("namespace", "default"); }
  const Json& node(const std::string& name) const {
    return *std::ranges::find_if(line_["nodes"], [&](const Json& one) { return one["name"] == name; });
  }
  std::optional<std::string> label(const std::string& at, const std::string& key) const {
    const Json& labels = node(at)["labels"];
    return labels.contains(key) ? std::optional(labels[key].get<std::string>()) : std::nullopt;
  }
  static bool selects(const Json& rule, const Json& pod) {
    return rule.contains("labelSelector") && rule["labelSelector"]["matchLabels"]["app"] == pod["labels"]["app"];
  }

  bool has_inter_pod(const Json& term, std::size_t pod, const std::vector<std::string>& place) const {
    const auto domain = label(place[pod], term["topologyKey"]);
    const Json& own = line_["pods"][pod];
    for (std::size_t other = 0; domain && other < place.size(); ++other) {
      if (other == pod || place[other].empty() || label(place[other], term["topologyKey"]) != domain) continue;
      const Json& them = line_["pods"][other];
      const std::string space = term.contains("namespaces") ? term["namespaces"][0].get<std::string>() : space_of(own);
      const bool is_of_gang = own.contains("gang") && them.contains("gang");
      if (term.contains("matchGang") ? is_of_gang : space_of(them) == space && selects(term, them)) return true;
    }
    return false;
  }

  bool is_eligible(const Json& one, const Json& constraint, const Json& pod) const {
    const auto has_key = [&](const Json& other) {
      return one["labels"].contains(other["topologyKey"].get<std::string>());
    };
    const bool honors = constraint.value("nodeAffinityPolicy", "Honor") == "Honor";
    return std::ranges::all_of(pod["topologySpread"], has_key) &&
           (!honors || !pod.contains("nodeSelector") || one["labels"].contains("pool"));
  }

  std::int64_t cost(const Json& constraint, std::size_t pod, const std::vector<std::string>& place) const {
    const Json& own = line_["pods"][pod];
    if (!is_eligible(node(place[pod]), constraint, own)) return 100;
    const std::string key = constraint["topologyKey"];
    std::map<std::string, std::int64_t> counts;
    for (const Json& one : line_["nodes"]) {
      if (is_eligible(one, constraint, own)) counts[one["labels"][key]];
    }
    for (std::size_t other = 0; other < place.size(); ++other) {
      const Json& them = line_["pods"][other];
      if (place[other].empty() || !is_eligible(node(place[other]), constraint, own)) continue;
      if (space_of(them) == space_of(own) && selects(constraint, them)) ++counts[*label(place[other], key)];
    }
    const auto least = std::ranges::min_element(counts, {}, [](const auto& entry) { return entry.second; })->second;
    const std::int64_t beyond = counts[*label(place[pod], key)] - least - constraint["maxSkew"].get<std::int64_t>();
    return beyond <= 0 ? 0 : 100 * beyond / (beyond + 1);
  }

  const Json& line_;
};

// All plans that place pods which wait, and the best of them.
struct AllPlacements {
  explicit AllPlacements(const Json& drawn)
      : line(drawn),
        instance(test::Case::of_line(drawn.dump(), test::Oddities::kSettled)),
        problem(*instance),
        ids(level_ids(problem)),
        level(static_cast<std::size_t>(std::ranges::find(ids, LevelKind::kPreference, &LevelId::kind) - ids.begin())) {}

  // Whether every plan's level is what the preferred terms of its placed pods are worth.
  void try_all() {
    std::vector<PodIndex> waiting;
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kPending) waiting.push_back(pod);
    }
    std::vector<std::size_t> choice(waiting.size(), 0);  // 0: left over; n + 1: node n
    while (true) {
      Plan plan;
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (choice[i] > 0) plan.placements.push_back({waiting[i], NodeIndex(choice[i] - 1), {}, {}});
      }
      if (instance.check(plan).empty()) look_at(plan);
      std::size_t at = 0;
      while (at < choice.size() && ++choice[at] > problem.nodes.size()) choice[at++] = 0;
      if (at == choice.size()) return;
    }
  }

  void look_at(const Plan& plan) {
    const Levels levels = evaluate(problem, instance.shares(), plan);
    std::vector<std::string> place(line["pods"].size());
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kRunning)
        place[pod.value()] = instance.snapshot().nodes[problem.pods[pod].node.value()].name;
    }
    for (const Placement& placement : plan.placements)
      place[placement.pod.value()] = instance.snapshot().nodes[placement.node.value()].name;
    const PreferredTerms preferred_terms(line);
    std::int64_t value = 0;
    for (const Placement& placement : plan.placements)
      value += preferred_terms.points(placement.pod.value(), place) * problem.pods[placement.pod].weighted_work;
    EXPECT_EQ(levels.values[level], value) << line.dump();
    expect_in_state(plan, value);
    if (best.values.empty() || compare(levels, best, ids) > 0) best = levels;
  }

  // The same as pods come one after another, and nothing once they are gone.
  void expect_in_state(const Plan& plan, std::int64_t value) const {
    ClusterState state(problem, ClusterState::Releasing::kFreed);
    const auto before = state.checkpoint();
    for (const Placement& placement : plan.placements) state.put(placement.pod, placement.node, {});
    EXPECT_EQ(state.preferred_terms().value(), value) << line.dump();
    state.rollback(before);
    EXPECT_EQ(state.preferred_terms().value(), 0) << line.dump();
  }

  Json line;
  test::Case instance;
  const Problem& problem;
  std::vector<LevelId> ids;
  std::size_t level;  // position of `preference`
  Levels best;
};

TEST(PreferredTerms, AreWorthWhatTheDocumentationSaysAndNoEngineClaimsMore) {
  portfolio::Portfolio portfolio(test::program());
  const std::uint64_t first = setting("MUSTER_SEED", 1), count = setting("MUSTER_INSTANCES", 60);
  std::map<std::string, std::uint64_t> best_by;
  std::uint64_t proven = 0;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    AllPlacements all(PreferredTermDraw(seed).line());
    all.try_all();
    for (const auto& [name, engine] :
         {std::pair("greedy", portfolio::Engine::kGreedy), std::pair("milp", portfolio::Engine::kMilp),
          std::pair("auto", portfolio::Engine::kAuto)}) {
      portfolio::SolveOptions options;
      options.deterministic = true;
      options.engine = engine;
      const portfolio::Solution solution = portfolio.solve(all.instance.snapshot(), all.problem, options);
      EXPECT_TRUE(solution.defects.empty());
      const Levels levels = evaluate(all.problem, all.instance.shares(), solution.plan);
      const auto order = compare(levels, all.best, all.ids);
      EXPECT_FALSE(order > 0) << name << " is beyond the best: " << all.line.dump();
      if (order == 0) ++best_by[name];
      const bool is_proven = solution.proof == Proof::kOptimal;
      proven += is_proven ? 1 : 0;
      EXPECT_TRUE(!is_proven || order == 0) << name << ": false proof: " << all.line.dump();
      for (std::size_t i = 0; i < all.ids.size(); ++i) {
        const auto& bound = solution.report.objective.at(i).bound;
        const std::int64_t value = all.best.values[i];
        const bool holds = !bound || (is_maximised(all.ids[i].kind) ? value <= *bound : value >= *bound);
        EXPECT_TRUE(holds) << name << " claims too little: " << all.line.dump();
        if (levels.values[i] != value) break;
      }
    }
  }
  for (const auto& [name, found] : best_by)
    std::printf("%s: the best of %lu of %lu\n", name.c_str(), static_cast<unsigned long>(found),
                static_cast<unsigned long>(count));
  EXPECT_GE(best_by["auto"], best_by["greedy"]);
  EXPECT_GT(proven, 0U);
}

}  // namespace
}  // namespace muster::brute_force
