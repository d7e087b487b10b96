// The configurations of every room class that a solution may use: listed completely, or found by pricing so far.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "solver/column_generation/pricing.h"
#include "solver/formulation/configuration.h"
#include "solver/formulation/formulation.h"

namespace muster {

class ColumnPool {
 public:
  ColumnPool(const ConfigurationInput& input, const Supply& supply);

  struct Limits {
    std::size_t states = 0, columns = 0;  // of all room classes together
    std::function<bool()> stop = {};      // asked now and then; empty: never
  };
  // Lists everything; returns the number of intermediate states. None, and nothing kept, if that exceeds the limits.
  std::optional<std::size_t> list_all(const Limits& limits);
  // Keeps the configuration if it is new; true if so.
  bool add(RoomClassIndex room, Configuration configuration);
  // The position of the configuration, which is kept if it is new.
  std::uint32_t position(RoomClassIndex room, Configuration configuration);
  // The contents of each node in an end state: the pods that stay and those that are placed. Nothing is added for nodes
  // whose contents the formulation does not know.
  void add_contents(const ClusterState& end_state);

  const Indexed<RoomClassIndex, std::vector<Configuration>>& configurations() const { return configurations_; }
  Pricing& pricing(RoomClassIndex room);

 private:
  std::optional<Configuration> contents_of(RoomClassIndex room, NodeIndex node, const ClusterState& end_state) const;

  const ConfigurationInput& in_;
  const Supply& supply_;
  Indexed<RoomClassIndex, std::vector<Configuration>> configurations_;
  Indexed<RoomClassIndex, std::map<std::vector<std::pair<DemandIndex, std::int32_t>>, std::size_t>> known_;
  Indexed<RoomClassIndex, std::optional<Pricing>> pricing_;
  std::map<std::tuple<PodClassIndex, Work, NodeIndex>, DemandIndex> demand_of_;
};

}  // namespace muster
