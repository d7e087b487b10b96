#include "solver/remedies/smallest_remedy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "model/base/require.h"
#include "model/problem/next_snapshot.h"

namespace muster::answers {

namespace {

class CountSearch {
 public:
  CountSearch(CountRange range, const CountTest& test) : range_(range), test_(test) {}

  std::optional<SmallestCount> run(Depth depth) {
    if (!bracket()) return std::nullopt;
    bisect();
    if (depth == Depth::kThorough) look_below();
    const std::int64_t below = best_ - 1;
    const bool is_smallest = below < range_.least || (tried_.contains(below) && tried_.at(below).proven);
    return SmallestCount{best_, tried_.at(best_), is_smallest};
  }

 private:
  // None: no answer.
  std::optional<bool> admits(std::int64_t count) {
    if (const auto known = tried_.find(count); known != tried_.end()) return known->second.admits;
    const std::optional<Admitted> result = test_(count);
    if (!result) return std::nullopt;
    tried_[count] = *result;
    return result->admits;
  }

  // From the guess in steps that double, up to the first success or down to the first failure.
  bool bracket() {
    std::int64_t at = range_.guess, step = 1;
    std::optional<bool> known = admits(at);
    if (!known) return false;
    if (*known) {
      best_ = at;
      for (failed_ = range_.least - 1; at > range_.least; step *= 2) {
        at = std::max(range_.least, at - step);
        known = admits(at);
        if (!known || !*known) {
          failed_ = at;
          break;
        }
        best_ = at;
      }
      return true;
    }
    for (; at < range_.most; step *= 2) {
      failed_ = at;
      at = std::min(range_.most, at + step);
      known = admits(at);
      if (!known) return false;
      if (*known) {
        best_ = at;
        return true;
      }
    }
    return false;
  }

  void bisect() {
    while (best_ - failed_ > 1) {
      const std::int64_t middle = failed_ + (best_ - failed_) / 2;
      const std::optional<bool> known = admits(middle);
      if (!known) return;
      (*known ? best_ : failed_) = middle;
    }
  }

  void look_below() {
    for (std::int64_t at = best_ - 1; at >= range_.least; --at) {
      const std::optional<bool> known = admits(at);
      if (!known) return;
      if (*known) best_ = at;
    }
  }

  CountRange range_;
  const CountTest& test_;
  std::map<std::int64_t, Admitted> tried_;
  std::int64_t failed_ = 0, best_ = 0;
};

using Items = std::vector<std::size_t>;

class SetSearch {
 public:
  SetSearch(const std::vector<std::int64_t>& weights, const SetTest& test) : weights_(weights), test_(test) {}

  std::optional<SmallestSet> run(std::size_t guess, Depth depth) {
    if (weights_.empty() || !bracket(guess)) return std::nullopt;
    shorten();
    if (is_stopped_) return std::nullopt;
    leave_out();
    const bool is_complete = depth == Depth::kThorough && try_lighter();
    return SmallestSet{best_, weight(best_), with_, is_complete && all_proven_};
  }

 private:
  std::int64_t weight(const Items& items) const {
    return std::accumulate(items.begin(), items.end(), std::int64_t{0},
                           [&](std::int64_t sum, std::size_t item) { return sum + weights_[item]; });
  }

  // Whether it is tried at all, and succeeds. A success becomes the best.
  bool succeeds(const Items& items) {
    const std::optional<Admitted> result = test_(items);
    is_stopped_ = is_stopped_ || !result;
    if (!result) return false;
    if (!result->admits) {
      failed_[items] = result->proven;
      return false;
    }
    best_ = items;
    with_ = *result;
    return true;
  }

  static Items beginning(std::size_t length) {
    Items items(length);
    std::iota(items.begin(), items.end(), std::size_t{0});
    return items;
  }

  bool bracket(std::size_t guess) {
    for (std::size_t length = std::clamp<std::size_t>(guess, 1, weights_.size()); !is_stopped_;
         length = std::min(2 * length, weights_.size())) {
      if (succeeds(beginning(length))) return true;
      failed_length_ = length;
      if (length == weights_.size()) break;
    }
    return false;
  }

  void shorten() {
    std::size_t length = best_.size();
    while (length - failed_length_ > 1 && !is_stopped_) {
      const std::size_t middle = failed_length_ + (length - failed_length_) / 2;
      (succeeds(beginning(middle)) ? length : failed_length_) = middle;
    }
  }

  void leave_out() {
    for (std::size_t from_end = 1; from_end <= best_.size() && best_.size() > 1 && !is_stopped_;) {
      Items fewer = best_;
      fewer.erase(fewer.end() - static_cast<std::ptrdiff_t>(from_end));
      if (!succeeds(fewer)) ++from_end;
    }
  }

  // Sets by number of items. Whether all sets that weigh less than the best were tried.
  bool try_lighter() {
    for (std::size_t size = 1; size < weights_.size() && !is_stopped_; ++size) {
      if (lightest(size) >= weight(best_)) break;
      Items chosen;
      choose(0, size, chosen);
    }
    return !is_stopped_;
  }

  std::int64_t lightest(std::size_t size) const {
    std::vector<std::int64_t> sorted = weights_;
    std::ranges::sort(sorted);
    return std::accumulate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(size), std::int64_t{0});
  }

  void choose(std::size_t from, std::size_t left, Items& chosen) {
    if (is_stopped_ || weight(chosen) >= weight(best_)) return;
    if (left == 0) {
      if (!failed_.contains(chosen)) succeeds(chosen);
      if (const auto failed = failed_.find(chosen); failed != failed_.end())
        all_proven_ = all_proven_ && failed->second;
      return;
    }
    for (std::size_t item = from; item + left <= weights_.size() && !is_stopped_; ++item) {
      chosen.push_back(item);
      choose(item + 1, left - 1, chosen);
      chosen.pop_back();
    }
  }

  const std::vector<std::int64_t>& weights_;
  const SetTest& test_;
  Items best_;
  Admitted with_;
  std::map<Items, bool> failed_;  // whether its plan is proven
  std::size_t failed_length_ = 0;
  bool is_stopped_ = false, all_proven_ = true;
};

}  // namespace

std::optional<SmallestCount> smallest_count(CountRange range, const CountTest& test, Depth depth) {
  MUSTER_REQUIRE(range.least <= range.guess && range.guess <= range.most);
  return CountSearch(range, test).run(depth);
}

std::optional<SmallestSet> smallest_set(const std::vector<std::int64_t>& weights, std::size_t guess,
                                        const SetTest& test, Depth depth) {
  MUSTER_REQUIRE(std::ranges::all_of(weights, [](std::int64_t weight) { return weight > 0; }));
  return SetSearch(weights, test).run(guess, depth);
}

namespace {

using Names = std::unordered_set<std::string_view>;

std::string_view gang_of(const SnapshotPod& pod) { return pod.gang.empty() ? pod.name : pod.gang; }

Snapshot with_rivals(const WaitingGang& gang) {
  Snapshot snapshot = next_snapshot(Snapshot(gang.snapshot()), gang.problem(), gang.run().solution.plan, 0);
  Names behind;
  for (const Gang& other : gang.problem().gangs) {
    if (rank_of(other) < rank_of(gang.gang())) behind.insert(other.name);
  }
  snapshot.pods.erase_if(
      [&](const SnapshotPod& pod) { return pod.status == PodStatus::kPending && behind.contains(gang_of(pod)); });
  return snapshot;
}

bool has_room(const WaitingGang& gang, const explain::RemainingCapacity& room, NodeIndex node) {
  return std::ranges::any_of(gang.need().items, [&](const explain::NeedItem& item) {
    return room.count(gang.problem().pod_classes[item.pod_class], node, 1) > 0;
  });
}

}  // namespace

Rivals::Rivals(const WaitingGang& gang) : gang_(gang), all_(with_rivals(gang)) {}

Snapshot Rivals::on_open_nodes(const std::vector<GangIndex>& gangs) const {
  Names nodes, gangs_kept;
  const Problem& problem = gang_.problem();
  const explain::RemainingCapacity room = explain::RemainingCapacity::after(problem, gang_.end());
  for (const NodeIndex node : room.nodes())
    if (has_room(gang_, room, node)) nodes.insert(all_.nodes[node.value()].name);
  for (const NodeClass& node_class : problem.node_classes)
    if (!node_class.nodes.empty()) nodes.insert(all_.nodes[node_class.nodes.front().value()].name);
  for (const GangIndex gang : gangs) gangs_kept.insert(problem.gangs[gang].name);
  for (const SnapshotPod& pod : all_.pods)
    if (pod.status == PodStatus::kPending) gangs_kept.insert(gang_of(pod));
  for (const SnapshotPod& pod : all_.pods)
    if (!pod.node.empty() && gangs_kept.contains(gang_of(pod))) nodes.insert(pod.node);

  Snapshot snapshot(all_);
  std::erase_if(snapshot.nodes, [&](const SnapshotNode& node) { return !nodes.contains(node.name); });
  snapshot.pods.erase_if([&](const SnapshotPod& pod) { return !pod.node.empty() && !nodes.contains(pod.node); });
  for (SnapshotGang& gang : snapshot.gangs) {
    if (!gangs_kept.contains(gang.name)) gang.staleness_grace_period = kNever;  // it may run elsewhere, too
  }
  return snapshot;
}

}  // namespace muster::answers
