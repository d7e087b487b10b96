#include "model/snapshot/snapshot.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace muster {

namespace {
constexpr std::size_t kFirstChunkBytes = std::size_t{1} << 12;
constexpr std::size_t kLargestChunkBytes = std::size_t{1} << 20;
}  // namespace

// The last chunk is the one that is being filled; a text too long for it gets a chunk of its own, inserted before the
// last. A pool that was moved from has no chunk, whatever its counters show.
std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return {};
  if (chunks_.empty()) used_ = capacity_ = 0;
  if (capacity_ - used_ < text.size()) {
    const std::size_t next = std::clamp(capacity_ * 2, kFirstChunkBytes, kLargestChunkBytes);
    if (text.size() > next / 4) {
      auto own = std::make_shared_for_overwrite<char[]>(text.size());
      char* place = own.get();
      std::memcpy(place, text.data(), text.size());
      chunks_.push_back(std::move(own));
      if (chunks_.size() == 1) {
        used_ = capacity_ = text.size();
      } else {
        std::swap(chunks_.back(), chunks_[chunks_.size() - 2]);
      }
      return {place, text.size()};
    }
    chunks_.push_back(std::make_shared_for_overwrite<char[]>(next));
    used_ = 0;
    capacity_ = next;
  }
  char* place = chunks_.back().get() + used_;
  std::memcpy(place, text.data(), text.size());
  used_ += text.size();
  return {place, text.size()};
}

void StringPool::take(StringPool&& other) {
  if (chunks_.empty()) used_ = capacity_ = 0;
  const std::size_t before_last = chunks_.empty() ? 0 : chunks_.size() - 1;
  const auto place = chunks_.begin() + static_cast<std::ptrdiff_t>(before_last);
  chunks_.insert(place, std::move_iterator(other.chunks_.begin()), std::move_iterator(other.chunks_.end()));
  other.chunks_.clear();
}

std::vector<LevelPlace> places_of_level(const SnapshotDefinitions& definitions, std::string_view level,
                                        std::string_view topology) {
  std::vector<LevelPlace> places;
  for (std::size_t i = 0; i < definitions.topologies.size(); ++i) {
    const SnapshotTopology& one = definitions.topologies[i];
    const auto at = std::ranges::find(one.levels, level);
    if (at == one.levels.end() || (!topology.empty() && one.name != topology)) continue;
    places.push_back({i, static_cast<std::size_t>(at - one.levels.begin())});
  }
  return places;
}

}  // namespace muster
