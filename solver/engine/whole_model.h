// All possible contents of the nodes as columns of one model, from the start: for problems that have too many
// configurations to list, and are small enough to be given to CBC whole instead of being priced.
//
// Adds to a formulation without configurations, for each node of a residual class that is modelled by itself
// Columns  a_nd  pods of demand class d on node n, integer
//          p_gk   devices of group g of the node (with equal free capacity and residents) that use pattern k
//          r_j    resident j stays, binary (if residents share devices)
//          h_nd   some pod of d is on n, binary (if required anti-affinity within the node needs it)
// Rows     of a node, by resource:   sum request a <= free
//          of a node, by share of a device:  sum devices a <= sum over patterns of how many of it they hold
//          of a group:               sum p <= devices
//          of a resident, by device: r <= sum of the patterns that hold it
//          required anti-affinity within the node
// Room classes of which few configurations are maximal have a column for each of these instead.
//
// Holds every plan that obeys the rules, so its bounds are bounds of these plans. Relaxed: what
// solver/formulation/formulation.h
// names; that no pod is evicted in vain; that the devices which a pod shares differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "solver/column_generation/restricted_master.h"
#include "solver/lp/fillings.h"

namespace muster::engine {

class WholeModel {
 public:
  // Lays out the columns, not yet adding any, until there are too many. Both outlive the model. Cost: O(most_columns).
  WholeModel(const Problem& problem, const column_generation::RestrictedMaster& restricted, std::size_t most_columns);

  // Whether all is laid out: there are not more columns than that, and pods do not share devices in too many ways.
  bool is_whole() const { return is_whole_; }
  // Integer ones, in addition to those of the formulation itself.
  std::size_t columns() const { return columns_; }

  // Requires is_whole(), and a formulation of the same restricted master that is not exact and has no configurations
  // yet.
  void add_to(formulation::Formulation& formulation);

  // A solution and the configurations that it refers to, as decoding takes them.
  struct Content {
    formulation::FormulationSolution solution;
    Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>> configurations;
  };
  // Of the formulation that was added to last.
  Content read(const formulation::Formulation& formulation, const std::vector<double>& x) const;

 private:
  struct Pattern {
    std::map<DeviceUnits, std::int32_t> sharers;  // by share, whole ones included
    std::vector<std::size_t> residents;
  };
  // Equivalent devices of a residual class.
  struct Group {
    DeviceUnits free = 0;
    std::vector<std::size_t> residents;
    std::vector<std::int32_t> devices;  // positions in ResidualClass::free_devices
    std::vector<Pattern> patterns;
  };
  struct Residual {
    bool is_listed = false;
    std::vector<formulation::Configuration> listed;  // maximal ones
    std::vector<Group> groups;
  };
  struct Node {
    formulation::ResidualClassIndex residual;
    std::vector<std::int32_t> counts;                 // columns, by position in ResidualClass::demands
    std::vector<std::int32_t> stays;                  // columns, by resident; of a pinned residual class
    std::vector<std::vector<std::int32_t>> patterns;  // columns, by group and pattern
  };

  const PodClass& class_of(formulation::DemandIndex d) const;
  bool is_stay(formulation::DemandIndex d) const { return !restricted_.demand.classes[d].stays.is_none(); }
  DeviceUnits units_of(const formulation::ResidualClass& residual, formulation::DemandIndex d) const;
  bool uses_devices(const formulation::ResidualClass& residual, formulation::DemandIndex d) const;

  bool list(formulation::ResidualClassIndex index);
  void lay_out(formulation::ResidualClassIndex index);
  bool find_patterns(const formulation::ResidualClass& residual, Group& group, const std::vector<lp::Sharers>& shares);

  void add_node(formulation::ResidualClassIndex index, formulation::Formulation& formulation);
  void add_resources(const Node& node, lp::ModelBuilder& model) const;
  void add_devices(Node& node, lp::ModelBuilder& model) const;
  void add_residents(Node& node, lp::ModelBuilder& model) const;
  void add_anti_affinity(const Node& node, lp::ModelBuilder& model) const;
  formulation::Configuration content_of(const Node& node, const std::vector<double>& x) const;

  const Problem& problem_;
  const column_generation::RestrictedMaster& restricted_;
  Indexed<formulation::ResidualClassIndex, Residual> residuals_;
  std::vector<Node> nodes_;  // put in by themselves, those of a residual class together
  std::size_t columns_ = 0, states_left_, tries_left_;
  bool is_whole_ = true;
};

}  // namespace muster::engine
