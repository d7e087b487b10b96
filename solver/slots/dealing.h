// Deals the pods of a task to places by exact fit tests: largest first, each where it leaves the least useful rest.
//
// A pod that fits nowhere ejects smaller ones, which join the pods of their own size (solver/slots/ejection.h). This is
// the heuristic by itself, and repairs a dealing that a model has prepared. Every kept pod has a place in the end: if
// none is found elsewhere, it returns home, and new pods give way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/slots/dealt_state.h"
#include "solver/slots/ejection.h"
#include "solver/slots/node_search.h"
#include "solver/slots/slot_task.h"

namespace muster::slots {

// What is known before pods are dealt.
struct Preparation {
  std::vector<PodIndex> off;   // kept pods to be moved
  std::vector<PodIndex> left;  // that leave: of each KeptPods as many as it says
  // How sharers fill devices together, so that all of them find room.
  struct Device {
    NodeIndex node;           // none: any of a part
    std::int32_t device = 0;  // on that node; else any idle one
    std::size_t part = 0;     // of `parts`
    std::map<SizeIndex, std::int32_t> sharers;
  };
  std::vector<Device> devices;
  std::vector<std::vector<bool>> parts;  // by NodeIndex
};

// Without moves: of KeptPods of which some leave, those on the nodes with the most idle devices leave.
Preparation choose_left(const SlotTask& task, const PodKinds& kinds);

class Dealing {
 public:
  // Once the clock has passed `time.improving`, hardly any pod is ejected for another one.
  Dealing(const SlotTask& task, const PodKinds& kinds, const PlaceTime& time);

  // To be called once. None: the clock passed `time.last` before every pod was dealt. With `repair`: for units without
  // places all pods are ejected and dealt anew until that time, or for some trials. Cost: a few us a pod, O(nodes) for
  // a pod that fits nowhere by itself and for each trial.
  std::optional<SlotResult> deal(const Preparation& preparation, const Deadline* repair = nullptr);

 private:
  void enqueue(PodIndex pod) { queue_.insert({dealt_.kinds().rank(pod), pod}); }
  void deal_queue(bool with_sharers);
  void deal_one(PodIndex pod);
  bool eject_for(PodIndex pod);
  void fill(const Preparation::Device& planned, const std::vector<std::vector<bool>>& parts);
  bool fill_one(SizeIndex size, NodeIndex node, std::int32_t device);
  NodeIndex node_to_open(const std::vector<bool>& nodes) const;
  void force_home(PodIndex pod);
  void drop(NewIndex unit);
  void give_up();
  void keep_min_resources();
  void place_homeless(const Deadline* repair);
  bool place_whole(NewIndex unit);
  bool place_by_ejections(NewIndex unit, const Deadline& deadline);
  bool deal_by_ejections(const Deadline& deadline);
  void bring_home();
  bool return_home(PodIndex pod);
  bool stay_instead(PodIndex pod);
  bool exchange(PodIndex pod);
  SlotResult result() const;

  const SlotTask& task_;
  Deadline ejecting_, last_;
  int looked_ = 0;  // pods for which others might have been ejected
  DealtState dealt_;
  NodeSearch search_;
  Ejection ejection_;
  std::set<std::pair<RankIndex, PodIndex>> queue_;  // pods that are off and wanted
  std::vector<bool> is_homeless_;                   // by position in SlotTask::placed
  std::vector<PodIndex> left_at_first_;
  std::size_t ejections_left_;
};

}  // namespace muster::slots
