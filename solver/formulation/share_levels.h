// The levels `share` and `quota`: work that counts over the forest of queues, each no more than its own share or quota.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "model/objective/levels.h"
#include "solver/rows/gang_columns.h"

namespace muster::formulation {

class ShareLevels {
 public:
  // All outlive the object.
  ShareLevels(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model);

  // Adds its columns and rows. Requires `share` or `quota`; the columns of gangs and exits are there.
  lp::LinearExpression level(const LevelId& id);

 private:
  // A non-negative integer quantity as columns, and its maximum.
  struct Bounded {
    lp::LinearExpression expression;
    std::int64_t most = 0;
  };
  // One group of equal units that may count within a share: how many there are, and the work of each.
  struct Units {
    lp::LinearExpression available;
    std::int64_t most = 0;
    Work work = 0;
  };
  // One way to place a gang: how many of each cell, and the units that it then has.
  struct GangPattern {
    std::int32_t column = -1;
    std::vector<std::array<Work, 2>> units;
  };

  Bounded queue_level(QueueIndex queue, const LevelId& id, std::size_t kind);
  Bounded capped(Bounded inner, std::int64_t cap, const char* name);
  Bounded leaf_work(QueueIndex queue, std::int32_t priority, std::size_t kind) const;
  Bounded leaf_share(QueueIndex queue, std::int32_t priority, std::size_t kind);

  std::vector<Units> units_of(QueueIndex queue, std::int32_t priority, std::size_t kind, bool with_varying) const;
  void add_running_units(GangIndex gang, std::size_t kind, std::vector<Units>& units) const;
  void add_pending_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const;
  void add_leaving_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const;
  bool is_alike(const GangClass& gang_class) const;
  GangClassIndex varying_class(GangIndex gang) const;
  std::vector<GangIndex> varying_gangs(QueueIndex queue, std::int32_t priority) const;
  const std::vector<GangPattern>& patterns_of(GangIndex gang);
  void add_varying_units(GangIndex gang, std::size_t kind, lp::LinearExpression& counted);

  const FormulationInput& in_;
  const GangColumns& columns_;
  lp::ModelBuilder& model_;
  Indexed<QueueIndex, std::vector<GangClassIndex>> waiting_;  // gang classes by leaf queue
  Indexed<QueueIndex, std::vector<GangIndex>> running_;       // gangs with pods that run and stay, by leaf queue
  // Classes that may have units of their own kind: neither those of single running pods nor those of equal gangs.
  std::map<GangIndex, GangClassIndex> first_of_class_;
  std::map<GangIndex, std::vector<GangPattern>> patterns_;
};

}  // namespace muster::formulation
