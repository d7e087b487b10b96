#include "solver/slots/supply.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "model/base/tuning.h"
#include "model/problem/exceeded.h"
#include "solver/lp/model_builder.h"

namespace muster::slots {
namespace {

constexpr Amount kPlenty = std::numeric_limits<Amount>::max() / 4;

double devices_of(const PodClass& pod_class, const NodeClass& node_class) {
  return static_cast<double>(pod_class.gpu.devices) * static_cast<double>(share_units(pod_class, node_class)) /
         static_cast<double>(node_class.device_capacity());
}

// `counts` as digits, counted up; false after the last.
bool next(std::vector<std::int32_t>& counts, const std::vector<std::int32_t>& most,
          const std::vector<std::int32_t>& step) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < most[i]) {
      counts[i] = std::min(most[i], counts[i] + step[i]);
      return true;
    }
    counts[i] = 0;
  }
  return false;
}

}  // namespace

// What the options of a node depend on.
struct Supply::Content {
  // Whole users of one class. With resources that can bind: `stay[n]` is the least that n of them request.
  struct Whole {
    ResidentIndex resident;
    std::int32_t count = 0;
    std::vector<std::vector<Amount>> stay;
    friend auto operator<=>(const Whole&, const Whole&) = default;
  };
  GroupIndex group;
  std::int64_t idle = 0;     // if all leave that may
  std::vector<Amount> free;  // the same; empty: no resource can bind
  std::vector<Whole> wholes;
  std::vector<std::pair<DeviceTypeIndex, std::int32_t>> devices;  // that may be cleared
  friend auto operator<=>(const Content&, const Content&) = default;
};

Supply::Supply(const SlotTask& task, const PodKinds& kinds, Rounding rounding, const Deadline& time)
    : task_(task),
      kinds_(kinds),
      rounding_(rounding),
      resident_of_(task.problem.pods.size()),
      group_of_(task.problem.nodes.size()),
      group_count_(kinds.kinds().size(), 0) {
  const auto check_time = [clock = time.without_work()] {
    if (clock.passed()) throw lp::ModelTooLong{};
  };
  find_whole_sizes();
  number_residents();
  for (const NodeIndex node : task.problem.nodes.indices()) {
    check_time();
    group_of_[node] = group_of(node);
  }
  for (const KindIndex kind : kinds.kinds().indices())
    for (const NodeGroup& group : groups_)
      if (group.accepted[kinds.kinds()[kind].filter.value()]) ++group_count_[kind];
  std::map<Content, std::size_t> known;
  for (const NodeIndex node : task.problem.nodes.indices()) {
    check_time();
    if (group_of_[node].is_none()) continue;
    Content content = content_of(node);
    const auto [type, is_new] = known.emplace(std::move(content), node_types_.size());
    if (is_new) node_types_.push_back({type->first.group, options_of(type->first), {}});
    node_types_[type->second].nodes.push_back(node);
  }
  merge_types();
}

// Types whose options are the same after all; those with a single option, by which nothing leaves, become room of the
// group.
void Supply::merge_types() {
  std::map<std::pair<GroupIndex, std::vector<NodeOption>>, std::vector<NodeIndex>> merged;
  for (NodeType& type : node_types_) {
    std::vector<NodeIndex>& nodes = merged[{type.group, std::move(type.options)}];
    nodes.insert(nodes.end(), type.nodes.begin(), type.nodes.end());
  }
  node_types_.clear();
  for (auto& [key, nodes] : merged) {
    const auto& [group, options] = key;
    std::vector<std::int64_t>& room = groups_[group].room;
    if (options.size() == 1 && options[0].off.empty() && options[0].cleared.empty()) {
      for (std::size_t k = 0; k < room.size(); ++k) room[k] += options[0].room[k] * std::ssize(nodes);
    } else {
      node_types_.push_back({group, options, std::move(nodes)});
    }
  }
}

void Supply::find_whole_sizes() {
  const Problem& problem = task_.problem;
  const std::size_t resources = problem.resource_count;
  std::map<std::int64_t, std::pair<std::vector<Amount>, std::int64_t>, std::greater<>> sizes;  // requests, pods
  bool has_shares = false;
  densities_.assign(resources, 0);
  const auto count = [&](PodIndex pod) {
    const PodClass& pod_class = problem.class_of(pod);
    const GpuRequest& size = kinds_.sizes()[kinds_.size_of(pod)];
    if (size.kind == GpuRequestKind::kNone) return;
    has_shares = has_shares || is_shared(size);
    double devices = static_cast<double>(size.devices);
    if (is_shared(size)) {
      devices = std::numeric_limits<double>::infinity();
      for (const NodeClass& node_class : problem.node_classes)
        devices = std::min(devices, devices_of(pod_class, node_class));
    }
    for (std::size_t r = 0; r < resources; ++r)
      densities_[r] = std::max(densities_[r], static_cast<double>(pod_class.request[r]) / devices);
    if (!is_whole(size)) return;
    auto& [request, pods] = sizes[size.devices];
    request.resize(resources, rounding_ == Rounding::kLeast ? kPlenty : 0);
    ++pods;
    for (std::size_t r = 0; r < resources; ++r)
      request[r] = rounding_ == Rounding::kLeast ? std::min(request[r], pod_class.request[r])
                                                 : request[r] + pod_class.request[r];
  };
  for (const KeptPods& kept : task_.kept) std::ranges::for_each(kept.pods, count);
  for (const NewPods& unit : task_.placed) std::ranges::for_each(unit.pods, count);
  for (auto& [devices, sum] : sizes) {
    auto& [request, pods] = sum;
    if (rounding_ == Rounding::kMean)
      for (Amount& amount : request) amount /= pods;
    whole_sizes_.push_back({devices, std::move(request)});
  }
  if (!has_shares) return;
  if (whole_sizes_.empty() || whole_sizes_.back().devices != 1)
    whole_sizes_.push_back({1, std::vector<Amount>(resources, 0)});
  if (rounding_ == Rounding::kLeast) whole_sizes_.back().request.assign(resources, 0);
}

// Pods that stay for good here: those without devices, sharers of several, and those that may neither leave nor move.
void Supply::number_residents() {
  std::map<Resident, ResidentIndex> numbers;
  for (std::size_t k = 0; k < task_.kept.size(); ++k) {
    const KeptPods& kept = task_.kept[k];
    const bool is_partial = kept.kept < std::ssize(kept.pods);
    if (kept.pods.empty() || (!is_partial && !kept.movable)) continue;
    const KindIndex kind = kinds_.kind_of(kept.pods.front());
    const GpuRequest& size = kinds_.request(kind);
    if (is_shared(size) && size.devices > 1) is_complete_ = false;
    if (size.kind == GpuRequestKind::kNone || (is_shared(size) && size.devices > 1)) continue;
    const Resident resident{kind, is_partial ? 0 : kept.cost, is_partial ? KeptIndex(k) : KeptIndex::none()};
    const auto [number, is_new] = numbers.emplace(resident, ResidentIndex(residents_.size()));
    if (is_new) residents_.push_back(resident);
    for (const PodIndex pod : kept.pods) resident_of_[pod] = number->second;
  }
}

// None: none of the task's pods may be there, or runs there.
GroupIndex Supply::group_of(NodeIndex node) {
  const NodeClass& node_class = task_.problem.class_of(node);
  NodeGroup group{{}, node_class.device_memory_mib, {}, {}, {}, 0};
  const bool is_closed = is_exceeded(node_class) || node_class.devices_closed;
  for (const Filter& filter : kinds_.filters())
    group.accepted.push_back(!is_closed && filter.accepts(task_.problem, node));
  const auto found = std::ranges::find_if(groups_.raw(), [&](const NodeGroup& other) {
    return other.accepted == group.accepted && other.device_memory_mib == group.device_memory_mib;
  });
  auto index = GroupIndex(static_cast<std::size_t>(found - groups_.raw().begin()));
  if (found == groups_.raw().end()) {
    group.nodes.assign(task_.problem.nodes.size(), false);
    group.room.assign(whole_sizes_.size(), 0);
    index = groups_.push_back(std::move(group));
  }
  groups_[index].nodes[node.value()] = true;
  return index;
}

Supply::Content Supply::content_of(NodeIndex node) {
  const Problem& problem = task_.problem;
  const NodeClass& node_class = problem.class_of(node);
  const auto free_in_base = task_.base.free_devices(node);
  std::vector<DeviceUnits> free(free_in_base.begin(), free_in_base.end());
  std::vector<Residents> sharers(free.size());
  std::vector<Amount> resources(task_.base.free(node).begin(), task_.base.free(node).end());
  std::map<ResidentIndex, std::vector<PodIndex>> wholes;
  std::vector<Amount> sharing(resources.size(), 0);
  for (const PodIndex pod : kept_on(node)) {
    const PodClass& pod_class = problem.class_of(pod);
    const ResidentIndex resident = resident_of_[pod];
    if (resident.is_none()) {
      for (const std::int32_t device : problem.devices_of(pod))
        free[static_cast<std::size_t>(device)] -= share_units(pod_class, node_class);
      for (std::size_t r = 0; r < resources.size(); ++r) resources[r] -= pod_class.request[r];
    } else if (is_whole(kinds_.request(residents_[resident].kind))) {
      wholes[resident].push_back(pod);
    } else {
      Residents& all = sharers[static_cast<std::size_t>(problem.devices_of(pod)[0])];
      const auto same = std::ranges::find(all, resident, &Residents::value_type::first);
      if (same == all.end())
        all.emplace_back(resident, 1);
      else
        ++same->second;
      for (std::size_t r = 0; r < resources.size(); ++r) sharing[r] += pod_class.request[r];
    }
  }
  Content content{group_of_[node], 0, {}, {}, {}};
  NodeGroup& group = groups_[content.group];
  double devices = 0;
  std::map<DeviceTypeIndex, std::int32_t> cleared;
  for (std::size_t d = 0; d < free.size(); ++d) {
    devices += static_cast<double>(free[d]) / static_cast<double>(node_class.device_capacity());
    const bool is_idle = free[d] == node_class.device_capacity();
    content.idle += is_idle ? 1 : 0;
    if (sharers[d].empty() && !is_idle && free[d] > 0)
      group.devices[free[d]].emplace_back(node, static_cast<std::int32_t>(d));
    if (sharers[d].empty()) continue;
    std::ranges::sort(sharers[d]);
    DeviceType type{content.group, free[d], is_idle, std::move(sharers[d]), {}};
    const auto [number, is_new] = device_type_numbers_.emplace(type, DeviceTypeIndex(device_types_.size()));
    if (is_new) device_types_.push_back(std::move(type));
    device_types_[number->second].devices.emplace_back(node, static_cast<std::int32_t>(d));
    if (is_idle) ++cleared[number->second];
  }
  group.idle += content.idle;
  content.devices.assign(cleared.begin(), cleared.end());
  for (std::size_t r = 0; r < resources.size(); ++r)
    if (densities_[r] * devices > static_cast<double>(resources[r])) content.free = resources;
  if (!content.free.empty() && rounding_ == Rounding::kMean)
    for (std::size_t r = 0; r < resources.size(); ++r) content.free[r] -= sharing[r];
  for (const auto& [resident, pods] : wholes) {
    Content::Whole whole{resident, static_cast<std::int32_t>(pods.size()), {}};
    if (!content.free.empty()) whole.stay = least_requests(pods);
    content.wholes.push_back(std::move(whole));
  }
  return content;
}

// Running pods of the task.
std::vector<PodIndex> Supply::kept_on(NodeIndex node) {
  if (kept_on_.empty()) {
    kept_on_.resize(task_.problem.nodes.size());
    for (const KeptPods& kept : task_.kept)
      for (const PodIndex pod : kept.pods) kept_on_[task_.problem.pods[pod].node].push_back(pod);
  }
  return kept_on_[node];
}

std::vector<std::vector<Amount>> Supply::least_requests(const std::vector<PodIndex>& pods) const {
  const std::size_t resources = task_.problem.resource_count;
  std::vector<std::vector<Amount>> sums(pods.size() + 1, std::vector<Amount>(resources, 0));
  for (std::size_t r = 0; r < resources; ++r) {
    std::vector<Amount> requests;
    for (const PodIndex pod : pods) requests.push_back(task_.problem.class_of(pod).request[r]);
    std::ranges::sort(requests);
    for (std::size_t n = 0; n < requests.size(); ++n) sums[n + 1][r] = sums[n][r] + requests[n];
  }
  return sums;
}

std::vector<std::int64_t> Supply::room_of(std::int64_t idle, const std::vector<Amount>& free) const {
  std::vector<std::int64_t> room;
  for (std::size_t k = 0; k < whole_sizes_.size(); ++k)
    room.push_back(lp::most_devices(idle, free, whole_sizes_, k + 1));
  return room;
}

std::vector<NodeOption> Supply::list_options(const Content& content) {
  std::vector<std::int32_t> most, step;
  for (const Content::Whole& whole : content.wholes) most.push_back(whole.count);
  for (const auto& [type, count] : content.devices) most.push_back(count);
  step.assign(most.size(), 1);
  const auto ways = [&] {
    std::size_t product = 1;
    for (std::size_t i = 0; i < most.size() && product <= kTuning.slots.options; ++i)
      product *= static_cast<std::size_t>((most[i] + step[i] - 1) / step[i] + 1);
    return product;
  };
  for (std::size_t i = most.size(); i-- > 0 && ways() > kTuning.slots.options;) {  // all of them or none
    is_complete_ = is_complete_ && most[i] <= 1;
    step[i] = std::max(1, most[i]);
  }
  while (ways() > kTuning.slots.options) {  // the last ones stay
    is_complete_ = false;
    most.pop_back();
    step.pop_back();
  }
  std::vector<NodeOption> options;
  std::vector<std::int32_t> counts(most.size(), 0);
  do {
    NodeOption option;
    std::int64_t idle = content.idle;
    std::vector<Amount> free = content.free;
    for (std::size_t i = 0; i < content.wholes.size(); ++i) {
      const Content::Whole& whole = content.wholes[i];
      const std::int32_t off = i < counts.size() ? counts[i] : 0, stay = whole.count - off;
      if (off > 0) option.off.emplace_back(whole.resident, off);
      idle -= stay * kinds_.request(residents_[whole.resident].kind).devices;
      for (std::size_t r = 0; r < free.size(); ++r) free[r] -= whole.stay[static_cast<std::size_t>(stay)][r];
    }
    for (std::size_t i = 0; i < content.devices.size(); ++i) {
      const auto& [type, count] = content.devices[i];
      const std::size_t at = content.wholes.size() + i;
      const std::int32_t clear = at < counts.size() ? counts[at] : 0;
      if (clear > 0) option.cleared.emplace_back(type, clear);
      idle -= count - clear;
    }
    option.room = room_of(idle, free);
    options.push_back(std::move(option));
  } while (next(counts, most, step));
  return options;
}

std::vector<NodeOption> Supply::options_of(const Content& content) {
  std::vector<NodeOption> all = list_options(content), options;
  const bool is_open = std::ranges::any_of(groups_[content.group].accepted, [](bool accepted) { return accepted; });
  for (NodeOption& option : all)
    if (!is_open) option.room.assign(option.room.size(), 0);
  std::vector<Weight> weights;
  for (const NodeOption& option : all) weights.push_back(weight_of(option, content.group));
  std::vector<bool> is_out(all.size(), false);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size() && !is_out[i]; ++j)
      is_out[i] = i != j && !is_out[j] && is_dominated(weights[i], weights[j]);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!is_out[i]) options.push_back(std::move(all[i]));
  return options;
}

// What is left of the room if the pods that leave and can only go to nodes of the group are dealt there.
Supply::Weight Supply::weight_of(const NodeOption& option, GroupIndex group) const {
  Weight weight;
  weight.room = option.room;
  const auto add = [&](const Residents& residents, std::int32_t times) {
    for (const auto& [index, count] : residents) {
      const Resident& resident = residents_[index];
      const std::int32_t n = count * times;
      weight.cost += resident.cost * n;
      const GpuRequest& size = kinds_.request(resident.kind);
      const bool is_here =
          group_count_[resident.kind] == 1 && groups_[group].accepted[kinds_.kinds()[resident.kind].filter.value()];
      if (!resident.partial.is_none())
        weight.partial[resident.partial] += n;
      else if (!is_whole(size) || !is_here)
        weight.elsewhere[resident.kind] += n;
      else
        for (std::size_t k = 0; k < whole_sizes_.size(); ++k)
          if (size.devices >= whole_sizes_[k].devices) weight.room[k] -= n * size.devices;
    }
  };
  add(option.off, 1);
  for (const auto& [type, count] : option.cleared) add(device_types_[type].residents, count);
  return weight;
}

bool Supply::is_dominated(const Weight& one, const Weight& other) {
  if (other.cost > one.cost || other.partial != one.partial) return false;
  for (const auto& [kind, count] : other.elsewhere) {
    const auto found = one.elsewhere.find(kind);
    if (found == one.elsewhere.end() || found->second < count) return false;
  }
  for (std::size_t k = 0; k < one.room.size(); ++k)
    if (other.room[k] < one.room[k]) return false;
  return true;
}

}  // namespace muster::slots
