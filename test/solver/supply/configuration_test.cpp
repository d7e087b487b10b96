#include "solver/supply/configuration.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"

namespace muster::formulation {
namespace {

using test::Case;
using test::ExactFormulation;

using Devices = std::vector<DeviceUnits>;  // free units of each, ascending
using Counts = std::vector<std::int32_t>;  // by DemandIndex

// Every content of one node by trying: all subsets of devices for each pod, on plain arrays.
class Exhaustive {
 public:
  Exhaustive(const ExactFormulation& f, const ResidualClass& residual)
      : problem_(f.problem), demand_(f.demand), state_(f.base), residual_(residual), node_(residual.nodes.front()) {}

  // How many count vectors there are to try.
  std::int64_t size() const {
    std::int64_t product = 1;
    for (const DemandClass& d : demand_.classes) product *= std::min<std::int64_t>(d.count, 6) + 1;
    return product;
  }

  // The counts that fit, each with the least that the node can then add to the last level.
  std::map<Counts, std::int64_t> run() {
    Counts counts(demand_.classes.size(), 0);
    for (;;) {
      if (const auto& ends = ends_of(counts); !ends.empty()) fitting_[counts] = least_last_level(counts, ends);
      std::size_t d = 0;
      while (d < counts.size() && counts[d] >= demand_.classes[DemandIndex(d)].count) counts[d++] = 0;
      if (d == counts.size()) return fitting_;
      ++counts[d];
    }
  }

 private:
  const PodClass& class_of(std::size_t d) const {
    return problem_.pod_classes[demand_.classes[DemandIndex(d)].pod_class];
  }

  std::int64_t free_after(const Counts& counts, std::size_t resource) const {
    std::int64_t free = residual_.free[resource];
    for (std::size_t d = 0; d < counts.size(); ++d) free -= counts[d] * class_of(d).request[resource];
    return free;
  }

  // What the devices can look like with these pods on the node; empty: they do not fit.
  const std::set<Devices>& ends_of(const Counts& counts) {
    const auto [found, is_new] = ends_.try_emplace(counts);
    if (!is_new) return found->second;
    std::set<Devices> ends;
    const auto last = std::ranges::find_if(counts, [](std::int32_t count) { return count > 0; });
    if (last == counts.end()) {
      ends.insert(residual_.free_devices);
    } else if (is_allowed(counts)) {
      Counts fewer = counts;
      const auto d = static_cast<std::size_t>(last - counts.begin());
      --fewer[d];
      for (const Devices& before : ends_of(fewer)) add_one(class_of(d), before, ends);
    }
    return ends_[counts] = std::move(ends);
  }

  bool is_allowed(const Counts& counts) const {
    for (std::size_t r = 0; r < residual_.free.size(); ++r)
      if (free_after(counts, r) < 0) return false;
    for (std::size_t d = 0; d < counts.size(); ++d) {
      if (counts[d] == 0) continue;
      if (!class_of(d).allowed[residual_.node_class.value()]) return false;
      if (!fit::anti_affinity(state_, class_of(d), node_)) return false;
    }
    return !repel(counts);
  }

  // Two different pods, of which one owns a term that the other matches.
  bool repel(const Counts& counts) const {
    for (std::size_t a = 0; a < counts.size(); ++a)
      for (AntiAffinityIndex term : class_of(a).anti_affinity_owned) {
        if (counts[a] == 0 || problem_.inter_pod.anti_affinities[term].domain_of[node_].is_none()) continue;
        for (std::size_t b = 0; b < counts.size(); ++b) {
          const auto& matched = class_of(b).anti_affinity_matched;
          if (counts[b] > (a == b ? 1 : 0) && std::ranges::find(matched, term) != matched.end()) return true;
        }
      }
    return false;
  }

  void add_one(const PodClass& pod_class, const Devices& before, std::set<Devices>& ends) const {
    const NodeClass& node_class = problem_.node_classes[residual_.node_class];
    if (pod_class.gpu.kind == GpuRequestKind::kNone) {
      ends.insert(before);
      return;
    }
    if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0) return;
    const DeviceUnits units = share_units(pod_class, node_class);
    for (std::uint32_t subset = 0; subset < (1U << before.size()); ++subset) {
      if (std::popcount(subset) != pod_class.gpu.devices) continue;
      Devices after = before;
      for (std::size_t i = 0; i < after.size(); ++i)
        if ((subset >> i & 1U) != 0) after[i] -= units;
      std::ranges::sort(after);
      if (after.empty() || after.front() >= 0) ends.insert(after);
    }
  }

  std::int64_t least_last_level(const Counts& counts, const std::set<Devices>& ends) const {
    std::vector<Amount> free;
    for (std::size_t r = 0; r < residual_.free.size(); ++r) free.push_back(free_after(counts, r));
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Devices& devices : ends)
      least = std::min(least, last_level_of(problem_, {residual_.node_class, free, devices}));
    return least;
  }

  const Problem& problem_;
  const Demand& demand_;
  const ClusterState& state_;
  const ResidualClass& residual_;
  NodeIndex node_;
  std::map<Counts, std::set<Devices>> ends_;
  std::map<Counts, std::int64_t> fitting_;
};

Counts counts_of(const Configuration& configuration, std::size_t demands) {
  Counts counts(demands, 0);
  for (const auto& [demand, count] : configuration.counts) counts[demand.value()] += count;
  return counts;
}

// Every content of one node with sharers, each device with its own name: the pods on it, and the classes of residents
// of which one more could stay. By trying all subsets of the residents, then all subsets of devices for each arriving
// pod.
class EveryDevice {
 public:
  using Content = std::pair<Counts, std::vector<DemandIndex>>;

  EveryDevice(const ExactFormulation& f, const ResidualClass& residual)
      : problem_(f.problem),
        demand_(f.demand),
        residual_(residual),
        node_class_(f.problem.node_classes[residual.node_class]) {}

  std::set<Content> run() {
    for (std::uint32_t there = 0; there < (1U << residual_.residents.size()); ++there) {
      State state{there, residual_.free, residual_.free_devices, Counts(demand_.classes.size(), 0)};
      for (std::size_t r = 0; r < residual_.residents.size(); ++r)
        if ((there >> r & 1U) != 0) state = with(state, residual_.residents[r].stay, residual_.residents[r].devices);
      extend(state, 0);
    }
    return contents_;
  }

 private:
  struct State {
    std::uint32_t there = 0;  // bits: positions of residents
    std::vector<Amount> free;
    Devices devices;
    Counts counts;
  };

  const PodClass& class_of(DemandIndex d) const { return problem_.pod_classes[demand_.classes[d].pod_class]; }

  State with(State state, DemandIndex demand, const std::vector<std::int32_t>& devices) const {
    const PodClass& pod_class = class_of(demand);
    for (std::size_t r = 0; r < state.free.size(); ++r) state.free[r] -= pod_class.request[r];
    for (const std::int32_t device : devices)
      state.devices[static_cast<std::size_t>(device)] -= share_units(pod_class, node_class_);
    ++state.counts[demand.value()];
    return state;
  }

  static bool fits(const State& state) {
    const auto left = [](auto amount) { return amount >= 0; };
    return std::ranges::all_of(state.free, left) && std::ranges::all_of(state.devices, left);
  }

  void extend(const State& state, std::size_t first) {
    contents_.insert({state.counts, could_stay(state)});
    for (std::size_t at = first; at < residual_.demands.size(); ++at) {
      const DemandIndex d = residual_.demands[at];
      if (!demand_.classes[d].stays.is_none() || state.counts[d.value()] >= residual_.stock[at]) continue;
      for (std::uint32_t subset = 0; subset < (1U << state.devices.size()); ++subset) {
        if (std::popcount(subset) != class_of(d).gpu.devices) continue;
        std::vector<std::int32_t> devices;
        for (std::size_t i = 0; i < state.devices.size(); ++i)
          if ((subset >> i & 1U) != 0) devices.push_back(static_cast<std::int32_t>(i));
        if (const State next = with(state, d, devices); fits(next)) extend(next, at);
      }
    }
  }

  std::vector<DemandIndex> could_stay(const State& state) const {
    std::set<DemandIndex> classes;
    for (std::size_t r = 0; r < residual_.residents.size(); ++r)
      if ((state.there >> r & 1U) == 0 &&
          fits(with(state, residual_.residents[r].stay, residual_.residents[r].devices)))
        classes.insert(residual_.residents[r].stay);
    return {classes.begin(), classes.end()};
  }

  const Problem& problem_;
  const Demand& demand_;
  const ResidualClass& residual_;
  const NodeClass& node_class_;
  std::set<Content> contents_;
};

bool has_anti_affinity(const ExactFormulation& f, const ResidualClass& residual) {
  return std::ranges::any_of(residual.demands, [&](DemandIndex d) {
    const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[d].pod_class];
    return !pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty();
  });
}

// Calls visit(formulation, residual) for the residual classes of many random clusters in which all that runs stays.
template <class Visit>
void for_each_room(std::uint32_t clusters, const Visit& visit, bool may_leave = false) {
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const ExactFormulation f(cluster, may_leave);
    if (!f.is_listed) continue;
    for (ResidualClassIndex residual : f.supply.residuals.indices()) visit(f, f.supply.residuals[residual]);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(EnumerateConfigurations, ListsExactlyTheCountsThatFit) {
  std::int64_t residuals = 0, listed = 0;
  for_each_room(400, [&](const ExactFormulation& f, const ResidualClass& residual) {
    Exhaustive exhaustive(f, residual);
    if (exhaustive.size() > 3000) return;
    std::size_t states = 100'000;
    const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
    ASSERT_TRUE(configurations);
    std::set<Counts> found;
    for (const Configuration& c : *configurations)
      EXPECT_TRUE(found.insert(counts_of(c, f.demand.classes.size())).second) << "listed twice";
    std::set<Counts> expected;
    for (const auto& [counts, last_level] : exhaustive.run()) expected.insert(counts);
    EXPECT_EQ(found, expected);
    ++residuals;
    listed += static_cast<std::int64_t>(expected.size());
  });
  EXPECT_GE(residuals, 300);
  EXPECT_GE(listed, 3000);
}

TEST(EnumerateConfigurations, ChoosesThePlacingThatIsBestForTheLastLevel) {
  for_each_room(400, [&](const ExactFormulation& f, const ResidualClass& residual) {
    Exhaustive exhaustive(f, residual);
    if (exhaustive.size() > 3000) return;
    std::size_t states = 100'000;
    const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
    ASSERT_TRUE(configurations);
    const std::map<Counts, std::int64_t> least = exhaustive.run();
    for (const Configuration& c : *configurations)
      EXPECT_EQ(c.last_level, least.at(counts_of(c, f.demand.classes.size())));
  });
}

TEST(EnumerateConfigurations, ListsTheEmptyOneFirst) {
  for_each_room(100, [](const ExactFormulation& f, const ResidualClass& residual) {
    std::size_t states = 100'000;
    const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
    ASSERT_TRUE(configurations);
    ASSERT_FALSE(configurations->empty());
    EXPECT_TRUE(configurations->front().counts.empty());
    EXPECT_TRUE(configurations->front().steps.empty());
  });
}

TEST(EnumerateConfigurations, StepsPutDownTheCountsAndFit) {
  for_each_room(200, [](const ExactFormulation& f, const ResidualClass& residual) {
    std::size_t states = 100'000;
    const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
    ASSERT_TRUE(configurations);
    const NodeClass& node_class = f.problem.node_classes[residual.node_class];
    for (const Configuration& configuration : *configurations) {
      Counts counts(f.demand.classes.size(), 0);
      std::vector<Amount> free = residual.free;
      Devices devices = residual.free_devices;
      for (const Configuration::Step& step : configuration.steps) {
        ++counts[step.demand.value()];
        const PodClass& pod_class = f.problem.pod_classes[f.demand.classes[step.demand].pod_class];
        for (std::size_t r = 0; r < free.size(); ++r) free[r] -= pod_class.request[r];
        EXPECT_EQ(step.devices.size(), static_cast<std::size_t>(pod_class.gpu.devices));
        EXPECT_TRUE(std::ranges::is_sorted(step.devices, std::ranges::less_equal())) << "devices differ and ascend";
        for (std::int32_t device : step.devices)
          devices.at(static_cast<std::size_t>(device)) -= share_units(pod_class, node_class);
      }
      EXPECT_EQ(counts, counts_of(configuration, counts.size()));
      EXPECT_TRUE(std::ranges::all_of(free, [](Amount left) { return left >= 0; }));
      EXPECT_TRUE(std::ranges::all_of(devices, [](DeviceUnits left) { return left >= 0; }));
      EXPECT_EQ(configuration.last_level, last_level_of(f.problem, {residual.node_class, free, devices}));
    }
  });
}

TEST(EnumerateConfigurations, GivesUpBeyondTheLimit) {
  for_each_room(100, [](const ExactFormulation& f, const ResidualClass& residual) {
    std::size_t states = 100'000;
    const auto all = enumerate_configurations(f.configuration_input, residual, states);
    ASSERT_TRUE(all);
    if (all->size() == 1) return;
    std::size_t too_few = all->size() - 1;
    EXPECT_FALSE(enumerate_configurations(f.configuration_input, residual, too_few));
  });
}

TEST(EnumerateConfigurations, StopsWhenItIsAskedTo) {
  for_each_room(20, [](const ExactFormulation& f, const ResidualClass& residual) {
    std::size_t states = 100'000;
    EXPECT_FALSE(enumerate_configurations(f.configuration_input, residual, states, [] { return true; }));
    EXPECT_EQ(states, 100'000U);
  });
}

TEST(EnumerateConfigurations, ContainTheUnchangedNodeAndTheEmptyNode) {
  std::int64_t residuals = 0;
  for_each_room(
      400,
      [&](const ExactFormulation& f, const ResidualClass& residual) {
        if (residual.residents.empty()) return;
        ++residuals;
        Counts all_residents(f.demand.classes.size(), 0);
        for (const ResidualClass::Resident& resident : residual.residents) ++all_residents[resident.stay.value()];
        std::size_t states = 100'000;
        const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
        const auto holds = [&](const Counts& counts) {
          return std::ranges::any_of(*configurations, [&](const Configuration& configuration) {
            return counts_of(configuration, counts.size()) == counts;
          });
        };
        EXPECT_TRUE(holds(all_residents));
        EXPECT_TRUE(holds(Counts(all_residents.size(), 0)));
      },
      true);
  EXPECT_GE(residuals, 50);
}

TEST(EnumerateConfigurations, KeepsNoPodThatIsAbsentOrOnDevicesOfOthers) {
  for_each_room(
      400,
      [](const ExactFormulation& f, const ResidualClass& residual) {
        std::size_t states = 100'000;
        const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
        for (const Configuration& configuration : *configurations) {
          std::set<std::int32_t> seen;
          for (const Configuration::Step& step : configuration.steps) {
            const bool stays = !f.demand.classes[step.demand].stays.is_none();
            ASSERT_EQ(step.resident >= 0, stays && residual.pinned);
            if (step.resident < 0) continue;
            const ResidualClass::Resident& resident = residual.residents.at(static_cast<std::size_t>(step.resident));
            EXPECT_EQ(resident.stay, step.demand);
            EXPECT_EQ(resident.devices, step.devices);
            EXPECT_TRUE(seen.insert(step.resident).second);
          }
          for (const auto& [demand, count] : configuration.counts) {
            const auto there = std::ranges::count_if(
                residual.residents, [&](const ResidualClass::Resident& r) { return r.stay == demand; });
            if (!f.demand.classes[demand].stays.is_none()) {
              EXPECT_LE(count, there);
            }
          }
        }
      },
      true);
}

TEST(EnumerateConfigurations, KnowsEachWayToLeaveResidentsWithoutTheirDevices) {
  std::int64_t residuals = 0, ways = 0;
  for_each_room(
      1200,
      [&](const ExactFormulation& f, const ResidualClass& residual) {
        if (!residual.pinned || has_anti_affinity(f, residual) || Exhaustive(f, residual).size() > 200) return;
        ++residuals;
        std::size_t states = 100'000;
        const auto configurations = enumerate_configurations(f.configuration_input, residual, states);
        ASSERT_TRUE(configurations);
        std::set<EveryDevice::Content> found;
        for (const Configuration& c : *configurations)
          EXPECT_TRUE(found.insert({counts_of(c, f.demand.classes.size()), c.could_stay}).second) << "listed twice";
        const std::set<EveryDevice::Content> expected = EveryDevice(f, residual).run();
        EXPECT_EQ(found, expected);
        std::set<Counts> counts;
        for (const auto& [count, could_stay] : expected) counts.insert(count);
        ways += static_cast<std::int64_t>(expected.size() - counts.size());
      },
      true);
  EXPECT_GE(residuals, 30);
  EXPECT_GE(ways, 10) << "contents of equal counts that differ in which residents could stay";
}

}  // namespace
}  // namespace muster::formulation
