// What the last plan says about each pod that waits, in the form in which kube-scheduler's extender is asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/agent/planning/planner.h"
#include "io/export/plan.h"

namespace muster::cli {

struct ViewedGang {
  std::string name;
  std::string waits;                  // why none of its pods may start: a sentence; empty: they may
  std::vector<std::string> starting;  // pods that start now; they start together
  // Uids of the pods that leave for it, by node.
  std::map<std::string, std::vector<std::string>, std::less<>> victims;
};

struct ViewedPod {
  std::size_t gang = 0;
  std::string uid;      // empty: unknown
  std::string node;     // where it is placed; empty: nowhere
  std::string binding;  // the Binding, of a pod that starts now
  bool starts() const { return !binding.empty(); }
};

// Immutable. A gang starts at once or not at all: if one of its pods has to wait for others to leave, all of them wait.
class PlanView {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `exported`: as Bindings. `pending`: all pods that the plan saw waiting. Cost: O(pods).
  PlanView(const exporting::ExportedPlan& exported, const std::vector<PendingPod>& pending,
           const std::vector<WaitingGangNote>& waiting, Time made);

  // `pod`: "namespace/name". None: the plan does not know it as one that waits.
  const ViewedPod* find(std::string_view pod) const;
  const ViewedGang& gang_of(const ViewedPod& pod) const { return gangs_[pod.gang]; }
  Time made() const { return made_; }
  const std::unordered_map<std::string, ViewedPod>& pods() const { return pods_; }

 private:
  std::size_t gang_at(const std::string& name);

  Time made_;
  std::vector<ViewedGang> gangs_;
  std::unordered_map<std::string, std::size_t> gang_of_name_;
  std::unordered_map<std::string, ViewedPod> pods_;
};

}  // namespace muster::cli
