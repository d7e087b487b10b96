// The links of a snapshot that is kept between cycles, while its objects come and go.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/snapshot/links.h"

namespace muster {

// Numbers for the elements of a list that stay the same while the last element takes the place of one that leaves. A
// number that has become free is given again.
class Numbering {
 public:
  // Of a new last element.
  void add();
  void remove(std::size_t position);
  std::size_t size() const { return numbers_.size(); }
  std::uint32_t number_at(std::size_t position) const { return numbers_[position]; }
  // By number: its position, or PodLinks::kNothing.
  const std::vector<std::uint32_t>& positions() const { return positions_; }

 private:
  std::vector<std::uint32_t> numbers_;  // by position
  std::vector<std::uint32_t> positions_, free_;
};

// Follows the lists of KeptSnapshot: an element at a position beyond the last is new, and the last one takes the place
// of one that is removed.
class LinkKeeper {
 public:
  void set_node(std::size_t position);
  void remove_node(std::size_t position);
  void set_gang(std::size_t position);
  void remove_gang(std::size_t position) { gangs_.remove(position); }
  void set_pod(std::size_t position, PodLinks links);
  void remove_pod(std::size_t position);

  std::uint32_t node_number(std::size_t position) const { return nodes_.number_at(position); }
  std::uint32_t gang_number(std::size_t position) const { return gangs_.number_at(position); }
  // For a copy of the snapshot. Cost: a copy of the lists.
  std::shared_ptr<const SnapshotLinks> links(bool names_differ) const;

 private:
  void change_nodes(const PodLinks& links);
  void change_node(std::uint32_t number);

  Numbering nodes_, gangs_;
  std::vector<PodLinks> pods_;
  std::vector<std::uint64_t> versions_;  // of nodes, by position
  std::uint64_t last_version_ = 0;
  std::shared_ptr<LastNodeChecks> checks_ = std::make_shared<LastNodeChecks>();
};

}  // namespace muster
