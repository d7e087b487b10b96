// Which nodes large gangs take, and when these are expected to be empty (docs/semantics.md, "Reservations", rule 2).
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

class EmptyNodes {
 public:
  // All outlive it. `gangs`: the large gangs that take nodes, in this order.
  EmptyNodes(const Snapshot& snapshot, const Problem& problem, const Forecast& forecast,
             const std::vector<GangIndex>& gangs);

  // When the nodes that the next gang takes are all empty; none: it takes no node. Not if `is_open`.
  std::optional<Nanoseconds> take();
  // What the gangs after the last one take depends on a choice that is open.
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
  // The classes of nodes that large gangs tell apart: which of the needs each meets.
  using Kind = std::vector<bool>;

  Need need_of(GangIndex gang) const;
  bool suits(const Need& need, PodClassIndex pod_class, NodeClassIndex node_class) const;
  void note_kinds();
  bool is_ambiguous(const Need& need) const;
  Line& line_of(const Need& need);
  bool depends_on_ties(std::span<const NodeIndex> found, std::span<const NodeIndex> later) const;

  const Problem& problem_;
  std::vector<Need> needs_;  // by gang
  std::size_t next_ = 0;
  bool is_open_ = false;
  bool differ_ = false;  // there are several kinds of nodes
  Indexed<NodeIndex, Nanoseconds> empty_at_;
  Indexed<NodeIndex, std::uint8_t> is_taken_;
  Indexed<NodeClassIndex, std::size_t> kinds_;
  std::map<std::pair<std::int32_t, PodClassIndex>, Line> lines_;  // by devices and class of the largest pod
};

}  // namespace muster::referee
