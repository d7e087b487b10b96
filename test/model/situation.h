// A snapshot, its problem, and a plan for it, built from names; and the report on the plan.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/explain/report.h"
#include "model/objective/evaluation.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"

namespace muster {

class Situation {
 public:
  explicit Situation(const std::string& body) {
    Result<Snapshot> read = muster_v1::SnapshotReader().read(R"({"format":"muster/v1","time":1000000,)" + body + "}");
    EXPECT_TRUE(read) << read.error().path << ": " << read.error().message;
    snapshot_ = std::move(*read);
    Result<Problem> built = build_problem(snapshot_);
    EXPECT_TRUE(built) << built.error().message;
    problem_ = std::move(*built);
    shares_ = compute_fair_shares(problem_);
  }

  Situation& place(std::string_view pod, std::string_view node, std::vector<std::int32_t> devices = {},
                   const std::vector<std::string_view>& after = {}) {
    Placement placement{pod_named(pod), NodeIndex::none(), std::move(devices), {}};
    for (const NodeIndex index : problem_.nodes.indices()) {
      if (snapshot_.nodes[index.value()].name == node) placement.node = index;
    }
    for (const std::string_view name : after) placement.after.push_back(pod_named(name));
    plan_.placements.push_back(placement);
    return *this;
  }
  Situation& evict(std::string_view pod, EvictionReason reason, std::string_view for_gang = {}) {
    plan_.evictions.push_back({pod_named(pod), reason, GangIndex::none()});
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (problem_.gangs[gang].name == for_gang) plan_.evictions.back().for_gang = gang;
    }
    return *this;
  }
  Situation& prove() {
    proven_ = true;
    return *this;
  }

  explain::Report report(const std::function<bool()>& stop = {}, const std::function<void()>& only_reasons_left = {}) {
    normalise(plan_);
    const Levels levels = evaluate(problem_, shares_, plan_);
    return explain::describe(problem_, shares_,
                             explain::ReportInput{plan_, levels, {}, proven_, stop, only_reasons_left});
  }
  // Of the gang of that name; an entry with a reason for "absent" where the report has none.
  explain::GangReport gang(std::string_view name) {
    for (explain::GangReport& entry : report().gangs) {
      if (problem_.gangs[entry.gang].name == name) return entry;
    }
    explain::GangReport none;
    none.reason = {explain::ReasonCode::kInsufficient, "absent"};
    return none;
  }
  const Problem& problem() const { return problem_; }

 private:
  PodIndex pod_named(std::string_view name) const {
    for (const PodIndex index : problem_.pods.indices()) {
      if (snapshot_.pods[index.value()].name == name) return index;
    }
    ADD_FAILURE() << "no pod " << name;
    return PodIndex::none();
  }

  Snapshot snapshot_;
  Problem problem_;
  FairShares shares_;
  Plan plan_;
  bool proven_ = false;
};

inline std::int64_t nodes_of(const explain::GangReport& report, std::string_view code) {
  const auto text_of = [](const explain::Blocker& blocker) { return filter_text(blocker.filter); };
  const auto at = std::ranges::find(report.blockers, code, text_of);
  return at == report.blockers.end() ? 0 : at->nodes;
}

inline std::int64_t all_nodes_of(const explain::GangReport& report) {
  return std::accumulate(report.blockers.begin(), report.blockers.end(), std::int64_t{0},
                         [](std::int64_t sum, const explain::Blocker& blocker) { return sum + blocker.nodes; });
}

// `count` pods named `prefix`-0, ... of one gang.
inline std::string pods(const std::string& gang, int count, const std::string& rest) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += R"({"name":")" + gang + "-" + std::to_string(i) + R"(","gang":")" + gang + R"(")" +
            (rest.empty() ? "" : "," + rest) + "}";
  }
  return text;
}

inline const std::string kTwoNodesOfFour =
    R"("nodes":[{"name":"a","resources":{"cpu":4,"memory":"8Gi"},"gpus":{"count":4}},{"name":"b","resources":{"cpu":4,"memory":"8Gi"},"gpus":{"count":4}}],)";
inline const std::string kOneGpu = R"("gpu":{"count":1})";

}  // namespace muster
