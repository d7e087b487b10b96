// The columns of gangs, of the pods of their cells, and of those that leave; and the sums of them that rows and levels
// are made of. Families of rows add the columns; all of them read them here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "solver/lp/model_builder.h"
#include "solver/rows/formulation_input.h"

namespace muster::formulation {

struct GangColumn {
  std::int32_t admitted = -1;  // z; -1: constant 1
  std::int32_t split = -1;     // leaves whole by several channels; -1: of no use
  std::map<GroupIndex, std::int32_t> satisfied;
};

// A column that stands for pods of a cell: each unit of it is a fixed number of pods. All-or-nothing gangs have only
// the column of the gangs.
struct CellColumn {
  std::int32_t column;
  std::int64_t pods;
};

// How the gangs of a class, or surplus pods of them, leave by one channel.
struct ExitColumns {
  std::size_t channel = 0;
  std::int32_t gone = -1;             // gangs that leave whole; -1: they may not
  std::vector<std::int32_t> surplus;  // pods of a split gang, too; by position in GangClass::running; empty: none may
};

// What a column of a model is about; none of them: it follows from others.
struct ColumnOwner {
  GangClassIndex gang;
  NodeIndex node;
  ZoneIndex zone;
  std::optional<std::size_t> channel = {};  // by which gangs, or pods of them, leave
};

class GangColumns {
 public:
  // `input` outlives the object. No gang has a column yet.
  explicit GangColumns(const FormulationInput& input);

  GangColumn& of_gang(GangClassIndex index) { return gangs_[index]; }
  const GangColumn& of_gang(GangClassIndex index) const { return gangs_[index]; }
  std::vector<CellColumn>& of_cell(CellIndex cell) { return cells_[cell]; }  // one, or one by zone
  const std::vector<CellColumn>& of_cell(CellIndex cell) const { return cells_[cell]; }
  std::vector<ExitColumns>& exits(GangClassIndex index) { return exits_[index]; }
  const std::vector<ExitColumns>& exits(GangClassIndex index) const { return exits_[index]; }

  // Sums of pods. Cost: O(columns of them).
  lp::LinearExpression placed(CellIndex cell) const;  // of the cell, all zones
  lp::LinearExpression placed_in(CellIndex cell, DomainIndex domain, TopologyLevelIndex level) const;
  // That waited and are placed: a pod that is only moved claims nothing.
  lp::LinearExpression waiting_pods(const GangClass& gang_class) const;
  // That leave by the exit: of the running cell at the position, and of all.
  lp::LinearExpression evicted_of(GangClassIndex index, const ExitColumns& exit, std::size_t cell) const;
  lp::LinearExpression evicted_by(GangClassIndex index, const ExitColumns& exit) const;
  // Of a running cell: that stay or are moved; and that stay.
  lp::LinearExpression kept(RunningCellIndex cell) const;
  lp::LinearExpression staying(RunningCellIndex cell) const;
  // Gangs, split ones included, that leave whole.
  lp::LinearExpression gone(GangClassIndex index) const;

  // For the columns from `first` to before `end`, which no gang, cell or exit has.
  void set_owner(std::int32_t first, std::int32_t end, const ColumnOwner& owner) {
    owned_.push_back({first, end, owner});
  }
  // Of the first `count` columns of the model.
  std::vector<ColumnOwner> owners(std::int32_t count) const;

 private:
  struct OwnedColumns {
    std::int32_t first, end;
    ColumnOwner owner;
  };

  const FormulationInput& in_;
  Indexed<GangClassIndex, GangColumn> gangs_;
  Indexed<CellIndex, std::vector<CellColumn>> cells_;
  Indexed<GangClassIndex, std::vector<ExitColumns>> exits_;
  std::vector<OwnedColumns> owned_;
};

}  // namespace muster::formulation
