// Which gangs fill what is free of a quota (docs/semantics.md, "Reservations", rule 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/problem/problem.h"
#include "model/referee/forecast.h"

namespace muster::referee {

struct FillItem {
  MicroGpu gpus = 0;  // more than 0
  std::int64_t seniority = 0;
  std::int32_t priority = 0;
};

// Whether an item is in all best choices, in none, or in some (or that it is not known).
enum class Inclusion : std::uint8_t { kYes, kNo, kOpen };

// By item. Items are in turn: higher priorities first. Beyond 2,048 units what is not plain stays open.
std::vector<Inclusion> fill(std::span<const FillItem> items, MicroGpu room);

// Which nodes large gangs take, and when these are expected to be empty (docs/semantics.md, "Reservations", rule 2).
class EmptyNodes {
 public:
  // All outlive it. `gangs`: the large gangs that take nodes, in this order.
  EmptyNodes(const Snapshot& snapshot, const Problem& problem, const Forecast& forecast,
             const std::vector<GangIndex>& gangs);

  struct Taken {
    Nanoseconds empty_at = 0;      // when all of them are empty
    std::vector<NodeIndex> nodes;  // empty: it takes none, and needs none of these
  };
  // What the next gang takes; none: there are too few nodes for it, or `is_open`. Not if `is_open`.
  std::optional<Taken> take();
  // What the gangs from the last one on take depends on a choice that is open.
  bool is_open() const { return is_open_; }

 private:
  // What a gang asks nodes for.
  struct Need {
    std::size_t nodes = 0;               // so many
    std::int32_t devices = 0;            // of the largest pod
    std::vector<PodClassIndex> largest;  // the classes of pods with so many devices
  };
  // The nodes that suit a need, those first that are empty first; those before `next` are taken.
  struct Line {
    std::vector<NodeIndex> nodes;
    std::size_t next = 0;
  };
  Need need_of(GangIndex gang) const;
  // Devices that nodes of the class report if they let the pod in, else 0.
  std::int64_t devices_for(PodClassIndex pod_class, NodeClassIndex node_class) const;
  bool suits(const Need& need, PodClassIndex pod_class, NodeClassIndex node_class) const;
  bool is_ambiguous(const Need& need) const;
  bool has_larger_node(const Need& need) const;
  Line& line_of(const Need& need);

  const Snapshot& snapshot_;
  const Problem& problem_;
  std::vector<Need> needs_;  // by gang
  std::size_t next_ = 0;
  bool is_open_ = false;
  Indexed<NodeIndex, Nanoseconds> empty_at_;
  Indexed<NodeIndex, std::uint8_t> is_taken_;
  std::map<std::pair<std::int32_t, PodClassIndex>, Line> lines_;  // by devices and class of the largest pod
};

}  // namespace muster::referee
