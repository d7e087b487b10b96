#include "heuristics/state/binding_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster {

bool passes(const Problem& problem, const InterPodCounts& present, const Binding& binding) {
  const PodClass& pod_class = problem.class_of(binding.pod);
  return fit::affinity(present, problem, pod_class, binding.node) &&
         fit::spread(present, problem, pod_class, binding.node);
}

std::vector<Binding> BindingSearch::order(const std::vector<Binding>& waiting) {
  if (waiting.size() > kMostPods) return {};
  std::map<std::pair<PodClassIndex, NodeIndex>, std::size_t> kind_at;
  for (const Binding& binding : waiting) {
    const PodClassIndex pod_class = problem_.pods[binding.pod].pod_class;
    const auto [at, is_new] = kind_at.try_emplace({pod_class, binding.node}, kinds_.size());
    if (is_new) {
      const PodClass& rules = problem_.pod_classes[pod_class];
      kinds_.push_back({{}, 0, !rules.affinity_matched.empty() || !rules.spread_matched.empty()});
    }
    kinds_[at->second].pods.push_back(binding);
  }
  left_ = waiting.size();
  return bind_rest() ? bound_ : std::vector<Binding>{};
}

bool BindingSearch::may_come(const Kind& kind) {
  if (kind.bound == kind.pods.size()) return false;
  ++checks_;
  return passes(problem_, present_, kind.pods[kind.bound]);
}

void BindingSearch::count(const Binding& binding, bool put) {
  present_.count(problem_, problem_.class_of(binding.pod), binding.node, put);
}

bool BindingSearch::bind_next(Kind& kind) {
  const Binding next = kind.pods[kind.bound++];
  count(next, true);
  bound_.push_back(next);
  --left_;
  if (bind_rest()) return true;
  ++left_;
  bound_.pop_back();
  count(next, false);
  --kind.bound;
  return false;
}

bool BindingSearch::bind_rest() {
  if (left_ == 0) return true;
  const std::uint64_t bound = hash_of_bound();
  if (dead_ends_.contains(bound)) return false;
  // A pod that no rule matches changes nothing for the others: it need not be tried later.
  for (Kind& kind : kinds_) {
    if (!kind.is_matched && may_come(kind)) return bind_next(kind);
  }
  for (Kind& kind : kinds_) {
    if (checks_ > kTuning.heuristics.binding_checks) return false;
    if (kind.is_matched && may_come(kind) && bind_next(kind)) return true;
  }
  dead_ends_.insert(bound);
  return false;
}

// Zobrist hashing: a number for each bound pod, mixed by splitmix64 (Steele et al. 2014). If two sets share a number by
// chance, an order may be missed; a returned order is never wrong.
std::uint64_t BindingSearch::hash_of_bound() const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    std::uint64_t mixed = (i << 32U) + kinds_[i].bound + 0x9E37'79B9'7F4A'7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D0'49BB'1331'11EBU;
    hash += mixed ^ (mixed >> 31U);
  }
  return hash;
}

}  // namespace muster
