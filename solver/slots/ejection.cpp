#include "solver/slots/ejection.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::slots {
namespace {

// A whole user, or all users of one shared device.
template <class Cost>
struct Item {
  std::int64_t devices = 1;
  Cost cost;
  std::vector<PodIndex> pods;
};

// The cheapest items with that many devices or more.
template <class Cost>
std::optional<std::vector<std::size_t>> cover(const std::vector<Item<Cost>>& items, std::int64_t devices) {
  struct Best {
    Cost cost;
    std::vector<std::size_t> items;
  };
  std::vector<std::optional<Best>> best(static_cast<std::size_t>(devices) + 1);
  best[0] = Best{};
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::int64_t wanted = devices; wanted > 0; --wanted) {
      const auto& rest = best[static_cast<std::size_t>(std::max<std::int64_t>(0, wanted - items[i].devices))];
      auto& here = best[static_cast<std::size_t>(wanted)];
      if (!rest) continue;
      const Cost cost = rest->cost + items[i].cost;
      if (here && here->cost <= cost) continue;
      Best better{cost, rest->items};
      better.items.push_back(i);
      here = std::move(better);
    }
  if (!best.back()) return std::nullopt;
  return best.back()->items;
}

}  // namespace

Ejection::Ejection(DealtState& dealt) : dealt_(dealt) {}

bool Ejection::may_eject(PodIndex other, PodIndex pod, Reach reach) const {
  const PodKinds& kinds = dealt_.kinds();
  if (!kinds.is_known(other) || pinned_.contains(other)) return false;
  if (dealt_.is_home(other) && !dealt_.task().kept[kinds.kept_of(other).value()].movable) return false;
  if (reach == Reach::kAny) return other != pod;
  if (reach == Reach::kSmaller) return kinds.size_of(pod) < kinds.size_of(other);
  return kinds.rank(pod) < kinds.rank(other);
}

Ejection::Cost Ejection::cost_of(PodIndex pod, Reach reach) const {
  const PodClass& pod_class = dealt_.problem().class_of(pod);
  const std::int64_t devices = pod_class.gpu.devices;
  const Work moved = dealt_.is_home(pod) ? dealt_.cost(pod) : 0;
  if (reach != Reach::kAny) return {moved, devices * devices};
  const auto penalty = penalties_.find(pod);
  return {moved + pod_class.work * (penalty == penalties_.end() ? 1 : 1 + penalty->second), 0};
}

std::optional<Ejection::Choice> Ejection::choose(PodIndex pod, NodeIndex node, Reach reach) const {
  const GpuRequest& size = dealt_.kinds().sizes()[dealt_.kinds().size_of(pod)];
  std::optional<Choice> choice = is_whole(size)    ? choose_whole(pod, node, reach)
                                 : is_shared(size) ? choose_shared(pod, node, reach)
                                                   : std::optional(Choice{});
  if (choice && reach != Reach::kSmaller && !add_for_resources(pod, node, reach, *choice)) return std::nullopt;
  return choice;
}

// Of the others, those of the least cost for what they give of the resource that is shortest.
bool Ejection::add_for_resources(PodIndex pod, NodeIndex node, Reach reach, Choice& choice) const {
  const Problem& problem = dealt_.problem();
  std::vector<Amount> lacking = problem.class_of(pod).request;
  const auto give = [&](PodIndex other) {
    for (std::size_t r = 0; r < lacking.size(); ++r) lacking[r] -= problem.class_of(other).request[r];
  };
  for (std::size_t r = 0; r < lacking.size(); ++r)
    lacking[r] = lacking[r] == 0 ? 0 : lacking[r] - dealt_.state().free(node)[r];
  std::ranges::for_each(choice.pods, give);
  for (std::size_t r = 0; r < lacking.size(); ++r)
    while (lacking[r] > 0) {
      PodIndex best;
      double best_cost = 0;
      for (const PodIndex other : dealt_.state().pods_on(node)) {
        const Amount given = std::min(lacking[r], problem.class_of(other).request[r]);
        if (given <= 0 || !may_eject(other, pod, reach)) continue;
        if (std::ranges::find(choice.pods, other) != choice.pods.end()) continue;
        const double cost = static_cast<double>(1 + cost_of(other, reach).work) / static_cast<double>(given);
        if (!best.is_none() && cost >= best_cost) continue;
        best = other;
        best_cost = cost;
      }
      if (best.is_none()) return false;
      choice.pods.push_back(best);
      choice.cost = choice.cost + cost_of(best, reach);
      give(best);
    }
  return true;
}

std::optional<Ejection::Choice> Ejection::choose_whole(PodIndex pod, NodeIndex node, Reach reach) const {
  const ClusterState& state = dealt_.state();
  const std::int64_t wanted = dealt_.problem().class_of(pod).gpu.devices - state.idle_devices(node);
  if (wanted <= 0) return Choice{};
  if (dealt_.problem().class_of(pod).gpu.devices > std::ssize(state.free_devices(node))) return std::nullopt;
  std::vector<Item<Cost>> items;
  std::vector<std::size_t> item_of(state.free_devices(node).size(), 0);  // of shared devices; 0: none yet
  std::vector<bool> held(item_of.size(), false);                         // by a pod that stays
  for (const PodIndex other : state.pods_on(node)) {
    const GpuRequest& size = dealt_.problem().class_of(other).gpu;
    if (size.kind == GpuRequestKind::kNone) continue;
    const DeviceList devices = state.place_of(other).devices;
    if (!may_eject(other, pod, reach)) {
      for (const std::int32_t device : devices) held[static_cast<std::size_t>(device)] = true;
    } else if (is_whole(size)) {
      items.push_back({std::ssize(state.place_of(other).devices), cost_of(other, reach), {other}});
    } else if (devices.size() == 1) {
      std::size_t& item = item_of[static_cast<std::size_t>(devices[0])];
      if (item == 0) {
        items.push_back({1, {}, {}});
        item = items.size();
      }
      items[item - 1].cost = items[item - 1].cost + cost_of(other, reach);
      items[item - 1].pods.push_back(other);
    } else {  // these keep their places
      for (const std::int32_t device : devices) held[static_cast<std::size_t>(device)] = true;
    }
  }
  for (std::size_t device = 0; device < held.size(); ++device)
    if (held[device] && item_of[device] != 0) items[item_of[device] - 1].devices = 0;
  std::erase_if(items, [](const Item<Cost>& item) { return item.devices == 0; });
  const auto chosen = cover(items, wanted);
  if (!chosen) return std::nullopt;
  Choice choice;
  for (const std::size_t i : *chosen) {
    choice.cost = choice.cost + items[i].cost;
    choice.pods.insert(choice.pods.end(), items[i].pods.begin(), items[i].pods.end());
  }
  return choice;
}

std::optional<Ejection::Choice> Ejection::choose_shared(PodIndex pod, NodeIndex node, Reach reach) const {
  const PodClass& pod_class = dealt_.problem().class_of(pod);
  const DeviceUnits units = share_units(pod_class, dealt_.problem().class_of(node));
  const auto free = dealt_.state().free_devices(node);
  const std::vector<User> users = users_to_eject(pod, node, reach);
  std::vector<Choice> choices;
  for (std::size_t device = 0; device < free.size(); ++device)
    if (auto choice = clear_device(units - free[device], device, users)) choices.push_back(std::move(*choice));
  const auto wanted = static_cast<std::size_t>(pod_class.gpu.devices);
  if (choices.size() < wanted) return std::nullopt;
  std::ranges::stable_sort(choices, {}, &Choice::cost);
  Choice all;
  for (std::size_t i = 0; i < wanted; ++i) {
    all.cost = all.cost + choices[i].cost;
    for (const PodIndex other : choices[i].pods)
      if (std::ranges::find(all.pods, other) == all.pods.end()) all.pods.push_back(other);
  }
  return all;
}

std::vector<Ejection::User> Ejection::users_to_eject(PodIndex pod, NodeIndex node, Reach reach) const {
  std::vector<User> users;
  for (const PodIndex other : dealt_.state().pods_on(node)) {
    const PodClass& pod_class = dealt_.problem().class_of(other);
    if (pod_class.gpu.kind == GpuRequestKind::kNone || !may_eject(other, pod, reach)) continue;
    users.push_back({cost_of(other, reach), other, share_units(pod_class, dealt_.problem().class_of(node)),
                     dealt_.state().place_of(other).devices});
  }
  std::ranges::sort(users, {}, [](const User& user) { return std::pair(user.cost, user.pod); });
  return users;
}

// The cheapest users first, until the share fits; then without those that are not needed.
std::optional<Ejection::Choice> Ejection::clear_device(DeviceUnits lacking, std::size_t device,
                                                       const std::vector<User>& users) {
  Choice choice;
  std::vector<const User*> chosen;
  for (auto user = users.begin(); user != users.end() && lacking > 0; ++user) {
    if (std::ranges::find(user->devices, static_cast<std::int32_t>(device)) == user->devices.end()) continue;
    lacking -= user->units;
    chosen.push_back(&*user);
  }
  if (lacking > 0) return std::nullopt;
  for (const User* user : chosen) {
    if (lacking + user->units <= 0) {
      lacking += user->units;
      continue;
    }
    choice.pods.push_back(user->pod);
    choice.cost = choice.cost + user->cost;
  }
  return choice;
}

std::optional<Ejection::Cost> Ejection::cost_on(PodIndex pod, NodeIndex node, Reach reach) const {
  const auto choice = choose(pod, node, reach);
  return choice ? std::optional(choice->cost) : std::nullopt;
}

Ejection::KnownCosts* Ejection::known_costs(PodIndex pod, Reach reach) {
  if (reach == Reach::kAny) return nullptr;
  const PodKinds& kinds = dealt_.kinds();
  if (known_.size() * dealt_.problem().nodes.size() > kTuning.slots.most_known) known_.clear();
  const RankIndex rank = reach == Reach::kSmaller ? RankIndex::none() : kinds.rank(pod);
  KnownCosts& known = known_[{kinds.size_of(pod), rank}];
  if (known.empty()) known.resize(dealt_.problem().nodes.size());
  return &known;
}

std::optional<Ejection::Room> Ejection::make_room(PodIndex pod, Reach reach) {
  const Problem& problem = dealt_.problem();
  const Filter& filter = dealt_.kinds().filter_of(pod);
  KnownCosts* costs = known_costs(pod, reach);
  const auto cost_of_room = [&](NodeIndex node) {
    const auto find = [&] { return cost_on(pod, node, reach); };
    return costs == nullptr ? find() : (*costs)[node].of(dealt_.state().version(node), find);
  };
  std::vector<std::pair<Cost, NodeIndex>> nodes;
  for (const NodeIndex node : problem.nodes.indices()) {
    if (!filter.accepts(problem, node) || problem.class_of(node).devices_closed) continue;
    if (const auto cost = cost_of_room(node)) nodes.emplace_back(*cost, node);
  }
  const std::size_t tries = std::min(nodes.size(), kTuning.slots.ejecting_nodes);
  std::ranges::partial_sort(nodes, nodes.begin() + static_cast<std::ptrdiff_t>(tries));
  for (std::size_t i = 0; i < tries; ++i)
    if (auto room = take(pod, nodes[i].second, reach)) return room;
  return std::nullopt;
}

std::optional<Ejection::Room> Ejection::take(PodIndex pod, NodeIndex node, Reach reach) {
  const auto choice = choose(pod, node, reach);
  Room room{node, {}};
  const auto from_home = std::ranges::count_if(choice->pods, [&](PodIndex other) { return dealt_.is_home(other); });
  if (!dealt_.may_move(from_home)) return std::nullopt;
  for (const PodIndex other : choice->pods) room.taken.push_back(dealt_.take_note(other));
  if (take_for_resources(pod, room, reach)) return room;
  dealt_.restore(room.taken);
  return std::nullopt;
}

// More of them, the cheapest first, until the pod fits.
bool Ejection::take_for_resources(PodIndex pod, Room& room, Reach reach) {
  if (dealt_.fits(pod, room.node)) return true;
  std::vector<PodIndex> others;
  for (const PodIndex other : dealt_.state().pods_on(room.node))
    if (may_eject(other, pod, reach)) others.push_back(other);
  std::ranges::sort(others, {}, [&](PodIndex other) { return std::pair(cost_of(other, reach), other); });
  for (const PodIndex other : others) {
    if (!dealt_.may_move(dealt_.is_home(other) ? 1 : 0)) return false;
    room.taken.push_back(dealt_.take_note(other));
    if (dealt_.fits(pod, room.node)) return true;
  }
  return false;
}

}  // namespace muster::slots
