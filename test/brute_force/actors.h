// The pods that a plan may name in a tiny problem, numbered so that sets of them are bits of a word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster::brute_force {

// Bit i: the actor at position i.
using ActorSet = std::uint32_t;
inline constexpr std::size_t kMostActors = 16;

inline constexpr ActorSet only(std::size_t actor) { return ActorSet{1} << actor; }
inline constexpr bool has(ActorSet set, std::size_t actor) { return ((set >> actor) & 1U) != 0; }

// Calls visit(actor) for each of the set, ascending.
template <class Visit>
void for_each_actor(ActorSet set, const Visit& visit) {
  for (; set != 0; set &= set - 1) visit(static_cast<std::size_t>(std::countr_zero(set)));
}

struct Actor {
  PodIndex pod;
  GangIndex gang;
  NodeIndex home;  // its node; none: it is pending
};

// Every pod that runs or is pending, in the order of the pods.
struct Cast {
  explicit Cast(const Problem& problem);
  bool is_small() const { return actors.size() <= kMostActors; }

  std::vector<Actor> actors;
  ActorSet running = 0, pending = 0;
  Indexed<NodeIndex, ActorSet> at_home;
  Indexed<GangIndex, ActorSet> of_gang;
};

// Whether the gang's minimum is met, through its subgroups, by the actors of the set and by what has succeeded.
bool minimum_is_met(const Problem& problem, const Cast& cast, GangIndex gang, ActorSet there);

}  // namespace muster::brute_force
