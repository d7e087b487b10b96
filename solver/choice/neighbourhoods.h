// Parts of a choice model around its incumbent in which to look for a better solution, and which of them comes next.
//
// Source: adaptive large neighbourhood search, Ropke and Pisinger, "An adaptive large neighborhood search heuristic for
// the pickup and delivery problem with time windows" (2006): parts are drawn by what they gained recently. Here the
// gain is one per second, and the size of each part follows the time that solving it took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

namespace muster::choice {

// Which reclaims there are decides what others may be. With that settled, even large parts are solved at once; so only
// kChannels and kReclaims change it, and kRelaxation where the relaxation does.
enum class NeighbourhoodKind : std::uint8_t {
  kQueues,     // gangs of one queue after the other
  kPriority,   // waiting gangs of at least the level's priority, and running ones
  kNodes,      // waiting gangs, and those that run on some nodes
  kZones,      // some zones: the gangs in them, waiting ones, and what is about these zones
  kChannels,   // gangs that claim by one channel after the other, and their victims, as far as these leave by it
  kReclaims,   // some of what is reclaimed is given up, some may be reclaimed anew: the gangs in it, and others
  kRelaxation  // what the LP relaxation has otherwise (Danna, Rothberg and Le Pape 2005, "RINS"), and some gangs
};
inline constexpr std::size_t kNeighbourhoodKinds = 7;

struct Neighbourhood {
  std::vector<bool> is_free;                         // by column
  std::vector<std::pair<std::int32_t, double>> set;  // free ones that get a value, other than the incumbent's
  std::vector<bool> is_left_out = {};                // by column, not free: rows permit all of it; empty: none
};

// Which columns are free.
class Neighbourhoods {
 public:
  // All outlive it. `owners`: of each column of the model.
  Neighbourhoods(const Problem& problem, const formulation::Demand& demand, const formulation::PlacementZones& zones,
                 const std::vector<formulation::EvictionChannel>& channels,
                 std::vector<formulation::ColumnOwner> owners);

  std::size_t columns() const { return owners_.size(); }
  // Columns of gangs: a part of this size is everything.
  std::size_t gang_columns() const { return gang_columns_; }
  bool has(NeighbourhoodKind kind) const;
  // Frees columns of gangs until there are `size`, with the nodes on which they run; columns without an owner are
  // always free. Cost: O(columns).
  struct Around {
    const std::vector<double>& x;        // the incumbent
    const std::vector<double>& relaxed;  // the LP's solution, for kRelaxation
  };
  Neighbourhood free(NeighbourhoodKind kind, std::size_t size, const LevelId& level, const Around& around,
                     std::mt19937_64& random) const;
  // Those that only levels have, from `first` on.
  Neighbourhood from(std::int32_t first) const;
  // All but what gangs below the priority do; columns of `level` remain. None: there are no such gangs.
  std::optional<Neighbourhood> above(std::int32_t priority, const lp::LinearExpression& level) const;
  // All, but what gangs do that is not left out there is set as in `x`.
  Neighbourhood completing(const std::vector<double>& x, const std::vector<bool>& is_left_out) const;
  Neighbourhood all() const { return {std::vector<bool>(owners_.size(), true), {}}; }

 private:
  struct GangPart {
    std::vector<std::int32_t> columns;
    std::vector<NodeIndex> nodes;  // on which it runs
    std::set<std::size_t> channels;
    bool runs = false;
  };
  struct Part;
  using Gangs = std::vector<formulation::GangClassIndex>;
  void add_nodes(std::size_t size, std::mt19937_64& random, Part& part) const;
  void add_zones(const Gangs& order, std::size_t size, const std::vector<double>& x, std::mt19937_64& random,
                 Part& part) const;
  Neighbourhood other_reclaims(Gangs order, std::size_t size, const std::vector<double>& x,
                               std::mt19937_64& random) const;
  void add_channels(const Gangs& order, std::size_t size, std::mt19937_64& random, Part& part) const;

  const formulation::Demand& demand_;
  const formulation::PlacementZones& zones_;
  const std::vector<formulation::EvictionChannel>& channels_;
  std::vector<formulation::ColumnOwner> owners_;
  Indexed<formulation::GangClassIndex, GangPart> gangs_;
  Indexed<NodeIndex, Gangs> running_on_;
  std::size_t gang_columns_ = 0, zone_count_ = 0;
  bool has_reclaims_ = false;
};

// Which kind comes next, and of what size.
class NeighbourhoodPicker {
 public:
  explicit NeighbourhoodPicker(const Neighbourhoods& of);

  struct Pick {
    NeighbourhoodKind kind;
    std::size_t size;
  };
  Pick next(std::mt19937_64& random) const;
  // What became of a pick: `effort` of it, in multiples of what a part should take.
  void hear(NeighbourhoodKind kind, bool has_gained, bool is_solved, double effort);

 private:
  struct State {
    bool is_used = false;
    double size = 0;
    double rate = 1;  // gains for the effort of a part, the last ones counting most
  };
  std::array<State, kNeighbourhoodKinds> states_;
  double most_ = 0;
};

}  // namespace muster::choice
