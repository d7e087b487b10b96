#include "model/objective/preferred_terms.h"

#include <algorithm>

namespace muster {
namespace {

// The penalty of a spread beyond maxSkew, in hundredths of the pod's work: rising from 50 to 100 with the excess.
std::int64_t cost_of_excess(std::int64_t excess) { return excess <= 0 ? 0 : 100 * excess / (excess + 1); }
constexpr std::int64_t kCostOfNoDomain = 100;  // as much as any excess can cost

}  // namespace

PreferenceTally::PreferenceTally(const Problem& problem)
    : problem_(&problem), counts_(problem.inter_pod.preferred_terms.size()) {
  for (const PreferredTermIndex preferred_term : problem.inter_pod.preferred_terms.indices()) {
    const std::size_t domains = problem.inter_pod.preferred_terms[preferred_term].domains.domain_count;
    counts_[preferred_term].domains.resize(domains + 1);
    counts_[preferred_term].domains_with.assign(1, static_cast<std::int32_t>(domains));
  }
}

std::size_t PreferenceTally::position_of(PreferredTermIndex preferred_term, NodeIndex node) const {
  const AntiAffinity& domains = problem_->inter_pod.preferred_terms[preferred_term].domains;
  const DomainIndex domain = domains.domain_of[node];
  return domain.is_none() ? domains.domain_count : domain.value();
}

// Of one domain.
Wide PreferenceTally::worth(PreferredTermIndex index, std::size_t position) const {
  const PreferredTerm& preferred_term = problem_->inter_pod.preferred_terms[index];
  const Counts& counts = counts_[index];
  const InDomain& here = counts.domains[position];
  const bool is_domain = position < preferred_term.domains.domain_count;
  switch (preferred_term.kind) {
    case PreferredTerm::Kind::kNear:
      return preferred_term.weight *
             ((here.matching >= 1 ? here.work : 0) + (here.matching >= 2 ? here.work_that_matches : 0));
    case PreferredTerm::Kind::kApart:
      return preferred_term.weight *
             ((here.matching == 0 ? here.work : 0) + (here.matching <= 1 ? here.work_that_matches : 0));
    case PreferredTerm::Kind::kEven: {
      const std::int64_t excess = std::int64_t{here.matching} - counts.least - preferred_term.max_skew;
      return -(here.work + here.work_that_matches) * (is_domain ? cost_of_excess(excess) : kCostOfNoDomain);
    }
  }
  return 0;
}

void PreferenceTally::follow_least(Counts& counts, std::int32_t before, std::int32_t now) {
  std::vector<std::int32_t>& with = counts.domains_with;
  if (static_cast<std::size_t>(now) >= with.size()) with.resize(static_cast<std::size_t>(now) + 1, 0);
  --with[static_cast<std::size_t>(before)];
  ++with[static_cast<std::size_t>(now)];
  if (now < counts.least) counts.least = now;
  if (with[static_cast<std::size_t>(counts.least)] == 0) ++counts.least;  // only the domain that has grown was there
}

void PreferenceTally::count_match(PreferredTermIndex index, NodeIndex node, bool put) {
  const PreferredTerm& preferred_term = problem_->inter_pod.preferred_terms[index];
  const std::size_t position = position_of(index, node);
  if (position == preferred_term.domains.domain_count) return;  // no pod counts as another pod there
  Counts& counts = counts_[index];
  // If the emptiest domain changes, so does the value of every domain of a spread.
  const bool may_matter_to_all = preferred_term.kind == PreferredTerm::Kind::kEven;
  const std::size_t first = may_matter_to_all ? 0 : position;
  const std::size_t end = may_matter_to_all ? counts.domains.size() : position + 1;
  const auto sum = [&] {
    Wide all = 0;
    for (std::size_t at = first; at < end; ++at) all += worth(index, at);
    return all;
  };
  total_ -= sum();
  std::int32_t& matching = counts.domains[position].matching;
  const std::int32_t before = matching;
  matching += put ? 1 : -1;
  if (preferred_term.kind == PreferredTerm::Kind::kEven) follow_least(counts, before, matching);
  total_ += sum();
}

void PreferenceTally::count(const PodClass& pod_class, NodeIndex node, Work placed, bool put) {
  for (const PreferredTermIndex preferred_term : pod_class.preferences.preferred_matched)
    count_match(preferred_term, node, put);
  if (placed == 0) return;
  for (const OwnedPreferredTerm& owned : pod_class.preferences.preferred_owned) {
    const std::size_t position = position_of(owned.preferred_term, node);
    InDomain& here = counts_[owned.preferred_term].domains[position];
    total_ -= worth(owned.preferred_term, position);
    (owned.counts_itself ? here.work_that_matches : here.work) += put ? placed : -placed;
    total_ += worth(owned.preferred_term, position);
  }
}

std::int64_t PreferenceTally::points(const PodClass& pod_class, NodeIndex node) const {
  std::int64_t points = 0;
  for (const OwnedPreferredTerm& owned : pod_class.preferences.preferred_owned) {
    const PreferredTerm& preferred_term = problem_->inter_pod.preferred_terms[owned.preferred_term];
    const std::size_t position = position_of(owned.preferred_term, node);
    const Counts& counts = counts_[owned.preferred_term];
    const std::int64_t matching = counts.domains[position].matching;
    const bool is_domain = position < preferred_term.domains.domain_count;
    if (preferred_term.kind == PreferredTerm::Kind::kNear) points += matching > 0 ? preferred_term.weight : 0;
    if (preferred_term.kind == PreferredTerm::Kind::kApart) points += matching == 0 ? preferred_term.weight : 0;
    if (preferred_term.kind != PreferredTerm::Kind::kEven) continue;
    const std::int64_t excess = matching + (owned.counts_itself ? 1 : 0) - counts.least - preferred_term.max_skew;
    points -= is_domain ? cost_of_excess(excess) : kCostOfNoDomain;
  }
  return points;
}

}  // namespace muster
