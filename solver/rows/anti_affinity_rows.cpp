#include "solver/rows/anti_affinity_rows.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "model/base/require.h"

namespace muster::formulation {
namespace {

std::string name(const char* kind, AntiAffinityIndex term, DomainIndex domain) {
  return kind + std::to_string(term.value()) + "_" + std::to_string(domain.value());
}

bool contains(const std::vector<AntiAffinityIndex>& terms, AntiAffinityIndex term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

std::set<AntiAffinityIndex> terms_of(const PodClass& pod_class) {
  std::set<AntiAffinityIndex> terms(pod_class.anti_affinity_owned.begin(), pod_class.anti_affinity_owned.end());
  terms.insert(pod_class.anti_affinity_matched.begin(), pod_class.anti_affinity_matched.end());
  return terms;
}

// What a pod is to a term that involves it. The last row of a domain is for the pods that come there.
enum Role : std::uint8_t { kOwns, kMatches, kBoth, kComes };

Role role_of(const PodClass& pod_class, AntiAffinityIndex term) {
  const bool owns = contains(pod_class.anti_affinity_owned, term);
  return owns && contains(pod_class.anti_affinity_matched, term) ? kBoth : (owns ? kOwns : kMatches);
}

// Domains of a term in which pods that may leave exclude each other: as long as nothing comes, they may all stay.
std::set<std::pair<AntiAffinityIndex, DomainIndex>> domains_at_odds(const Problem& problem, const Demand& demand) {
  std::map<std::pair<AntiAffinityIndex, DomainIndex>, std::array<std::int64_t, 3>> running;
  for (const RunningCell& cell : demand.running) {
    const PodClass& pod_class = problem.class_of(cell.pods.front());
    for (const AntiAffinityIndex term : terms_of(pod_class))
      for (const PodIndex pod : cell.pods)
        ++running[{term, problem.inter_pod.anti_affinities[term].domain_of[problem.pods[pod].node]}]
                 [role_of(pod_class, term)];
  }
  std::set<std::pair<AntiAffinityIndex, DomainIndex>> result;
  for (const auto& [at, pods] : running)
    if (pods[kBoth] > 1 || (pods[kOwns] > 0 && pods[kMatches] > 0) ||
        (pods[kBoth] > 0 && pods[kOwns] + pods[kMatches] > 0))
      result.insert(at);
  return result;
}

}  // namespace

void AntiAffinityRows::add() {
  std::map<std::pair<AntiAffinityIndex, DomainIndex>, std::set<NodeIndex>> nodes;
  for (const ResidualClass& residual : in_.supply.residuals)
    for (DemandIndex demand : residual.demands)
      for (AntiAffinityIndex term : terms_of(in_.problem.pod_classes[in_.demand.classes[demand].pod_class]))
        for (NodeIndex node : residual.nodes) {
          model_.step();
          if (const DomainIndex domain = in_.problem.inter_pod.anti_affinities[term].domain_of[node]; !domain.is_none())
            nodes[{term, domain}].insert(node);
        }
  std::int64_t pods = 1;
  for (const DemandClass& d : in_.demand.classes) pods += d.count;
  const auto at_odds = domains_at_odds(in_.problem, in_.demand);
  for (const auto& [at, those] : nodes)
    if (those.size() > 1) add_row(at.first, at.second, {pods, at_odds.contains(at)});
}

void AntiAffinityRows::add_row(AntiAffinityIndex term, DomainIndex domain, const Apart& apart) {
  const auto pods = static_cast<double>(apart.pods);
  lp::LinearExpression one;
  // Not add_constraint: it would divide the row by the common divisor of its coefficients, and those of the
  // configurations are added later.
  const auto add_side = [&](Role role, double upper) {
    const std::int32_t row = model_.add_row(-lp::kInfinity, upper, name("apart", term, domain));
    rows_[{term, domain, role}] = row;
    return row;
  };
  const auto add_column = [&] {
    const std::int32_t column = model_.add_column(0, 1, true, name("a", term, domain));
    one.add(column, 1);
    return column;
  };
  for (const Role role : {kOwns, kMatches, kBoth})
    model_.add_entry(add_side(role, 0), add_column(), role == kBoth ? -1 : -pods);
  if (apart.at_odds) {
    const std::int32_t none_comes = add_column();
    for (const Role role : {kOwns, kMatches, kBoth})
      model_.add_entry(rows_.at({term, domain, role}), none_comes, -pods);
    model_.add_entry(add_side(kComes, pods), none_comes, pods);
  }
  model_.add_constraint(one, -lp::kInfinity, 1, name("apart_one", term, domain));
}

std::vector<lp::Entry> AntiAffinityRows::entries_of(ResidualClassIndex residual,
                                                    const Configuration& configuration) const {
  if (rows_.empty()) return {};
  MUSTER_REQUIRE(in_.supply.residuals[residual].count() == 1);
  std::map<std::int32_t, double> pods_of;
  const NodeIndex node = in_.supply.residuals[residual].nodes.front();
  for (const auto& [demand, count] : configuration.counts) {
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[demand].pod_class];
    for (AntiAffinityIndex term : terms_of(pod_class)) {
      const DomainIndex domain = in_.problem.inter_pod.anti_affinities[term].domain_of[node];
      for (const Role role : {role_of(pod_class, term), kComes}) {
        if (role == kComes && !in_.demand.classes[demand].stays.is_none()) continue;
        const auto row = rows_.find({term, domain, role});
        if (row != rows_.end()) pods_of[row->second] += count;
      }
    }
  }
  std::vector<lp::Entry> entries;
  for (const auto& [row, pods] : pods_of) entries.push_back({row, pods});
  return entries;
}

}  // namespace muster::formulation
