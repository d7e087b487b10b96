// A small snapshot with a plan, both as text, so that a test can break either by replacing one phrase.
#pragma once

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/referee/referee.h"
#include "model/snapshot/plan.h"

namespace muster::test {

// Stays where it is, as the problem refers to its snapshot. Throws on a snapshot that cannot be read: a defect of the
// test.
struct World {
  explicit World(const std::string& line)
      : snapshot(read(line)), problem(build(snapshot)), shares(compute_fair_shares(problem)) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  PodIndex pod(std::string_view name) const { return PodIndex(find(snapshot.pods, name)); }
  NodeIndex node(std::string_view name) const { return NodeIndex(find(snapshot.nodes, name)); }
  GangIndex gang(std::string_view name) const { return GangIndex(find(problem.gangs.raw(), name)); }

  // Lines "place POD NODE [gpus N...] [after POD...]" and "evict POD REASON [GANG]"; sorted as a plan must be.
  Plan plan(const std::string& text) const {
    Plan plan;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string verb, name;
      if (!(words >> verb >> name)) continue;
      if (verb == "place") plan.placements.push_back(placement(pod(name), words));
      if (verb == "evict") plan.evictions.push_back(eviction(pod(name), words));
      if (verb != "place" && verb != "evict") throw std::runtime_error("not a line of a plan: " + line);
    }
    normalise(plan);
    return plan;
  }

  std::vector<referee::Violation> check(const Plan& plan) const {
    return referee::check_plan(snapshot, problem, shares, plan);
  }

  Snapshot snapshot;
  Problem problem;
  FairShares shares;

 private:
  static Snapshot read(const std::string& line) {
    Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(line);
    if (!snapshot) throw std::runtime_error(snapshot.error().path + ": " + snapshot.error().message);
    return std::move(*snapshot);
  }
  static Problem build(Snapshot& snapshot) {
    Result<Problem> problem = build_problem(snapshot);
    if (!problem) throw std::runtime_error(problem.error().path + ": " + problem.error().message);
    return std::move(*problem);
  }
  static std::size_t find(const auto& list, std::string_view name) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].name == name) return i;
    }
    throw std::runtime_error("there is no " + std::string(name));
  }
  Placement placement(PodIndex placed, std::istringstream& words) const {
    std::string word, list;
    words >> word;
    Placement result{placed, node(word), {}, {}};
    while (words >> word) {
      if (word == "gpus" || word == "after") {
        list = word;
      } else if (list == "gpus") {
        result.devices.push_back(std::stoi(word));
      } else {
        result.after.push_back(pod(word));
      }
    }
    return result;
  }
  Eviction eviction(PodIndex evicted, std::istringstream& words) const {
    std::string reason, name;
    words >> reason;
    constexpr std::string_view kReasons[] = {"preempt", "reclaim", "consolidate", "stale"};
    const auto at = std::ranges::find(kReasons, reason);
    if (at == std::end(kReasons)) throw std::runtime_error("not a reason: " + reason);
    Eviction result{evicted, static_cast<EvictionReason>(at - kReasons), {}};
    if (words >> name) result.for_gang = gang(name);
    return result;
  }
};

// A valid plan of a snapshot.
struct Scenario {
  std::string name, snapshot, plan;
};

// Breaks a scenario in one way: `from`, a phrase that occurs once in the plan or else in the snapshot, becomes `to`.
struct Breach {
  std::string name;
  referee::Rule rule;
  std::string from, to;
};

inline std::string told(const std::vector<referee::Violation>& violations) {
  std::string text;
  for (const referee::Violation& violation : violations) {
    text.append(referee::rule_name(violation.rule))
        .append(": ")
        .append(violation.subject)
        .append(": ")
        .append(violation.message)
        .append("\n");
  }
  return text;
}

inline void replace_once(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the phrase is not there: " + from);
  if (text.find(from, at + 1) != std::string::npos) throw std::runtime_error("the phrase is there twice: " + from);
  text.replace(at, from.size(), to);
}

inline void expect_valid(const Scenario& scenario) {
  const World world(scenario.snapshot);
  EXPECT_EQ(told(world.check(world.plan(scenario.plan))), "") << scenario.name;
}

inline void expect_found(const Scenario& scenario, const Breach& breach) {
  Scenario broken = scenario;
  replace_once(broken.plan.find(breach.from) != std::string::npos ? broken.plan : broken.snapshot, breach.from,
               breach.to);
  const World world(broken.snapshot);
  const std::vector<referee::Violation> violations = world.check(world.plan(broken.plan));
  const bool found = std::ranges::any_of(
      violations, [&](const referee::Violation& violation) { return violation.rule == breach.rule; });
  EXPECT_TRUE(found) << scenario.name << ", " << breach.name << ": " << referee::rule_name(breach.rule)
                     << " is not among\n"
                     << told(violations);
  EXPECT_TRUE(std::ranges::is_sorted(violations, {}, &referee::Violation::rule)) << breach.name;
}

}  // namespace muster::test
