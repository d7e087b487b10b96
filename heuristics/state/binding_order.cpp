#include "heuristics/state/binding_order.h"

#include <algorithm>
#include <iterator>
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

namespace {

bool stays(const ClusterState& state, PodIndex pod) {
  return state.problem().pods[pod].status == PodStatus::kRunning && state.is_present(pod) && is_home(state, pod);
}

template <class Counts>
InterPodCounts running_inter_pod(const ClusterState& state, const Counts& counts) {
  const Problem& problem = state.problem();
  InterPodCounts inter_pod(problem);
  for (const PodIndex pod : problem.pods.indices()) {
    const PodClass& pod_class = problem.class_of(pod);
    if (pod_class.has_ordered_rules() && problem.pods[pod].status == PodStatus::kRunning && counts(pod))
      inter_pod.count(problem, pod_class, problem.pods[pod].node, true);
  }
  return inter_pod;
}

bool has_rule(const PodClass& pod_class) { return !pod_class.affinity.is_none() || !pod_class.spread_owned.empty(); }

}  // namespace

InterPodCounts staying_inter_pod(const ClusterState& end_state) {
  return running_inter_pod(end_state, [&](PodIndex pod) { return stays(end_state, pod); });
}

InterPodCounts leaving_inter_pod(const ClusterState& end_state) {
  return running_inter_pod(end_state, [&](PodIndex pod) { return !stays(end_state, pod); });
}

bool would_be_first(const Problem& problem, const InterPodCounts& present, PodIndex pod) {
  const AffinityIndex affinity = problem.class_of(pod).affinity;
  return !affinity.is_none() && present.affine_anywhere(affinity) == 0;
}

std::vector<Binding> ordered_bindings(const ClusterState& end_state) {
  const Problem& problem = end_state.problem();
  std::vector<Binding> bindings;
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.class_of(pod).has_ordered_rules() && end_state.is_present(pod) && !stays(end_state, pod))
      bindings.push_back({pod, end_state.node_of(pod)});
  }
  std::ranges::sort(bindings, {},
                    [&](const Binding& binding) { return problem.snapshot->pods[binding.pod.value()].name; });
  return bindings;
}

void BindingSequence::put(const Binding& binding) {
  present_.count(*problem_, problem_->class_of(binding.pod), binding.node, true);
  bound_.push_back(binding);
}

// Binds all bindings with a rule that pass, in one round. Returns the rest.
std::vector<Binding> BindingSequence::bind_rules(const std::vector<Binding>& waiting, const MayBind& may_bind) {
  std::vector<Binding> left;
  for (const Binding& binding : waiting) {
    if (has_rule(problem_->class_of(binding.pod)) && passes(binding, may_bind)) {
      put(binding);
    } else {
      left.push_back(binding);
    }
  }
  return left;
}

// Whether some pod with a rule passes once the other is bound.
bool BindingSequence::helps(const Binding& other, const std::vector<Binding>& waiting, const MayBind& may_bind) {
  const PodClass& pod_class = problem_->class_of(other.pod);
  present_.count(*problem_, pod_class, other.node, true);
  const bool any = std::ranges::any_of(waiting, [&](const Binding& binding) {
    return has_rule(problem_->class_of(binding.pod)) && passes(binding, may_bind);
  });
  present_.count(*problem_, pod_class, other.node, false);
  return any;
}

std::vector<Binding> BindingSequence::bind_once(std::vector<Binding> waiting, const MayBind& may_bind) {
  // The first pod of an affinity needs no other pod, and any matching pod would come too early before it.
  std::erase_if(waiting, [&](const Binding& binding) {
    const bool is_first = would_be_first(*problem_, present_, binding.pod) && passes(binding, may_bind);
    if (is_first) put(binding);
    return is_first;
  });
  while (!waiting.empty()) {
    std::vector<Binding> left = bind_rules(waiting, may_bind);
    if (left.size() == waiting.size()) {
      const auto is_free = [&](const Binding& binding) { return !has_rule(problem_->class_of(binding.pod)); };
      const bool all_free = std::ranges::all_of(left, is_free);
      auto next = std::ranges::find_if(left, [&](const Binding& binding) {
        return is_free(binding) && (all_free || helps(binding, left, may_bind));
      });
      if (next == left.end()) next = std::ranges::find_if(left, is_free);
      if (next == left.end()) return left;
      put(*next);
      left.erase(next);
    }
    waiting = std::move(left);
  }
  return waiting;
}

// The result may depend on which of several pods is the first of its affinity: the remaining ones start the next
// attempt.
std::vector<Binding> BindingSequence::bind(std::vector<Binding> waiting, const MayBind& may_bind) {
  const InterPodCounts before = present_;
  const std::size_t bound_before = bound_.size();
  std::vector<Binding> left = bind_once(waiting, may_bind);
  for (int attempt = 1; attempt < kTuning.heuristics.passes && !left.empty(); ++attempt) {
    std::stable_partition(waiting.begin(), waiting.end(), [&](const Binding& binding) {
      return std::ranges::find(left, binding.pod, &Binding::pod) != left.end();
    });
    present_ = before;
    bound_.resize(bound_before);
    left = bind_once(waiting, may_bind);
  }
  return left;
}

std::vector<Binding> BindingSequence::bind_by_search(const std::vector<Binding>& waiting) {
  const InterPodCounts before = present_;
  const std::size_t bound_before = bound_.size();
  std::vector<Binding> left = bind(waiting, nullptr);
  if (left.empty()) return left;
  const std::vector<Binding> order = BindingSearch(*problem_, before).order(waiting);
  if (order.empty()) return left;
  present_ = before;
  bound_.resize(bound_before);
  for (const Binding& binding : order) put(binding);
  return {};
}

bool has_binding_order(const ClusterState& end_state) {
  if (!end_state.problem().has_ordered_rules() || end_state.inter_pod_taken() == 0) return true;
  BindingSequence sequence(end_state.problem(), staying_inter_pod(end_state));
  return sequence.bind(ordered_bindings(end_state), nullptr).empty();
}

}  // namespace muster
