// A problem as one complete model, for another solver: no columns are priced later.
//
// Gangs, queues, evictions and levels are the rows of solver/formulation. The model that Muster itself writes
// (`--write-model`) is the one that it gives to CBC. If the configurations of the nodes cannot be listed, that model
// holds only the ones it has found, so the file's optimum need not be the problem's. If a node has too many
// configurations, it is modelled in another way here:
//
// Columns  a_nd  pods of demand class d on node n, integer
//          p_gk   devices of group g of the node (with equal free capacity and residents) that use pattern k
//          r_j    resident j stays, binary (if residents share devices)
// Rows     of a node, by resource:   sum request a <= free
//          of a node, by share of a device:  sum devices a <= sum over patterns of how many of it they hold
//          of a group:               sum p <= devices
//          of a resident, by device: r <= sum of the patterns that hold it
//          required anti-affinity within the node
// Nodes of which few configurations are maximal have a column for each of these, as in the formulation.
//
// Separate from solver/engine/whole_model.h on purpose, though the two are similar: if the engine's model omits
// something by
// mistake, this one has it, so the difference shows.
//
// Relaxed, so that the optimum may be above what a plan can reach: what solver/formulation/formulation.h names, and
// that no pod is
// evicted in vain. Not handled: pods that share several devices together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/demand/departure_options.h"
#include "solver/formulation/decode.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/configuration.h"
#include "solver/supply/residual_class.h"

namespace muster::bench {

class WholeModel {
 public:
  // Both outlive the model. Throws where the problem is not handled.
  WholeModel(const Problem& problem, const FairShares& shares)
      : problem_(problem),
        before_(problem, ClusterState::Releasing::kFreed),
        rules_(problem, shares, before_),
        candidates_(formulation::find_candidates(problem, rules_, before_)),
        demand_(formulation::collect_demand(problem, candidates_, before_)),
        base_(without_candidates()),
        zones_(formulation::collect_placement_zones(problem, demand_)),
        supply_(formulation::collect_supply(problem, demand_, zones_, base_)),
        anti_affinity_(problem, base_),
        configuration_input_{problem, demand_, anti_affinity_},
        formulation_({problem, shares, demand_, zones_, supply_, anti_affinity_, rules_, before_, base_, false}),
        listed_(supply_.residuals.size()) {
    for (const formulation::ResidualClassIndex residual : supply_.residuals.indices())
      if (!add_listed(residual))
        for (std::int64_t n = 0; n < supply_.residuals[residual].count(); ++n) add_node(residual);
  }
  WholeModel(const WholeModel&) = delete;
  WholeModel& operator=(const WholeModel&) = delete;

  formulation::Formulation& formulation() { return formulation_; }

  // A solution of the model as a plan, except that a pod which leaves or is moved although it could have stayed does
  // stay. Not checked; pods that find no place are left out.
  Plan plan_of(const std::vector<double>& x) const {
    formulation::FormulationSolution solution = formulation_.read(x);
    Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>> configurations = listed_;
    for (const Node& node : nodes_) {
      solution.configurations[node.residual.value()].emplace_back(configurations[node.residual].size(), 1);
      configurations[node.residual].push_back(content_of(node, x));
    }
    const QueueBounds bounds = queue_bounds(problem_, before_);
    ClusterState state = base_;
    const formulation::Decoded decoded = formulation::decode(
        {problem_, demand_, zones_, supply_, bounds, configurations, formulation_.channels()}, solution, state);
    std::map<GangIndex, std::vector<PodIndex>> away;
    for (const PlannedEviction& eviction : decoded.evictions)
      if (eviction.reason != EvictionReason::kStale) away[problem_.pods[eviction.pod].gang].push_back(eviction.pod);
    while (std::ranges::any_of(away, [&](const auto& gang) { return bring_back(gang.first, gang.second, state); })) {
    }
    return muster::plan_of(problem_, state, decoded.evictions);
  }

  // Whether it contains every pod that may leave; else a plan may be better than the optimum.
  bool is_complete() const { return candidates_.complete; }

 private:
  static constexpr std::size_t kMostStates = 20'000;   // while the configurations of one residual class are listed
  static constexpr std::size_t kMostListed = 400;      // maximal ones of one residual class
  static constexpr std::size_t kMostPatterns = 5'000;  // of one device
  using Counts = std::vector<std::pair<formulation::DemandIndex, std::int32_t>>;

  ClusterState without_candidates() const {
    ClusterState state = before_;
    formulation::remove_candidates(demand_, state);
    return state;
  }
  lp::ModelBuilder& model() { return formulation_.model(); }
  const PodClass& class_of(formulation::DemandIndex d) const {
    return problem_.pod_classes[demand_.classes[d].pod_class];
  }
  bool is_stay(formulation::DemandIndex d) const { return !demand_.classes[d].stays.is_none(); }

  // --- listed

  bool add_listed(formulation::ResidualClassIndex index) {
    if (anti_affinity_.spans_nodes()) return false;
    std::size_t states = kMostStates;
    const auto all = formulation::enumerate_configurations(configuration_input_, supply_.residuals[index], states);
    if (!all) return false;
    std::vector<const formulation::Configuration*> maximal;
    for (const formulation::Configuration& one : *all) {
      const auto holds = [&](const formulation::Configuration& other) {
        return &other != &one && is_below(one, other);
      };
      if (std::ranges::none_of(*all, holds)) maximal.push_back(&one);
      if (maximal.size() > kMostListed) return false;
    }
    for (const formulation::Configuration* one : maximal) {
      formulation_.add_configuration(index, *one);
      listed_[index].push_back(*one);
    }
    return true;
  }

  // Fewer pods of some class and more of none; of two equal ones the second.
  static bool is_below(const formulation::Configuration& one, const formulation::Configuration& other) {
    if (one.counts == other.counts) return &other < &one;
    return std::ranges::all_of(one.counts, [&](const auto& entry) {
      const auto found = std::ranges::find(other.counts, entry.first, &Counts::value_type::first);
      return found != other.counts.end() && found->second >= entry.second;
    });
  }

  // --- nodes by themselves

  using Sizes = std::map<DeviceUnits, std::int64_t>;
  struct Pattern {
    std::int32_t column = -1;
    std::map<DeviceUnits, std::int32_t> sharers;  // by share, whole ones included
    std::vector<std::size_t> residents;
  };
  struct Group {
    DeviceUnits free = 0;
    std::vector<std::size_t> residents;
    std::vector<std::int32_t> devices;  // positions in ResidualClass::free_devices
    std::vector<Pattern> patterns;
  };
  struct Node {
    formulation::ResidualClassIndex residual;
    std::vector<std::int32_t> counts;  // columns, by position in ResidualClass::demands
    std::vector<std::int32_t> stays;   // columns, by resident; of a pinned residual class
    std::vector<Group> groups;
  };

  void add_node(formulation::ResidualClassIndex index) {
    const formulation::ResidualClass& residual = supply_.residuals[index];
    Node node{index, {}, {}, groups_of(residual)};
    std::vector<std::int32_t>& columns = node.counts;
    for (std::size_t i = 0; i < residual.demands.size(); ++i) {
      const formulation::DemandIndex d = residual.demands[i];
      columns.push_back(model().add_column(0, static_cast<double>(residual.stock[i]), true,
                                           fmt::format("a{}_{}", nodes_.size(), d.value())));
      for (const lp::Entry& entry : formulation_.entries_of(index, {{}, {{d, 1}}, {}, 0}))
        if (entry.row != formulation_.capacity_row(index)) model().add_entry(entry.row, columns.back(), entry.value);
    }
    add_resources(residual, columns);
    add_devices(residual, node);
    add_anti_affinity(residual, columns);
    nodes_.push_back(std::move(node));
  }

  void add_resources(const formulation::ResidualClass& residual, const std::vector<std::int32_t>& columns) {
    for (std::size_t r = 0; r < residual.free.size(); ++r) {
      lp::LinearExpression used;
      for (std::size_t i = 0; i < columns.size(); ++i) used.add(columns[i], class_of(residual.demands[i]).request[r]);
      if (!used.terms.empty())
        model().add_constraint(used, -lp::kInfinity, static_cast<double>(residual.free[r]),
                               fmt::format("residual{}_{}", nodes_.size(), r));
    }
  }

  std::vector<Group> groups_of(const formulation::ResidualClass& residual) const {
    std::vector<Group> groups;
    for (std::size_t device = 0; device < residual.free_devices.size(); ++device) {
      Group group{residual.free_devices[device], {}, {}, {}};
      for (std::size_t j = 0; residual.pinned && j < residual.residents.size(); ++j)
        if (std::ranges::find(residual.residents[j].devices, static_cast<std::int32_t>(device)) !=
            residual.residents[j].devices.end())
          group.residents.push_back(j);
      auto same = std::ranges::find_if(
          groups, [&](const Group& other) { return other.free == group.free && other.residents == group.residents; });
      if (same == groups.end()) same = groups.insert(groups.end(), group);
      same->devices.push_back(static_cast<std::int32_t>(device));
    }
    return groups;
  }

  void add_devices(const formulation::ResidualClass& residual, Node& node) {
    const NodeClass& node_class = problem_.node_classes[residual.node_class];
    std::map<DeviceUnits, lp::LinearExpression> in_use;  // less what the patterns hold; by share
    Sizes stock;
    for (std::size_t i = 0; i < residual.demands.size(); ++i) {
      const PodClass& pod_class = class_of(residual.demands[i]);
      if (pod_class.gpu.kind == GpuRequestKind::kNone) continue;
      if (pod_class.gpu.kind != GpuRequestKind::kWhole && pod_class.gpu.devices > 1)
        throw std::runtime_error("a pod shares several devices");
      if (residual.pinned && is_stay(residual.demands[i])) continue;
      const DeviceUnits units = share_units(pod_class, node_class);
      in_use[units].add(node.counts[i], pod_class.gpu.devices);
      stock[units] += residual.stock[i] * pod_class.gpu.devices;
    }
    if (residual.pinned) add_residents(residual, node);
    for (Group& group : node.groups) {
      group.patterns = patterns_of(residual, node_class, group, stock);
      add_group(group, node, in_use);
    }
    for (const auto& [units, expression] : in_use)
      model().add_constraint(expression, -lp::kInfinity, 0, fmt::format("share{}_{}", nodes_.size(), units));
  }

  void add_group(Group& group, const Node& node, std::map<DeviceUnits, lp::LinearExpression>& in_use) {
    const auto devices = static_cast<std::int64_t>(group.devices.size());
    lp::LinearExpression used;
    std::map<std::size_t, lp::LinearExpression> held;  // by resident that is on all devices of the group if it stays
    for (const std::size_t j : group.residents) held[j].add(node.stays[j], -devices);
    for (Pattern& pattern : group.patterns) {
      pattern.column = model().add_column(0, static_cast<double>(devices), true, fmt::format("p{}", nodes_.size()));
      used.add(pattern.column, 1);
      for (const auto& [units, count] : pattern.sharers) in_use[units].add(pattern.column, -count);
      for (const std::size_t j : pattern.residents) held[j].add(pattern.column, 1);
    }
    if (!used.terms.empty())
      model().add_constraint(used, -lp::kInfinity, static_cast<double>(devices),
                             fmt::format("devices{}", nodes_.size()));
    for (const auto& [j, expression] : held)
      model().add_constraint(expression, 0, lp::kInfinity, fmt::format("held{}_{}", nodes_.size(), j));
  }

  void add_residents(const formulation::ResidualClass& residual, Node& node) {
    std::map<formulation::DemandIndex, lp::LinearExpression> staying;
    for (std::size_t j = 0; j < residual.residents.size(); ++j) {
      node.stays.push_back(model().add_column(0, 1, true, fmt::format("r{}_{}", nodes_.size(), j)));
      staying[residual.residents[j].stay].add(node.stays.back(), 1);
    }
    for (std::size_t i = 0; i < residual.demands.size(); ++i) {
      const auto found = staying.find(residual.demands[i]);
      if (found == staying.end()) continue;
      found->second.add(node.counts[i], -1);
      model().add_constraint(found->second, 0, 0,
                             fmt::format("stays{}_{}", nodes_.size(), residual.demands[i].value()));
    }
  }

  // What a device of the group can hold in addition to each set of its residents: the multisets of shares to which none
  // can be added.
  std::vector<Pattern> patterns_of(const formulation::ResidualClass& residual, const NodeClass& node_class,
                                   const Group& group, const Sizes& stock) const {
    if (group.residents.size() > 12) throw std::runtime_error("too many pods run on one device");
    std::vector<Pattern> patterns;
    for (std::size_t set = 0; set < std::size_t{1} << group.residents.size(); ++set) {
      Pattern pattern;
      DeviceUnits free = group.free;
      for (std::size_t k = 0; k < group.residents.size(); ++k)
        if ((set >> k & 1) != 0) {
          pattern.residents.push_back(group.residents[k]);
          free -= share_units(class_of(residual.residents[group.residents[k]].stay), node_class);
        }
      if (free >= 0) fill(free, stock.rbegin(), stock, pattern, patterns);
      if (patterns.size() > kMostPatterns) throw std::runtime_error("a device can be shared in too many ways");
    }
    return patterns;
  }

  void fill(DeviceUnits free, Sizes::const_reverse_iterator size, const Sizes& stock, Pattern& pattern,
            std::vector<Pattern>& patterns) const {
    if (size == stock.rend()) {
      const bool is_maximal = std::ranges::none_of(stock, [&](const auto& entry) {
        const auto held = pattern.sharers.find(entry.first);
        return entry.first <= free && (held == pattern.sharers.end() ? 0 : held->second) < entry.second;
      });
      if (is_maximal && (!pattern.sharers.empty() || !pattern.residents.empty())) patterns.push_back(pattern);
      return;
    }
    const auto most = static_cast<std::int32_t>(std::min<std::int64_t>(size->second, free / size->first));
    for (std::int32_t count = most; count >= 0; --count) {
      if (count > 0) pattern.sharers[size->first] = count;
      fill(free - count * size->first, std::next(size), stock, pattern, patterns);
      pattern.sharers.erase(size->first);
    }
  }

  // --- solutions

  static std::int64_t count_of(std::int32_t column, const std::vector<double>& x) {
    return std::llround(x[static_cast<std::size_t>(column)]);
  }

  // Brings back those of these pods of a gang that fit where they ran, if that leaves the gang whole or with its
  // minimum; a gang that is tied to a domain comes back whole or not at all. True if any pod came back.
  bool bring_back(GangIndex gang, const std::vector<PodIndex>& pods, ClusterState& state) const {
    const ClusterState::Checkpoint before = state.checkpoint();
    bool any = false, all = true;
    for (const PodIndex pod : pods) {
      const Place home = snapshot_place(problem_, pod);
      if (state.is_present(pod) && state.place_of(pod) == home) continue;
      const ClusterState::Checkpoint here = state.checkpoint();
      if (state.is_present(pod)) state.take(pod);
      if (fits_at(home, problem_.class_of(pod), state)) {
        state.put(pod, home.node, home.devices);
        any = true;
      } else {
        state.rollback(here);
        all = all && state.is_present(pod);
      }
    }
    const bool is_tied = std::ranges::any_of(problem_.gangs[gang].groups, [&](GroupIndex group) {
      return !problem_.groups[group].required_level.is_none();
    });
    const bool is_home = std::ranges::all_of(pods, [&](PodIndex pod) {
      return state.is_present(pod) && state.place_of(pod) == snapshot_place(problem_, pod);
    });
    if (any && (is_home || (!is_tied && (all || is_satisfied(state, gang))))) return true;
    state.rollback(before);
    return false;
  }

  bool fits_at(const Place& home, const PodClass& pod_class, const ClusterState& state) const {
    const DeviceUnits units = home.devices.empty() ? 0 : share_units(pod_class, problem_.class_of(home.node));
    const auto free = state.free_devices(home.node);
    const auto has_room = [&](std::int32_t device) { return free[static_cast<std::size_t>(device)] >= units; };
    return std::ranges::all_of(home.devices, has_room) && fit::capacity(room_of(state, home.node), pod_class) &&
           fit::anti_affinity(state, pod_class, home.node);
  }

  // The solution's pods on one node, one by one, each on devices whose patterns hold it.
  formulation::Configuration content_of(const Node& node, const std::vector<double>& x) const {
    const formulation::ResidualClass& residual = supply_.residuals[node.residual];
    std::map<DeviceUnits, std::vector<std::int32_t>> slots;  // devices, once for each sharer that their pattern holds
    for (const Group& group : node.groups) open_slots(group, x, slots);
    formulation::Configuration content;
    for (std::size_t j = 0; j < node.stays.size(); ++j)
      if (count_of(node.stays[j], x) > 0)
        content.steps.push_back(
            {residual.residents[j].stay, residual.residents[j].devices, static_cast<std::int32_t>(j)});
    for (std::size_t i = 0; i < residual.demands.size(); ++i) {
      const formulation::DemandIndex d = residual.demands[i];
      if (residual.pinned && is_stay(d)) continue;
      const GpuRequest& gpu = class_of(d).gpu;
      const DeviceUnits units =
          gpu.kind == GpuRequestKind::kNone ? 0 : share_units(class_of(d), problem_.node_classes[residual.node_class]);
      for (std::int64_t n = count_of(node.counts[i], x); n > 0; --n) {
        formulation::Configuration::Step step{d, {}, -1};
        std::vector<std::int32_t>& free = slots[units];
        if (std::ssize(free) < gpu.devices) break;  // a solution within the solver's tolerances only
        step.devices.assign(free.end() - gpu.devices, free.end());
        free.resize(free.size() - static_cast<std::size_t>(gpu.devices));
        std::ranges::sort(step.devices);
        content.steps.push_back(std::move(step));
      }
    }
    return content;
  }

  static void open_slots(const Group& group, const std::vector<double>& x,
                         std::map<DeviceUnits, std::vector<std::int32_t>>& slots) {
    std::size_t next = 0;
    for (const Pattern& pattern : group.patterns)
      for (std::int64_t n = count_of(pattern.column, x); n > 0 && next < group.devices.size(); --n, ++next)
        for (const auto& [units, count] : pattern.sharers)
          slots[units].insert(slots[units].end(), static_cast<std::size_t>(count), group.devices[next]);
  }

  // Pods that run next to each other may continue; placed pods have to respect all others.
  void add_anti_affinity(const formulation::ResidualClass& residual, const std::vector<std::int32_t>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::vector<std::size_t> others;
      for (std::size_t other = i; other < columns.size(); ++other)
        if (!is_stay(residual.demands[other]) &&
            anti_affinity_.conflict(demand_.classes[residual.demands[i]].pod_class,
                                    demand_.classes[residual.demands[other]].pod_class, residual.nodes.front()))
          others.push_back(other);
      if (others.empty()) continue;
      if (others.front() == i) {
        model().set_bounds(columns[i], 0, 1);
        others.erase(others.begin());
      }
      if (others.empty()) continue;
      const std::int32_t is_here = model().add_column(0, 1, true, fmt::format("h{}_{}", nodes_.size(), i));
      lp::LinearExpression own;
      own.add(columns[i], 1);
      own.add(is_here, -residual.stock[i]);
      model().add_constraint(own, -lp::kInfinity, 0, fmt::format("here{}_{}", nodes_.size(), i));
      for (const std::size_t other : others) {
        lp::LinearExpression foreign;
        foreign.add(columns[other], 1);
        foreign.add(is_here, residual.stock[other]);
        model().add_constraint(foreign, -lp::kInfinity, static_cast<double>(residual.stock[other]),
                               fmt::format("apart{}_{}", nodes_.size(), i));
      }
    }
  }

  const Problem& problem_;
  ClusterState before_;
  preemption::EvictionRules rules_;
  formulation::EvictionCandidates candidates_;
  formulation::Demand demand_;
  ClusterState base_;
  formulation::PlacementZones zones_;
  formulation::Supply supply_;
  formulation::AntiAffinityRules anti_affinity_;
  formulation::ConfigurationInput configuration_input_;
  formulation::Formulation formulation_;
  Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>> listed_;
  std::vector<Node> nodes_;  // put in by themselves, those of a residual class together
};

}  // namespace muster::bench
