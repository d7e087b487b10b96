// Pending pods that are alike in all that a placement decides, and what placing them means to gangs and queues.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster::brute_force {

struct PodKind {
  PodClassIndex pod_class;
  GangIndex gang;
  GroupIndex leaf;
  NodeIndex nominated_node;
  std::vector<PodIndex> pods;  // ascending
};

// How many pods of each kind: four bits a kind.
class Counts {
 public:
  std::int64_t operator[](std::size_t kind) const { return static_cast<std::int64_t>((bits_ >> (4 * kind)) & 15U); }
  void set(std::size_t kind, std::int64_t count) {
    bits_ &= ~(std::uint64_t{15} << (4 * kind));
    bits_ |= static_cast<std::uint64_t>(count) << (4 * kind);
  }
  // Requires that no kind exceeds 15 in total.
  friend Counts operator+(Counts a, Counts b) {
    a.bits_ += b.bits_;
    return a;
  }
  friend bool operator==(Counts, Counts) = default;
  std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

// Kinds of the gangs of which anything may be placed at all: of a queue that is a leaf, not timed out, minResources
// covered.
std::vector<PodKind> placeable_kinds(const Problem& problem);

// Every gang with a pod of `counts` has its minimum.
bool gangs_are_whole(const Problem& problem, const std::vector<PodKind>& kinds, Counts counts);

// By QueueIndex, inner ones included: usage of all and of what is not preemptible.
struct QueueUsage {
  Indexed<QueueIndex, QueueAmounts> all, fixed;
  Indexed<OtherLimitIndex, Amount> limited;  // what counts against limits on other resources
};
QueueUsage running_usage(const Problem& problem);
void add_usage(const Problem& problem, GangIndex gang, const QueueAmounts& amounts, QueueUsage& usage);
// Of so many pods of the class.
void add_limited(const Problem& problem, GangIndex gang, const PodClass& pod_class, std::int64_t pods,
                 QueueUsage& usage);
// Limits, and quotas of what is not preemptible, are kept, or what counts does not grow.
bool queues_allow(const Problem& problem, const QueueUsage& before, const QueueUsage& after);

}  // namespace muster::brute_force
