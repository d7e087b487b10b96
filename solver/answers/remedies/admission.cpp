#include "solver/answers/remedies/admission.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::answers {
namespace {

Admitted admitted_by(const Run& run, GangIndex gang) {
  Admitted result{run.admits(gang), run.is_choice_proven(), 0, 0};
  std::set<PodIndex> placed;
  for (const Placement& placement : run.solution.plan.placements) placed.insert(placement.pod);
  for (const Eviction& eviction : run.solution.plan.evictions) {
    ++(placed.contains(eviction.pod) ? result.moved : result.evicted);
  }
  return result;
}

// Changes that cannot be applied make a cluster that does not add up, and so admit nothing.
Admitted judged(const Result<std::unique_ptr<Run>>& run, const std::string& name) {
  const auto gang = run ? (*run)->find_gang(name) : std::nullopt;
  return gang ? admitted_by(**run, *gang) : Admitted();
}

std::string key_of(const Changes& changes) {
  std::string key;
  for (const change::Change& change : changes) key += change::text_of(change) + '\n';
  return key;
}

}  // namespace

void Admission::begin_trial() {
  is_trial_ = true;
  was_asked_ = false;
}

void Admission::begin_search(double share) {
  is_trial_ = false;
  tests_of_search_ = std::max<std::int64_t>(1, std::llround(static_cast<double>(tests_left_) * share));
  const portfolio::Clock::time_point end = experiment_.options().end, now = portfolio::Clock::now();
  if (end == portfolio::Clock::time_point::max()) return;
  const std::chrono::duration<double> part = std::max(end - now, portfolio::Clock::duration::zero()) * share;
  end_of_search_ = now + std::chrono::duration_cast<portfolio::Clock::duration>(part);
}

portfolio::Clock::time_point Admission::end_of_test() const {
  if (end_of_search_ == portfolio::Clock::time_point::max()) return end_of_search_;
  const portfolio::Clock::time_point now = portfolio::Clock::now();
  const std::chrono::duration<double> part = (end_of_search_ - now) * kTuning.parts.half;
  return now + std::chrono::duration_cast<portfolio::Clock::duration>(part);
}

bool Admission::is_over() const {
  if (is_trial_) return true;
  if (tests_left_ <= 0 || tests_of_search_ <= 0) return true;
  return end_of_search_ != portfolio::Clock::time_point::max() && portfolio::Clock::now() >= end_of_search_;
}

std::optional<Admitted> Admission::test(const Changes& changes) {
  note_asked();
  const std::string key = key_of(changes);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (is_over()) return std::nullopt;
  --tests_left_;
  --tests_of_search_;
  return known_[key] = judged(experiment_.solve(changes, end_of_test()), question_.gang);
}

std::optional<Admitted> Admission::sketch(const Changes& changes) {
  note_asked();
  const std::string key = key_of(changes);
  if (const auto known = sketched_.find(key); known != sketched_.end()) return known->second;
  if (is_over()) return std::nullopt;
  MUSTER_REQUIRE(sketch_cluster_ != nullptr);
  Admitted result = judged(experiment_.sketch(Snapshot(*sketch_cluster_), changes), question_.gang);
  result.proven = false;
  return sketched_[key] = result;
}

void Admission::sketch_on(const Snapshot& cluster) {
  sketched_.clear();
  sketch_cluster_ = &cluster;
}

}  // namespace muster::answers
