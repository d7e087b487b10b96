// What tests start from: a cluster with the problem that is built of it, and a plan put together by names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "model/referee/referee.h"
#include "model/snapshot/plan.h"
#include "test/support/cluster.h"

namespace muster::test {

// What becomes of objects that do not add up.
enum class Oddities : std::uint8_t { kErrors, kSettled };

// Throws std::runtime_error where a snapshot cannot be read or built, or nothing has a name: a defect of the test.
// May be moved: the problem goes on to refer to the snapshot.
class Case {
 public:
  // `body`: see Cluster::body.
  explicit Case(const std::string& body, Oddities oddities = Oddities::kErrors)
      : Case(of_line(line_of(body), oddities)) {}
  explicit Case(const Cluster& cluster) : Case(of_line(cluster.line())) {}
  explicit Case(Snapshot snapshot);

  static Case of_line(const std::string& line, Oddities oddities = Oddities::kErrors);
  // None if the line or the snapshot is refused.
  static std::optional<Case> if_valid(const std::string& line);
  static std::optional<Case> if_valid(Snapshot snapshot);
  static Snapshot read(std::string_view line, Oddities oddities = Oddities::kErrors);

  const Problem& operator*() const { return parts_->problem; }
  const Problem* operator->() const { return &parts_->problem; }
  const Problem& problem() const { return parts_->problem; }
  const Snapshot& snapshot() const { return parts_->snapshot; }
  const FairShares& shares() const { return parts_->shares; }
  // Empty if it was made of a snapshot.
  const std::string& line() const { return line_; }

  PodIndex pod(std::string_view name) const;
  NodeIndex node(std::string_view name) const;
  GangIndex gang(std::string_view name) const;
  QueueIndex queue(std::string_view name) const;
  const PodClass& class_of(std::string_view name) const { return problem().class_of(pod(name)); }
  std::vector<std::int32_t> devices_of(std::string_view name) const;

  // Decisions of its plan; a move is both, with kConsolidate.
  Case& place(std::string_view pod, std::string_view node, std::vector<std::int32_t> devices = {},
              const std::vector<std::string_view>& after = {});
  Case& evict(std::string_view pod, EvictionReason reason = EvictionReason::kPreempt, std::string_view for_gang = "");
  Plan plan() const;

  std::vector<referee::Violation> check(const Plan& plan) const {
    return referee::check_plan(snapshot(), problem(), shares(), plan);
  }
  // Of the problem's levels: what its plan is worth there, and the trivial bound.
  std::int64_t value(LevelKind kind, std::int32_t priority = 0) const;
  std::int64_t bound(LevelKind kind, std::int32_t priority = 0) const;
  // The snapshot after the plan; the case is of no use any more.
  Snapshot next(const Plan& plan, Nanoseconds later);

 private:
  struct Parts {
    Snapshot snapshot;
    Problem problem;
    FairShares shares;
  };
  explicit Case(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
  std::size_t position(LevelKind kind, std::int32_t priority) const;

  std::unique_ptr<Parts> parts_;
  Plan plan_;
  std::string line_;
};

// What is wrong with it, as "code path"; empty if nothing is. What is plain from the line alone the reader refuses.
std::string error_of(const std::string& body);

}  // namespace muster::test
