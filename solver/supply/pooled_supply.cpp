#include "solver/supply/pooled_supply.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/problem/exceeded.h"

namespace muster::formulation {
namespace {

class PooledSupply {
 public:
  PooledSupply(const Problem& problem, const Demand& demand, const PlacementZones& zones, const ClusterState& base)
      : problem_(problem), demand_(demand), zones_(zones), base_(base) {}

  std::optional<Supply> collect() {
    for (const RunningCell& cell : demand_.running)
      for (const PodIndex pod : cell.pods) has_residents_.insert(problem_.pods[pod].node);
    for (const NodeIndex node : has_residents_)
      if (is_exceeded(problem_.class_of(node))) return std::nullopt;
    supply_.zone_count = zones_.domains.size();
    supply_.residual_of.assign(problem_.nodes.size(), ResidualClassIndex::none());
    for (const NodeIndex node : problem_.nodes.indices())
      if (!problem_.class_of(node).cordoned || has_residents_.contains(node)) add(node);
    for (const RunningCell& cell : demand_.running)
      for (const PodIndex pod : cell.pods) runs_in_.emplace(supply_.residual_of[problem_.pods[pod].node], cell.stay);
    for (const ResidualClassIndex residual : supply_.residuals.indices()) find_demands(residual);
    return std::move(supply_);
  }

 private:
  using Key = std::tuple<NodeClassIndex, ZoneIndex, std::vector<Amount>, std::vector<DeviceUnits>>;

  void add(NodeIndex node) {
    ResidualClass residual;
    residual.node_class = problem_.nodes[node].node_class;
    residual.zone = zones_.of_node[node];
    residual.free.assign(base_.free(node).begin(), base_.free(node).end());
    for (const DeviceUnits free : base_.free_devices(node))
      if (free > 0) residual.free_devices.push_back(free);
    std::ranges::sort(residual.free_devices);
    const auto [found, is_new] =
        index_.try_emplace(Key{residual.node_class, residual.zone, residual.free, residual.free_devices},
                           ResidualClassIndex(supply_.residuals.size()));
    if (is_new) supply_.residuals.push_back(std::move(residual));
    supply_.residuals[found->second].nodes.push_back(node);
    supply_.residual_of[node] = found->second;
  }

  void find_demands(ResidualClassIndex index) {
    ResidualClass& residual = supply_.residuals[index];
    const NodeResidual empty(problem_, residual);
    std::vector<std::optional<bool>> fits(problem_.pod_classes.size());
    for (const DemandIndex d : demand_.classes.indices()) {
      const DemandClass& demand = demand_.classes[d];
      if (demand.count == 0) continue;
      const PodClass& pod_class = problem_.pod_classes[demand.pod_class];
      std::optional<bool>& fits_here = fits[demand.pod_class.value()];
      if (!fits_here) fits_here = pod_class.allowed[residual.node_class.value()] && empty.fits(pod_class);
      if (!*fits_here && (demand.stays.is_none() || !runs_in_.contains({index, d}))) continue;
      residual.demands.push_back(d);
      residual.stock.push_back(demand.count);
      residual.most.push_back(
          std::min(demand.count, most_alone(pod_class, problem_.node_classes[residual.node_class], residual)));
    }
  }

  const Problem& problem_;
  const Demand& demand_;
  const PlacementZones& zones_;
  const ClusterState& base_;
  Supply supply_;
  std::map<Key, ResidualClassIndex> index_;
  std::set<NodeIndex> has_residents_;
  std::set<std::pair<ResidualClassIndex, DemandIndex>> runs_in_;
};

}  // namespace

std::optional<Supply> collect_pooled_supply(const Problem& problem, const Demand& demand, const PlacementZones& zones,
                                            const ClusterState& base) {
  return PooledSupply(problem, demand, zones, base).collect();
}

}  // namespace muster::formulation
