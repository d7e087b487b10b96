#include "model/objective/wishes.h"

#include <algorithm>

namespace muster {
namespace {

// The penalty of a spread beyond maxSkew, in hundredths of the pod's work: rising from 50 to 100 with the excess.
std::int64_t cost_of_excess(std::int64_t excess) { return excess <= 0 ? 0 : 100 * excess / (excess + 1); }
constexpr std::int64_t kCostOfNoDomain = 100;  // as much as any excess can cost

}  // namespace

WishTally::WishTally(const Problem& problem) : problem_(&problem), counts_(problem.wishes.size()) {
  for (const WishIndex wish : problem.wishes.indices()) {
    const std::size_t domains = problem.wishes[wish].domains.domain_count;
    counts_[wish].domains.resize(domains + 1);
    counts_[wish].domains_with.assign(1, static_cast<std::int32_t>(domains));
  }
}

std::size_t WishTally::position_of(WishIndex wish, NodeIndex node) const {
  const AntiAffinity& domains = problem_->wishes[wish].domains;
  const DomainIndex domain = domains.domain_of[node];
  return domain.is_none() ? domains.domain_count : domain.value();
}

// Of one domain.
Wide WishTally::worth(WishIndex index, std::size_t position) const {
  const Wish& wish = problem_->wishes[index];
  const Counts& counts = counts_[index];
  const InDomain& here = counts.domains[position];
  const bool is_domain = position < wish.domains.domain_count;
  switch (wish.kind) {
    case Wish::Kind::kNear:
      return wish.weight * ((here.matching >= 1 ? here.work : 0) + (here.matching >= 2 ? here.work_that_matches : 0));
    case Wish::Kind::kApart:
      return wish.weight * ((here.matching == 0 ? here.work : 0) + (here.matching <= 1 ? here.work_that_matches : 0));
    case Wish::Kind::kEven: {
      const std::int64_t excess = std::int64_t{here.matching} - counts.least - wish.max_skew;
      return -(here.work + here.work_that_matches) * (is_domain ? cost_of_excess(excess) : kCostOfNoDomain);
    }
  }
  return 0;
}

void WishTally::follow_least(Counts& counts, std::int32_t before, std::int32_t now) {
  std::vector<std::int32_t>& with = counts.domains_with;
  if (static_cast<std::size_t>(now) >= with.size()) with.resize(static_cast<std::size_t>(now) + 1, 0);
  --with[static_cast<std::size_t>(before)];
  ++with[static_cast<std::size_t>(now)];
  if (now < counts.least) counts.least = now;
  if (with[static_cast<std::size_t>(counts.least)] == 0) ++counts.least;  // only the domain that has grown was there
}

void WishTally::count_match(WishIndex index, NodeIndex node, bool put) {
  const Wish& wish = problem_->wishes[index];
  const std::size_t position = position_of(index, node);
  if (position == wish.domains.domain_count) return;  // no pod counts as company there
  Counts& counts = counts_[index];
  // If the emptiest domain changes, so does the value of every domain of a spread.
  const bool may_matter_to_all = wish.kind == Wish::Kind::kEven;
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
  if (wish.kind == Wish::Kind::kEven) follow_least(counts, before, matching);
  total_ += sum();
}

void WishTally::count(const PodClass& pod_class, NodeIndex node, Work placed, bool put) {
  for (const WishIndex wish : pod_class.wishes_matched) count_match(wish, node, put);
  if (placed == 0) return;
  for (const OwnedWish& owned : pod_class.wishes_owned) {
    const std::size_t position = position_of(owned.wish, node);
    InDomain& here = counts_[owned.wish].domains[position];
    total_ -= worth(owned.wish, position);
    (owned.counts_itself ? here.work_that_matches : here.work) += put ? placed : -placed;
    total_ += worth(owned.wish, position);
  }
}

std::int64_t WishTally::points(const PodClass& pod_class, NodeIndex node) const {
  std::int64_t points = 0;
  for (const OwnedWish& owned : pod_class.wishes_owned) {
    const Wish& wish = problem_->wishes[owned.wish];
    const std::size_t position = position_of(owned.wish, node);
    const Counts& counts = counts_[owned.wish];
    const std::int64_t matching = counts.domains[position].matching;
    const bool is_domain = position < wish.domains.domain_count;
    if (wish.kind == Wish::Kind::kNear) points += matching > 0 ? wish.weight : 0;
    if (wish.kind == Wish::Kind::kApart) points += matching == 0 ? wish.weight : 0;
    if (wish.kind != Wish::Kind::kEven) continue;
    const std::int64_t excess = matching + (owned.counts_itself ? 1 : 0) - counts.least - wish.max_skew;
    points -= is_domain ? cost_of_excess(excess) : kCostOfNoDomain;
  }
  return points;
}

}  // namespace muster
