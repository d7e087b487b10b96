// Which pods have to be moved so that there is a slot for every pod: a MILP over types of nodes and of shared devices.
//
// Columns  o_Ts  nodes of type T whose pods leave by option s (solver/slots/supply.h)
//          d_Cs  devices of type C whose users leave in the way s
//          x_tg  pods of kind t that go to group g, if several groups accept it
//          p_lj  devices of level l (as much is free) that are filled in the way j
//          e_g   idle devices of group g that are opened for sharers
//          m_u   pods of a KeptPods of which some leave that are moved
// Rows     of a type: its nodes, its devices
//          of a group and a whole size: pods of this size and larger ones <= room for them
//          of a level: fillings <= devices; of a share: pods <= what fillings hold
//          of a kind: its pods go to groups; of a KeptPods of which some leave: off = left + moved
//          moves <= most_moves
// Minimises the moved work. Sizes that divide each other fit exactly when the rows of whole sizes hold; of others, and
// where cores or memory bind, the rows are necessary alone. So the bound is one of all ways to place the pods.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "solver/cbc/backend.h"
#include "solver/lp/fillings.h"
#include "solver/lp/model_builder.h"
#include "solver/slots/dealing.h"
#include "solver/slots/supply.h"

namespace muster::slots {

class SlotModel {
 public:
  // The first three outlive the object. Throws lp::ModelTooLong once the clock has passed `time`. Cost: O(columns x
  // rows of each).
  SlotModel(const SlotTask& task, const PodKinds& kinds, const Supply& supply, const Deadline& time);

  std::int32_t columns() const { return builder_.columns(); }

  struct Outcome {
    std::optional<Preparation> preparation;  // none: no solution better than `known`
    // As SlotResult::least_moved.
    std::optional<Work> least_moved = 0;
  };
  // `known`: moved work of a result that places everything; none: there is none yet.
  Outcome solve(cbc::Backend& backend, const cbc::MilpRequest& limits, std::optional<Work> known) const;

 private:
  struct Level {
    std::vector<lp::Filling> fillings;  // by position in Shares::sizes
    std::vector<DeviceUnits> free;      // of its devices: those that can be filled in the same ways
    lp::LinearExpression devices;
    std::vector<std::int32_t> columns;
  };
  // What the devices of one group hold.
  struct Shares {
    std::vector<SizeIndex> sizes;
    std::vector<lp::Sharers> sharers;  // by position in `sizes`
    std::vector<Level> levels;
    lp::LinearExpression rest;  // units free on devices with too many fillings
    std::vector<std::int32_t> rest_columns;
    std::int32_t opened = -1;  // column
  };
  struct DeviceOption {
    Residents off;
    DeviceUnits free = 0;
    std::int32_t column = -1;
  };

  void count_new();
  void add_node_types();
  void add_device_types();
  std::vector<DeviceOption> options_of(const DeviceType& type) const;
  void add_off(const Residents& off, std::int32_t column, std::int64_t times);
  void add_partial();
  void add_shares(GroupIndex group);
  void add_to_level(Shares& shares, DeviceUnits free, const lp::LinearExpression& devices);
  void distribute();
  void add_rooms(GroupIndex group);
  void add_fillings(GroupIndex group);

  struct Reading;
  void read_nodes(const std::vector<double>& x, Reading& reading) const;
  void read_devices(const std::vector<double>& x, Reading& reading) const;
  void read_leaving(const std::vector<double>& x, Reading& reading) const;
  void read_fillings(const std::vector<double>& x, Reading& reading) const;
  Preparation read(const std::vector<double>& x) const;

  const SlotTask& task_;
  const PodKinds& kinds_;
  const Supply& supply_;
  lp::ModelBuilder builder_;
  lp::LinearExpression moved_work_, moves_;
  Indexed<KindIndex, lp::LinearExpression> demand_;
  Indexed<GroupIndex, Indexed<KindIndex, lp::LinearExpression>> dealt_;  // of a kind, to a group
  std::vector<std::vector<std::int32_t>> node_columns_;                  // by node type and option
  Indexed<DeviceTypeIndex, std::vector<DeviceOption>> device_options_;
  Indexed<DeviceTypeIndex, lp::LinearExpression> cleared_;
  std::map<KeptIndex, lp::LinearExpression> off_of_partial_;
  std::vector<std::int32_t> moved_of_partial_;
  Indexed<GroupIndex, Shares> shares_;
};

}  // namespace muster::slots
