#include "model/state/link_keeper.h"

#include "model/base/require.h"

namespace muster {

void Numbering::add() {
  const auto position = static_cast<std::uint32_t>(numbers_.size());
  if (free_.empty()) {
    numbers_.push_back(static_cast<std::uint32_t>(positions_.size()));
    positions_.push_back(position);
    return;
  }
  numbers_.push_back(free_.back());
  free_.pop_back();
  positions_[numbers_.back()] = position;
}

void Numbering::remove(std::size_t position) {
  MUSTER_REQUIRE(position < numbers_.size());
  const std::uint32_t number = numbers_[position];
  numbers_[position] = numbers_.back();
  positions_[numbers_[position]] = static_cast<std::uint32_t>(position);
  numbers_.pop_back();
  positions_[number] = PodLinks::kNothing;
  free_.push_back(number);
}

void LinkKeeper::set_node(std::size_t position) {
  if (position == versions_.size()) {
    nodes_.add();
    versions_.push_back(0);
  }
  versions_[position] = ++last_version_;
}

void LinkKeeper::remove_node(std::size_t position) {
  nodes_.remove(position);
  versions_[position] = versions_.back();
  versions_.pop_back();
}

void LinkKeeper::set_gang(std::size_t position) {
  if (position == gangs_.size()) gangs_.add();
}

void LinkKeeper::set_pod(std::size_t position, PodLinks links) {
  if (position == pods_.size()) pods_.emplace_back();
  change_nodes(pods_[position]);
  pods_[position] = links;
  change_nodes(links);
}

void LinkKeeper::remove_pod(std::size_t position) {
  change_nodes(pods_[position]);
  pods_[position] = pods_.back();
  pods_.pop_back();
}

void LinkKeeper::change_nodes(const PodLinks& links) {
  change_node(links.node);
  change_node(links.nominated_node);
}

void LinkKeeper::change_node(std::uint32_t number) {
  if (number == PodLinks::kNothing) return;
  const std::uint32_t position = nodes_.positions()[number];
  if (position != PodLinks::kNothing) versions_[position] = ++last_version_;
}

std::shared_ptr<const SnapshotLinks> LinkKeeper::links(bool names_differ) const {
  return std::make_shared<const SnapshotLinks>(
      SnapshotLinks{pods_, nodes_.positions(), gangs_.positions(), versions_, checks_, names_differ, gangs_.size()});
}

}  // namespace muster
