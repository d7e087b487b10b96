#include "model/referee/fill.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/semantics.h"
#include "model/referee/case.h"

namespace muster::referee {

namespace {

// A dynamic program over the exact sums of items of one priority, of which each fits and not all fit together.
class BestChoice {
 public:
  // `positions`: of the items. `room` in units of `unit`, which divides all of them.
  BestChoice(std::span<const FillItem> items, std::vector<std::size_t> positions, MicroGpu unit, std::size_t room);

  std::size_t filled() const { return filled_; }
  void tell(std::vector<Inclusion>& turns) const;

 private:
  struct Kept {
    std::size_t position = 0;
    Inclusion turn = Inclusion::kOpen;
  };

  std::size_t units(std::size_t position) const { return static_cast<std::size_t>(items_[position].gpus / unit_); }
  void drop_the_junior();
  void add(const Kept& kept);
  void trace_back();

  static constexpr std::uint8_t kWithout = 1, kWith = 2;

  std::span<const FillItem> items_;
  MicroGpu unit_;
  std::size_t room_, filled_ = 0;
  std::vector<Kept> kept_;             // by size, then the senior first
  std::vector<std::size_t> spare_;     // as senior as the last that is kept of its size
  std::vector<std::size_t> dropped_;   // less senior: in no best choice
  std::vector<Wide> best_;             // by sum: the greatest sum of units x seniority; -1: no choice has this sum
  std::vector<std::uint8_t> choices_;  // item x sum: how the best is reached
};

BestChoice::BestChoice(std::span<const FillItem> items, std::vector<std::size_t> positions, MicroGpu unit,
                       std::size_t room)
    : items_(items), unit_(unit), room_(room), best_(room + 1, -1) {
  std::ranges::sort(positions, [&](std::size_t a, std::size_t b) {
    return std::tuple(items[a].gpus, items[b].seniority, a) < std::tuple(items[b].gpus, items[a].seniority, b);
  });
  for (const std::size_t position : positions) kept_.push_back({position});
  drop_the_junior();
  best_[0] = 0;
  choices_.reserve(kept_.size() * best_.size());
  for (const Kept& kept : kept_) add(kept);
  filled_ = room_;
  while (best_[filled_] < 0) --filled_;
  trace_back();
}

// Of one size, a choice holds no more than fit, and the most senior of them.
void BestChoice::drop_the_junior() {
  std::vector<Kept> kept;
  std::size_t of_size = 0;
  for (const Kept& next : kept_) {
    const bool is_same_size = !kept.empty() && units(kept.back().position) == units(next.position);
    of_size = is_same_size ? of_size + 1 : 1;
    if (of_size <= room_ / units(next.position)) {
      kept.push_back(next);
    } else {
      const bool is_spare = items_[kept.back().position].seniority == items_[next.position].seniority;
      (is_spare ? spare_ : dropped_).push_back(next.position);
    }
  }
  kept_ = std::move(kept);
}

void BestChoice::add(const Kept& kept) {
  const std::size_t size = units(kept.position), row = choices_.size();
  const Wide value = Wide{static_cast<std::int64_t>(size)} * items_[kept.position].seniority;
  choices_.resize(row + best_.size(), kWithout);
  for (std::size_t sum = room_; sum >= size; --sum) {
    if (best_[sum - size] < 0) continue;
    const Wide with = best_[sum - size] + value;
    if (with < best_[sum]) continue;
    choices_[row + sum] = with > best_[sum] ? kWith : kWith | kWithout;
    best_[sum] = with;
  }
}

// Which choices lead to the best sum.
void BestChoice::trace_back() {
  std::vector<char> on_way(best_.size(), 0), before;
  on_way[filled_] = 1;
  for (std::size_t i = kept_.size(); i-- > 0;) {
    const std::size_t size = units(kept_[i].position);
    before.assign(best_.size(), 0);
    int seen = 0;
    for (std::size_t sum = 0; sum <= filled_; ++sum) {
      if (on_way[sum] == 0) continue;
      const int how = choices_[i * best_.size() + sum];
      if ((how & kWithout) != 0) before[sum] = 1;
      if ((how & kWith) != 0) before[sum - size] = 1;
      seen |= how;
    }
    kept_[i].turn = seen == kWith ? Inclusion::kYes : seen == kWithout ? Inclusion::kNo : Inclusion::kOpen;
    on_way.swap(before);
  }
}

void BestChoice::tell(std::vector<Inclusion>& turns) const {
  // By size: the least senior that are kept, whether some are as senior and spare, and whether a best choice has any.
  struct Last {
    std::int64_t seniority = 0;
    bool have_spare = false, are_chosen = false;
  };
  std::vector<Last> last(room_ + 1);
  for (const std::size_t spare : spare_) last[units(spare)].have_spare = true;
  for (const Kept& kept : kept_) last[units(kept.position)].seniority = items_[kept.position].seniority;
  for (const Kept& kept : kept_) {
    Last& of_size = last[units(kept.position)];
    const bool is_last = of_size.seniority == items_[kept.position].seniority;
    of_size.are_chosen |= is_last && kept.turn != Inclusion::kNo;
    // A spare one may take its place.
    turns[kept.position] = is_last && of_size.have_spare && kept.turn == Inclusion::kYes ? Inclusion::kOpen : kept.turn;
  }
  for (const std::size_t spare : spare_)
    turns[spare] = last[units(spare)].are_chosen ? Inclusion::kOpen : Inclusion::kNo;
  for (const std::size_t position : dropped_) turns[position] = Inclusion::kNo;
}

MicroGpu common_divisor(std::span<const FillItem> items, const std::vector<std::size_t>& positions) {
  MicroGpu divisor = 0;
  for (const std::size_t position : positions) divisor = std::gcd(divisor, items[position].gpus);
  return divisor;
}

// Priority by priority, until what one of them leaves is not known.
class Filling {
 public:
  Filling(std::span<const FillItem> items, MicroGpu room)
      : items_(items), room_(room), turns_(items.size(), Inclusion::kOpen) {
    for (const FillItem& item : items) unit_ = std::gcd(unit_, item.gpus);
  }
  void add_priority(std::size_t begin, std::size_t end);
  const std::vector<Inclusion>& turns() const { return turns_; }

 private:
  std::span<const FillItem> items_;
  MicroGpu room_, unit_ = 0;
  bool is_known_ = true;  // what is left
  std::vector<Inclusion> turns_;
};

void Filling::add_priority(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> fitting;
  Wide sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (items_[i].gpus > room_) {
      turns_[i] = Inclusion::kNo;
    } else {
      fitting.push_back(i);
      sum += items_[i].gpus;
    }
  }
  if (!is_known_ || fitting.empty()) return;
  if (sum <= room_) {
    for (const std::size_t i : fitting) turns_[i] = Inclusion::kYes;
    room_ -= static_cast<MicroGpu>(sum);
    return;
  }
  is_known_ = room_ / unit_ <= kSemantics.fill_units;
  if (!is_known_) return;
  const MicroGpu unit = common_divisor(items_, fitting);
  const BestChoice best(items_, fitting, unit, static_cast<std::size_t>(room_ / unit));
  best.tell(turns_);
  room_ -= static_cast<MicroGpu>(best.filled()) * unit;
}

}  // namespace

std::vector<Inclusion> fill(std::span<const FillItem> items, MicroGpu room) {
  Filling filling(items, room);
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].priority == items[begin].priority) ++end;
    filling.add_priority(begin, end);
  }
  return filling.turns();
}

namespace {

// By gang, of those that run; 0 of others.
Indexed<GangIndex, Nanoseconds> ends_of(const Problem& problem, const Forecast& forecast) {
  Indexed<GangIndex, Nanoseconds> ends(problem.gangs.size(), 0);
  for (const GangIndex gang : problem.gangs.indices()) {
    const auto runs = [&problem](PodIndex pod) { return problem.pods[pod].status == PodStatus::kRunning; };
    if (std::ranges::any_of(problem.gangs[gang].pods, runs)) ends[gang] = forecast.end(gang);
  }
  return ends;
}

}  // namespace

EmptyNodes::EmptyNodes(const Snapshot& snapshot, const Problem& problem, const Forecast& forecast,
                       const std::vector<GangIndex>& gangs)
    : snapshot_(snapshot),
      problem_(problem),
      empty_at_(problem.nodes.size(), snapshot.time),
      is_taken_(problem.nodes.size(), 0) {
  for (const GangIndex gang : gangs) needs_.push_back(need_of(gang));
  if (needs_.empty()) return;
  const Indexed<GangIndex, Nanoseconds> ends = ends_of(problem, forecast);
  for (const Pod& pod : problem.pods) {
    const bool is_there = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
    if (!is_there || pod.node.is_none()) continue;
    if (problem.pod_classes[pod.pod_class].counts_as_gpu)
      empty_at_[pod.node] = std::max(empty_at_[pod.node], ends[pod.gang]);
  }
}

EmptyNodes::Need EmptyNodes::need_of(GangIndex gang) const {
  Need need;
  std::vector<PodIndex> pending;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (problem_.pods[pod].status == PodStatus::kPending) pending.push_back(pod);
  }
  const auto devices = [this](PodIndex pod) { return problem_.class_of(pod).gpu.devices; };
  for (const PodIndex pod : pending) need.devices = std::max(need.devices, devices(pod));
  for (const PodIndex pod : pending) {
    need.nodes += 2 * std::int64_t{devices(pod)} > need.devices ? 1 : 0;
    if (devices(pod) == need.devices) need.largest.push_back(problem_.pods[pod].pod_class);
  }
  std::ranges::sort(need.largest);
  need.largest.erase(std::ranges::unique(need.largest).begin(), need.largest.end());
  return need;
}

// What exceeds what they report is gone once they are empty. Whether they are held makes no difference.
std::int64_t EmptyNodes::devices_for(PodClassIndex pod_class, NodeClassIndex node_class) const {
  const std::vector<NodeIndex>& nodes = problem_.node_classes[node_class].nodes;
  if (nodes.empty()) return 0;
  const SnapshotNode& node = snapshot_.nodes[nodes.front().value()];
  const bool lets_in = filter_objection(snapshot_.pod_specs[problem_.pod_classes[pod_class].spec], node).empty();
  return lets_in ? node.gpu_count : 0;
}

bool EmptyNodes::suits(const Need& need, PodClassIndex pod_class, NodeClassIndex node_class) const {
  const std::int64_t devices = devices_for(pod_class, node_class);
  return devices >= need.devices && devices < 2 * std::int64_t{need.devices};
}

bool EmptyNodes::has_larger_node(const Need& need) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    return devices_for(need.largest.front(), node_class) >= 2 * std::int64_t{need.devices};
  });
}

// Several pods are the largest, and not all of them may use the same nodes.
bool EmptyNodes::is_ambiguous(const Need& need) const {
  return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
    const bool suits_first = suits(need, need.largest.front(), node_class);
    return std::ranges::any_of(
        need.largest, [&](PodClassIndex pod_class) { return suits(need, pod_class, node_class) != suits_first; });
  });
}

std::optional<EmptyNodes::Taken> EmptyNodes::take() {
  const Need& need = needs_[next_++];
  if (need.devices == 0 || need.largest.empty()) return Taken{};
  is_open_ = need.largest.size() > 1 && is_ambiguous(need);
  if (is_open_) return std::nullopt;
  Line& line = line_of(need);
  while (line.next < line.nodes.size() && is_taken_[line.nodes[line.next]] != 0) ++line.next;
  std::vector<NodeIndex> found;
  for (std::size_t at = line.next; at < line.nodes.size() && found.size() < need.nodes; ++at) {
    if (is_taken_[line.nodes[at]] == 0) found.push_back(line.nodes[at]);
  }
  if (found.size() < need.nodes) return has_larger_node(need) ? std::optional(Taken{}) : std::nullopt;
  for (const NodeIndex node : found) is_taken_[node] = 1;
  const Nanoseconds empty_at = empty_at_[found.back()];
  return Taken{empty_at, std::move(found)};
}

EmptyNodes::Line& EmptyNodes::line_of(const Need& need) {
  const auto [at, is_new] = lines_.try_emplace({need.devices, need.largest.front()});
  Line& line = at->second;
  if (!is_new) return line;
  for (const NodeIndex node : problem_.nodes.indices()) {
    if (suits(need, need.largest.front(), problem_.nodes[node].node_class)) line.nodes.push_back(node);
  }
  std::ranges::stable_sort(line.nodes, {}, [this](NodeIndex node) { return empty_at_[node]; });
  return line;
}

}  // namespace muster::referee
