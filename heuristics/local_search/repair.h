// Repairs a neighbourhood: places the destroyed pods anew, and waiting pods and gangs besides them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/local_search/neighbourhood.h"
#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Destroys a part of the placements in a neighbourhood, and repairs it by greedy insertion in a random order that
// prefers the large, or the valuable; the nodes by a random rule.
class DestroyAndRepair {
 public:
  // All must outlive it.
  DestroyAndRepair(const SearchScope& scope, PartGangs& gangs, WaitingPods& waiting, RandomSource& random)
      : scope_(scope), problem_(scope.problem()), gangs_(gangs), waiting_(waiting), random_(random) {}

  // The gang that is to leave is destroyed whole; of all other pods that may move a random part, of a random size. Pods
  // that may be dropped wait from then on. Requires a trial that is empty except for `leaving`. Cost: O(pods on the
  // nodes).
  void destroy(Neighbourhood& neighbourhood, Trial& trial);
  // Places the required pods, then the minimum of `wanted` (none: no such gang), then of all that wait what fits.
  // False: there is no place for one of the first two. Cost: O((pods of the trial + groups of waiting pods) x nodes).
  bool repair(GangIndex wanted, Neighbourhood& neighbourhood, Trial& trial);

 private:
  // Which of the pods that wait are placed first.
  enum class Preference : std::uint8_t { kWorth, kWorthPerCpu, kSquaredWorthPerCpu, kAny };
  static constexpr std::size_t kPreferences = 4;
  // A group of waiting pods, or a gang, that may be placed.
  struct Option {
    double key = 0;
    std::size_t position = 0;  // of the groups; beyond them, of drawn_
  };

  void add(const PartNode::Occupant& occupant, NodeIndex node, Trial& trial);
  bool place_required(Neighbourhood& neighbourhood, Trial& trial);
  bool place_gang(GangIndex gang, Neighbourhood& neighbourhood, Trial& trial);
  void fill(GangIndex wanted, Neighbourhood& neighbourhood, Trial& trial);
  void place_group(std::size_t group, Neighbourhood& neighbourhood, Trial& trial);
  void draw_gangs(GangIndex wanted, GangIndex leaving);
  void add_groups(const Neighbourhood& neighbourhood);
  void add_drawn_gangs();
  double key_of(double worth, Amount requested_cpu);

  const SearchScope& scope_;
  const Problem& problem_;
  PartGangs& gangs_;
  WaitingPods& waiting_;
  RandomSource& random_;
  // Of one trial.
  RepairRule rule_ = RepairRule::kAny;
  Preference preference_ = Preference::kAny;
  std::vector<GangIndex> drawn_;
  std::vector<Option> options_;
};

}  // namespace muster::local_search
