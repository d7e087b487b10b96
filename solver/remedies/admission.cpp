#include "solver/remedies/admission.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "model/change/gangs.h"

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
  end_of_kind_ = now + std::chrono::duration_cast<portfolio::Clock::duration>(part);
  end_of_search_ = now + std::chrono::duration_cast<portfolio::Clock::duration>(part * kTuning.parts.half);
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
  Admitted result = judged(experiment_.solve(changes, end_of_test()), question_.gang);
  result.proven = result.proven && !result.admits && question_.refusal_proven && !is_over();
  if (result.proven) {
    const Admitted favoured = leaning(changes, 1, end_of_test(), 1);
    result.proven = favoured.proven && !favoured.admits;
  }
  return known_[key] = result;
}

std::optional<Admitted> Admission::settle(const Changes& changes) {
  const std::string key = key_of(changes);
  Admitted& known = known_[key];
  if (settled_.contains(key)) return known;
  if (tests_left_ <= 0 ||
      (end_of_kind_ != portfolio::Clock::time_point::max() && portfolio::Clock::now() >= end_of_kind_))
    return std::nullopt;
  const Admitted slighted = leaning(changes, -1, end_of_kind_, kTuning.answers.variations);
  Admitted settled = known;
  settled.proven = slighted.admits && slighted.proven;
  if (!settled.proven && !experiment_.options().solve.deterministic) {
    settled = judged(experiment_.solve(changes, end_of_kind_, kTuning.answers.variations), question_.gang);
    settled.proven = false;
  }
  settled_.insert(key);
  known = settled;
  known.admits = known.admits && known.proven;
  return settled;
}

Admitted Admission::leaning(const Changes& changes, double direction, portfolio::Clock::time_point end, int budgets) {
  --tests_left_;
  Snapshot snapshot(experiment_.original());
  const auto parts = change::find_gang(snapshot, question_.gang);
  if (!parts) return {};  // it has another name in the snapshot, since a gang has its own
  // Works are whole numbers, so that a small one changes only by a larger part of it.
  const double part = std::max(kTuning.answers.lean, 1.0 / static_cast<double>(question_.least_work));
  change::terms_of(*parts, snapshot).weight *= std::max(kTuning.parts.half, 1 + direction * part);
  return judged(experiment_.solve(std::move(snapshot), changes, end, budgets), question_.gang);
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
