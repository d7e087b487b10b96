// Plans on a thread of its own: from the cluster's objects to a plan, and from there to what is to be written.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/agent/planning/options.h"
#include "cli/agent/planning/spare_capacity.h"
#include "cli/agent/planning/staleness.h"
#include "cli/line/line.h"
#include "io/export/plan.h"
#include "model/base/tuning.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// Room that pods leave for a gang is held for it until it is used or given up.
//
// A gang that waits for pods to leave has its nodes as status.nominatedNodeName (nominations.h). While pods are leaving
// these nodes, and for a short time after that, they are closed to all others: in the snapshot they have a taint that
// only the gang's pods tolerate. Otherwise, a gang that came later and is larger could take the room, and more pods
// would be evicted for the first one. It is in the objects, so that another agent goes on with it.
class NodeReservations {
 public:
  // How long a node is held for pods that wait for none to leave there: until they start.
  static constexpr Nanoseconds kMostWait = kTuning.online.agent.held_s * kNanosecondsPerSecond;
  static constexpr std::string_view kTaint = "muster/room-of";

  // In the mode extender, pods have a node also if they start now: room is held only once pods were seen to leave it.
  explicit NodeReservations(ApplyMode mode) : mode_(mode) {}

  // Of the pods of these schedulers (all, if there are none). `now`: nanoseconds since the epoch; never less than
  // before. Cost: O(pods + nodes).
  void hold(Snapshot& snapshot, const std::vector<std::string>& schedulers, Nanoseconds now);

 private:
  ApplyMode mode_;
  std::map<std::string, Nanoseconds> since_;  // by gang: when pods were last seen to leave, or it was first seen
};

// The cluster at one moment.
struct ClusterObjects {
  kubernetes::KeptObjects objects;
  std::vector<const kubernetes::KnownKind*> unreadable = {};  // as in KubernetesOptions
  Nanoseconds time = 0;                                       // the API server's
};

// A gang that the plan does not start, with a pod of it that waits, or that is in part, with a pod of it that runs.
struct WaitingGangNote {
  std::string gang, pod;     // as the snapshot names them
  std::string reason, note;  // a code, `GangInPart` of one in part; a sentence, with the remedy if the plan has one
};

// A pod that waits, or is held by the import, whatever the plan says about it.
struct PendingPod {
  std::string name, gang;  // as the snapshot names them
};

// What a plan says about pods, beside its line.
struct PlannedPods {
  std::vector<PendingPod> pending;
  std::vector<WaitingGangNote> waiting;
  std::shared_ptr<SpareCapacity> room;  // that it leaves; only for the extender
};

// What the plan decides, and what carries that out in the cluster that it answers.
struct PlannedSteps {
  muster_v1::NamedPlan plan;
  Result<exporting::ExportedPlan> exported;
};

struct AgentPlan {
  std::shared_ptr<const ClusterObjects> cluster;  // that it answers
  Answer answer;
  std::shared_ptr<const PlannedPods> pods;
  std::shared_ptr<const PlannedSteps> steps;  // none: there is no plan, or the mode carries none out
  Staleness staleness;
  std::chrono::duration<double> elapsed{};
};

class AgentPlanner {
 public:
  using Post = std::function<void(std::function<void()>)>;  // runs a task on the owner's thread

  // `observe` is called on the planner's thread for each plan. What `post` takes may run after the planner's end.
  AgentPlanner(const AgentOptions& options, const std::string& worker_program, SolvedLineObserver observe, Post post);
  // Waits for the current task; the others are given up.
  ~AgentPlanner();
  AgentPlanner(const AgentPlanner&) = delete;
  AgentPlanner& operator=(const AgentPlanner&) = delete;

  // Each calls `done` on the owner's thread, in the order of the calls.
  void plan(std::shared_ptr<const ClusterObjects> cluster, std::function<void(AgentPlan)> done);
  // What carries the plan out in a cluster that has changed since, if the referee passes it as a plan of that one.
  using Exported = std::function<void(const Result<exporting::ExportedPlan>&)>;
  void check(std::shared_ptr<const ClusterObjects> cluster, std::shared_ptr<const PlannedSteps> steps, Exported done);

 private:
  void run();
  void push(std::function<void()> task);
  AgentPlan planned(const std::shared_ptr<const ClusterObjects>& cluster);
  AgentPlan planned_whole(const std::shared_ptr<const ClusterObjects>& cluster);
  std::shared_ptr<const PlannedSteps> steps_of(const SolvedLine& line, const ClusterObjects& cluster) const;
  Result<exporting::ExportedPlan> checked(const ClusterObjects& cluster, const muster_v1::NamedPlan& plan);
  kubernetes::KubernetesOptions options_for(const ClusterObjects& cluster) const;

  const AgentOptions& options_;
  const SolvedLineObserver observe_;
  const Post post_;
  muster_v1::SnapshotReader reader_;
  LineSolver solver_;
  NodeReservations held_{options_.mode};
  PartialGangs partial_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_closed_ = false;
  std::jthread thread_;
};

}  // namespace muster::cli
