#include "heuristics/local_search/improve_part.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "heuristics/local_search/neighbourhood.h"
#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/repair.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/local_search/trial_gain.h"

namespace muster::local_search {

namespace {

constexpr int kStopEvery = 8;  // trials between two reads of the clock

// What a trial is about.
enum class TrialKind : std::uint8_t { kWaitingGang, kWholeGang, kSomeNodes };
constexpr std::size_t kTrialKinds = 3;

// One trial after another on the nodes of the part; keeps those that are improvements.
class PartSearch {
 public:
  // Requires at least one node.
  PartSearch(const SearchScope& scope, const ClusterState& state, const SearchPart& part)
      : random_(part.seed),
        nodes_(scope, state, part.nodes),
        waiting_(scope, part.waiting_pods),
        gangs_(scope, state, part, nodes_),
        neighbourhood_(scope, nodes_, random_),
        operators_(scope, gangs_, waiting_, random_),
        gain_(scope, state, part.counts_usable) {}

  void try_once() {
    trial_.clear();
    neighbourhood_.clear();
    const GangIndex wanted = draw_neighbourhood();
    if (neighbourhood_.is_empty()) return;
    operators_.destroy(neighbourhood_, trial_);
    std::optional<Gain> gain;
    if (operators_.repair(wanted, neighbourhood_, trial_)) {
      trial_.match();
      gain = gain_.of(trial_, neighbourhood_);
    }
    gain ? keep(*gain) : undo();
  }

  std::vector<Step> take_steps() { return std::move(steps_); }

 private:
  // Returns the waiting gang that the trial has to place; none: there is no such gang.
  GangIndex draw_neighbourhood() {
    GangIndex wanted = GangIndex::none();
    const auto kind = static_cast<TrialKind>(random_.below(kTrialKinds));
    if (kind == TrialKind::kWaitingGang && !gangs_.waiting().empty()) {
      wanted = gangs_.waiting()[random_.below(gangs_.waiting().size())];
      neighbourhood_.draw_for(wanted);
    } else if (kind == TrialKind::kWholeGang && !gangs_.whole().empty()) {
      trial_.leaving = gangs_.whole()[random_.below(gangs_.whole().size())];
      neighbourhood_.draw_of(trial_.leaving, gangs_);
    } else {
      neighbourhood_.draw();
    }
    return wanted;
  }

  void keep(const Gain& gain) {
    Step step;
    step.gain = gain;
    trial_.for_each([&](const TrialPod& pod) {
      if (!pod.stays()) step.changes.push_back({pod.pod, {pod.from, pod.from_devices}, {pod.to, pod.to_devices}});
    });
    for (std::size_t at = 0; at < neighbourhood_.size(); ++at) {
      nodes_.change(neighbourhood_.position(at), neighbourhood_.contents(at), trial_,
                    gain_.breaking_change(neighbourhood_.node(at).node));
    }
    nodes_.list_idle();
    gain_.keep(trial_);
    gangs_.note_kept(trial_);
    note_positions();
    steps_.push_back(std::move(step));
  }

  void note_positions() {
    trial_.for_each([&](const TrialPod& pod) {
      for (std::size_t at = 0; at < neighbourhood_.size(); ++at) {
        if (neighbourhood_.node(at).node == pod.to) gangs_.note_position(pod.pod, neighbourhood_.position(at));
      }
    });
  }

  // The pods of the trial wait as before, or no longer.
  void undo() {
    for (std::size_t i = trial_.placed.size(); i-- > 0;) {
      if (!trial_.placed[i].is_offered) continue;
      gangs_.note_dropped(trial_.placed[i].pod);
      waiting_.insert(trial_.placed[i].pod);
    }
    for (const TrialPod& pod : trial_.optional) {
      if (!pod.is_offered) continue;
      gangs_.note_placed(pod.pod);
      waiting_.withdraw(pod.pod);
    }
  }

  RandomSource random_;
  PartNodes nodes_;
  WaitingPods waiting_;
  PartGangs gangs_;
  Neighbourhood neighbourhood_;
  DestroyAndRepair operators_;
  TrialGain gain_;
  Trial trial_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> improve_part(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                               const StopRequest& stop) {
  if (part.nodes.empty()) return {};
  PartSearch search(scope, state, part);
  for (std::int64_t trial = 0; trial < part.trials; ++trial) {
    if (stop && trial % kStopEvery == 0 && stop()) break;
    search.try_once();
  }
  return search.take_steps();
}

}  // namespace muster::local_search
