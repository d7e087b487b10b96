#include "solver/rows/ordered_rows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

namespace muster::formulation {
namespace {

bool owns(const PodClass& pod_class, SpreadIndex spread) {
  return std::ranges::find(pod_class.spread_owned, spread, &OwnedSpread::spread) != pod_class.spread_owned.end();
}
bool matches(const PodClass& pod_class, SpreadIndex spread) {
  return std::ranges::binary_search(pod_class.spread_matched, spread);
}
bool matches(const PodClass& pod_class, AffinityIndex affinity) {
  return std::ranges::binary_search(pod_class.affinity_matched, affinity);
}
// Whether matching pods count there.
bool has_domain(const Affinity& affinity, NodeIndex node) {
  return std::ranges::any_of(affinity.terms, [&](const AntiAffinity& term) { return !term.domain_of[node].is_none(); });
}

}  // namespace

OrderedRows::OrderedRows(OrderedRowsInput input, lp::ModelBuilder& model)
    : in_(std::move(input)), model_(model), rules_(in_.problem, in_.demand) {}

void OrderedRows::add() {
  index_rules();
  find_circles();
  for (const SpreadIndex spread : rules_.spreads) add_spread(spread);
  for (const AffinityIndex affinity : rules_.affinities) find_firsts(affinity);
  for (const AffinityIndex affinity : rules_.affinities) add_affinity(affinity);
  add_first_pairs();
}

void OrderedRows::index_rules() {
  const auto enter = [&](const PodClass& pod_class, const auto& note) {
    std::set<AffinityIndex> affinities(pod_class.affinity_matched.begin(), pod_class.affinity_matched.end());
    if (!pod_class.affinity.is_none()) affinities.insert(pod_class.affinity);
    std::set<SpreadIndex> spreads(pod_class.spread_matched.begin(), pod_class.spread_matched.end());
    for (const OwnedSpread& owned : pod_class.spread_owned) spreads.insert(owned.spread);
    for (const AffinityIndex affinity : affinities) note(by_affinity_[affinity]);
    for (const SpreadIndex spread : spreads) note(by_spread_[spread]);
  };
  for (const DemandIndex d : in_.demand.classes.indices())
    if (!in_.columns[d].empty())
      enter(in_.problem.pod_classes[in_.demand.classes[d].pod_class],
            [&](Concerned& concerned) { concerned.arriving.push_back(d); });
  for (const RunningCellIndex cell : in_.demand.running.indices())
    enter(in_.problem.class_of(in_.demand.running[cell].pods.front()),
          [&](Concerned& concerned) { concerned.leaving.push_back(cell); });
}

template <class Visit>
void OrderedRows::for_each_arriving(const Concerned& concerned, const Visit& visit) const {
  for (const DemandIndex d : concerned.arriving) {
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[d].pod_class];
    for (const PartIndex part : in_.supply.parts.indices()) {
      const std::int32_t column = in_.columns[d][part.value()];
      if (column < 0) continue;
      model_.step();
      Group group{pod_class, in_.supply.parts[part].node, {}};
      group.pods.expression.add(column, 1);
      group.pods.most = static_cast<std::int64_t>(model_.upper(column));
      visit(group);
    }
  }
}

// Of those that may leave.
template <class Visit>
void OrderedRows::for_each_staying(const Concerned& concerned, const Visit& visit) const {
  for (const RunningCellIndex index : concerned.leaving) {
    const RunningCell& cell = in_.demand.running[index];
    visit(Group{in_.problem.class_of(cell.pods.front()), cell.node, {in_.staying(index), cell.count()}});
  }
}

// --- spread

void OrderedRows::add_spread(SpreadIndex index) {
  const Spread& spread = in_.problem.inter_pod.spreads[index];
  const Concerned& concerned = by_spread_[index];
  std::vector<SpreadDomain> domains(spread.domain_count);
  for (std::size_t domain = 0; domain < domains.size(); ++domain) {
    const std::int64_t pods = in_.base.inter_pod().spread(index, DomainIndex(domain));
    domains[domain].surely = pods;
    domains[domain].staying = {{pods, {}}, pods};
  }
  for_each_staying(concerned, [&](const Group& group) {
    const DomainIndex domain = spread.domain_of[group.node];
    if (!domain.is_none() && matches(group.pod_class, index)) domains[domain.value()].staying.add(group.pods);
  });
  for_each_arriving(concerned, [&](const Group& group) {
    const DomainIndex domain = spread.domain_of[group.node];
    if (domain.is_none()) return;
    SpreadDomain& there = domains[domain.value()];
    const bool is_matched = matches(group.pod_class, index), has_rule = owns(group.pod_class, index);
    if (is_matched) there.arriving.add(group.pods);
    if (has_rule) there.has_rule.add(group.pods);
    if (is_matched && has_rule) there.own.add(group.pods);
  });
  const std::int32_t least = add_least(spread, domains);
  for (const SpreadDomain& domain : domains)
    if (domain.has_rule.any()) add_spread_domain(spread, domain, least);
}

// The column for the number of pods in the emptiest domain; -1: it counts as having none.
std::int32_t OrderedRows::add_least(const Spread& spread, const std::vector<SpreadDomain>& domains) {
  if (domains.empty() || spread.domain_count < static_cast<std::size_t>(spread.min_domains)) return -1;
  std::int64_t surely = std::numeric_limits<std::int64_t>::max(), at_most = surely;
  for (const SpreadDomain& domain : domains) {
    surely = std::min(surely, domain.surely);
    at_most = std::min(at_most, domain.staying.most + domain.arriving.most);
  }
  const std::int32_t least =
      model_.add_column(static_cast<double>(surely), static_cast<double>(at_most), true, "least");
  for (const SpreadDomain& domain : domains) {
    if (domain.surely >= at_most) continue;
    lp::LinearExpression slack = domain.staying.expression;
    slack.add(domain.arriving.expression);
    slack.add(least, -1);
    model_.add_constraint(slack, 0, lp::kInfinity, "emptiest");
  }
  return least;
}

void OrderedRows::add_spread_domain(const Spread& spread, const SpreadDomain& domain, std::int32_t least) {
  const std::int64_t surely = least < 0 ? 0 : static_cast<std::int64_t>(model_.lower(least));
  const std::int64_t over = domain.staying.most - spread.max_skew - surely;  // at most, if none of them is placed
  if (over + domain.own.most <= 0) return;
  lp::LinearExpression skew = domain.own.expression;
  skew.add(domain.staying.expression);
  skew.constant -= spread.max_skew;
  if (least >= 0) skew.add(least, -1);
  if (over > 0) {
    const std::int32_t any = model_.add_column(0, 1, true, "u");
    lp::LinearExpression placed = domain.has_rule.expression;
    placed.add(any, -domain.has_rule.most);
    model_.add_constraint(placed, -lp::kInfinity, 0, "spread_any");
    skew.add(any, over);
    skew.constant -= over;
  }
  model_.add_constraint(skew, -lp::kInfinity, 0, "spread");
}

// --- affinity

// Pairs of affinities that each wait for the other, whatever is between them.
void OrderedRows::find_circles() {
  std::map<AffinityIndex, std::set<AffinityIndex>> waits;  // for the pods that the other affinity's owners match
  for (const auto& [affinity, concerned] : by_affinity_)
    for (const DemandIndex d : concerned.arriving) {
      const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[d].pod_class];
      if (matches(pod_class, affinity) && !pod_class.affinity.is_none() && pod_class.affinity != affinity)
        waits[affinity].insert(pod_class.affinity);
    }
  std::map<AffinityIndex, std::set<AffinityIndex>> reached;
  for (const auto& [affinity, first] : waits) {
    std::vector<AffinityIndex> open(first.begin(), first.end());
    while (!open.empty()) {
      const AffinityIndex next = open.back();
      open.pop_back();
      model_.step();
      if (!reached[affinity].insert(next).second) continue;
      if (const auto more = waits.find(next); more != waits.end())
        open.insert(open.end(), more->second.begin(), more->second.end());
    }
  }
  for (const auto& [affinity, first] : waits)
    for (const AffinityIndex other : first)
      if (reached[other].contains(affinity)) circular_.insert({affinity, other});
  for (const AffinityIndex affinity : rules_.affinities)
    for (const AntiAffinity& term : in_.problem.inter_pod.affinities[affinity].terms)
      most_rank_ += static_cast<std::int64_t>(term.domain_count);
}

void OrderedRows::find_firsts(AffinityIndex index) {
  if (in_.base.inter_pod().affine_anywhere(index) > 0) return;
  Firsts& firsts = firsts_[index];
  const std::vector<AntiAffinity>& terms = in_.problem.inter_pod.affinities[index].terms;
  bool is_new = true;
  for_each_arriving(by_affinity_[index], [&](const Group& group) {
    if (group.pod_class.affinity != index || !matches(group.pod_class, index)) return;
    std::vector<DomainIndex> at;
    for (const AntiAffinity& term : terms) at.push_back(term.domain_of[group.node]);
    firsts.pods[at].add(group.pods);
    std::vector<AffinityIndex> matched, common;
    for (const AffinityIndex other : group.pod_class.affinity_matched)
      if (has_domain(in_.problem.inter_pod.affinities[other], group.node)) matched.push_back(other);
    std::ranges::set_intersection(is_new ? matched : firsts.matched, matched, std::back_inserter(common));
    firsts.matched = std::move(common);
    is_new = false;
  });
  Pods staying;
  for_each_staying(by_affinity_[index], [&](const Group& group) {
    if (matches(group.pod_class, index) && has_domain(in_.problem.inter_pod.affinities[index], group.node))
      staying.add(group.pods);
  });
  lp::LinearExpression sum;
  for (const auto& [at, pods] : firsts.pods) {
    const std::int32_t column = model_.add_column(0, 1, true, "first");
    firsts.columns[at] = column;
    sum.add(column, 1);
    lp::LinearExpression there = pods.expression;
    there.add(column, -1);
    model_.add_constraint(there, 0, lp::kInfinity, "first_there");
  }
  if (sum.terms.empty()) return;
  model_.add_constraint(sum, -lp::kInfinity, 1, "one_first");
  if (!staying.any()) return;
  staying.expression.add(sum, staying.most);
  model_.add_constraint(staying.expression, -lp::kInfinity, static_cast<double>(staying.most), "first_anywhere");
}

// Each of the two first pods would have to come before the other.
void OrderedRows::add_first_pairs() {
  for (const auto& [affinity, firsts] : firsts_)
    for (const AffinityIndex other : firsts.matched) {
      model_.step();
      const auto at = firsts_.find(other);
      if (other <= affinity || at == firsts_.end()) continue;
      if (!std::ranges::binary_search(at->second.matched, affinity)) continue;
      lp::LinearExpression both;
      for (const auto& [domains, column] : firsts.columns) both.add(column, 1);
      for (const auto& [domains, column] : at->second.columns) both.add(column, 1);
      model_.add_constraint(both, -lp::kInfinity, 1, "first_of_two");
    }
}

void OrderedRows::add_affinity(AffinityIndex index) {
  const std::vector<AntiAffinity>& terms = in_.problem.inter_pod.affinities[index].terms;
  for (std::size_t term = 0; term < terms.size(); ++term) {
    std::map<DomainIndex, AffinityDomain> domains;
    const auto at = [&](const Group& group) { return terms[term].domain_of[group.node]; };
    for_each_arriving(by_affinity_[index], [&](const Group& group) {
      if (at(group).is_none()) return;
      AffinityDomain& domain = domains[at(group)];
      if (group.pod_class.affinity == index)
        domain.own.add(group.pods);
      else if (circular_.contains({index, group.pod_class.affinity}) && !is_sure(group.pod_class.affinity, group.node))
        domain.dependent.push_back(group);
      else if (matches(group.pod_class, index))
        domain.seeds.add(group.pods);
    });
    for_each_staying(by_affinity_[index], [&](const Group& group) {
      if (!at(group).is_none() && matches(group.pod_class, index)) domains[at(group)].staying.add(group.pods);
    });
    for (const auto& [domain, content] : domains)
      if (content.own.any() && in_.base.inter_pod().affine(index, term, domain) == 0)
        add_affinity_domain(index, term, domain, content);
  }
}

// Whether the pods that stay for good admit pods with the affinity.
bool OrderedRows::is_sure(AffinityIndex index, NodeIndex node) const {
  const std::vector<AntiAffinity>& terms = in_.problem.inter_pod.affinities[index].terms;
  for (std::size_t term = 0; term < terms.size(); ++term) {
    const DomainIndex domain = terms[term].domain_of[node];
    if (domain.is_none() || in_.base.inter_pod().affine(index, term, domain) == 0) return false;
  }
  return true;
}

void OrderedRows::add_affinity_domain(AffinityIndex index, std::size_t term, DomainIndex at,
                                      const AffinityDomain& domain) {
  const std::int32_t open = model_.add_column(0, 1, true, "y");
  lp::LinearExpression own = domain.own.expression;
  own.add(open, -domain.own.most);
  model_.add_constraint(own, -lp::kInfinity, 0, "affinity");
  lp::LinearExpression opens = domain.staying.expression;
  opens.add(domain.seeds.expression);
  for (const auto& [domains, column] : firsts_[index].columns)
    if (domains[term] == at) opens.add(column, 1);
  for (const Group& group : domain.dependent) {
    const std::int32_t relies = model_.add_column(0, 1, true, "w");
    lp::LinearExpression there = group.pods.expression;
    there.add(relies, -1);
    model_.add_constraint(there, 0, lp::kInfinity, "relies");
    const AffinityIndex other = group.pod_class.affinity;
    const std::vector<AntiAffinity>& terms = in_.problem.inter_pod.affinities[other].terms;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const DomainIndex below = terms[k].domain_of[group.node];
      if (in_.base.inter_pod().affine(other, k, below) > 0) continue;
      lp::LinearExpression higher;
      higher.add(rank(index, term, at), 1);
      higher.add(rank(other, k, below), -1);
      higher.add(relies, -most_rank_ - 1);
      model_.add_constraint(higher, static_cast<double>(-most_rank_), lp::kInfinity, "rank");
    }
    opens.add(relies, 1);
  }
  opens.add(open, -1);
  model_.add_constraint(opens, 0, lp::kInfinity, "opens");
}

std::int32_t OrderedRows::rank(AffinityIndex index, std::size_t term, DomainIndex domain) {
  const auto [found, is_new] = ranks_.try_emplace({index, term, domain}, -1);
  if (is_new) found->second = model_.add_column(0, static_cast<double>(most_rank_), true, "rank");
  return found->second;
}

}  // namespace muster::formulation
