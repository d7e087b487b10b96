#include "io/kubernetes/pod/card_settling.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "io/kubernetes/pod/card_parts.h"

namespace muster::kubernetes {

namespace {

using PodList = std::vector<KubernetesPod*>;

constexpr std::int64_t kMillionths = 1'000'000;

bool has_place_or_waits(const KubernetesPod& pod) { return pod.state.is_on_node() || pod.state.waits(); }

std::int32_t position_of(const NodeCards& cards, std::string_view id) {
  const auto found = std::ranges::find(cards.cards, id, &NodeCard::id);
  return found == cards.cards.end() ? -1 : static_cast<std::int32_t>(found - cards.cards.begin());
}

// The devices of a pod whose annotation names cards of its node, and what it has of each.
bool take_place(const NodeCards& cards, KubernetesPod& pod) {
  CardShare& share = pod.gpus.share;
  if (share.dialect == nullptr || share.placed.empty()) return false;
  const auto places = read_card_places(share);
  if (!places) return false;
  std::vector<std::int32_t> devices;
  std::int64_t memory = 0, cores = 0;
  for (const CardPlacement& place : *places) {
    devices.push_back(position_of(cards, place.card));
    if (devices.back() < 0) return false;
    memory = std::max(memory, place.memory);
    cores = std::max(cores, place.cores);
  }
  std::ranges::sort(devices);
  pod.gpus.devices = std::move(devices);
  share.cards = std::ssize(pod.gpus.devices);
  if (share.is_whole() || memory == 0) return true;
  share.memory = memory;
  share.percent = 0;
  share.cores = cores;
  return true;
}

// The pods on one node that have devices there.
class NodePods {
 public:
  NodePods(KubernetesRemarks& remarks, const CardNode& node) : remarks_(remarks), node_(node) {}

  void add(KubernetesPod& pod) { (take_place(*node_.cards, pod) ? known_ : unknown_).push_back(&pod); }

  // Requires the requests of all its pods.
  void settle() {
    free_.clear();
    for (KubernetesPod* pod : known_) leave_uncounted(*pod);
    for (std::int32_t i = 0; i < node_.cards->usable(); ++i) free_.insert(i);
    for (const KubernetesPod* pod : known_) {
      for (const std::int32_t device : pod->gpus.devices) free_.erase(device);
    }
    std::ranges::sort(unknown_, {}, [](const KubernetesPod* pod) { return pod->full_name(); });
    // The only one that shares is on any card that is not whole: they are all alike.
    const auto shares = [](const KubernetesPod* pod) { return pod->gpus.request.is_shared(); };
    const bool is_alone = std::ranges::none_of(known_, shares) && std::ranges::count_if(unknown_, shares) == 1 &&
                          node_.cards->has_equal_cards();
    for (KubernetesPod* pod : unknown_) {
      if (!pod->gpus.request.is_shared()) settle_whole(*pod);
    }
    for (KubernetesPod* pod : unknown_) {
      if (pod->gpus.request.is_shared() && !is_alone) settle_share(*pod);
    }
  }

 private:
  // A card that does not count has no room to give back.
  void leave_uncounted(KubernetesPod& pod) {
    const auto is_uncounted = [this](std::int32_t device) { return device >= node_.cards->usable(); };
    if (std::erase_if(pod.gpus.devices, is_uncounted) == 0) return;
    pod.gpus.request.devices = std::ssize(pod.gpus.devices);
    if (pod.gpus.devices.empty()) pod.gpus.request = {};
    pod.source.signature = nullptr;
    pod.hold("the pod is on a card that is not healthy, is closed, or is smaller than the cards that count");
  }

  // Free cards are as good as each other; without enough, it holds none that the model knows.
  void settle_whole(KubernetesPod& pod) {
    if (pod.gpus.request.devices > std::ssize(free_)) return;
    for (std::int64_t i = 0; i < pod.gpus.request.devices; ++i) {
      pod.gpus.devices.push_back(*free_.begin());
      free_.erase(free_.begin());
    }
  }

  std::int64_t card_memory() const { return std::max<std::int64_t>(1, node_.cards->memory()); }

  // What a pod that shares has of each of its cards. Millionths of a MiB.
  std::int64_t taken_by(const KubernetesPod& pod) const {
    const GpuShare& request = pod.gpus.request;
    return request.kind == GpuRequestKind::kFraction ? request.amount * card_memory()
                                                     : std::min(request.amount, card_memory()) * kMillionths;
  }

  // Whether it fits beside the pods that are known to be on the card.
  bool has_room(std::int32_t device, const KubernetesPod& pod) const {
    std::int64_t sum = taken_by(pod);
    for (const KubernetesPod* other : known_) {
      if (other->gpus.request.is_shared() &&
          std::ranges::find(other->gpus.devices, device) != other->gpus.devices.end())
        sum += taken_by(*other);
    }
    return sum <= card_memory() * kMillionths;
  }

  // It may be on each card that no pod has as a whole, and that has room for it.
  void settle_share(KubernetesPod& pod) {
    std::set<std::int32_t> possible;
    for (std::int32_t i = 0; i < node_.cards->usable(); ++i) possible.insert(i);
    for (const PodList* list : {&known_, &unknown_}) {
      for (const KubernetesPod* other : *list) {
        if (other->gpus.request.is_shared()) continue;
        for (const std::int32_t device : other->gpus.devices) possible.erase(device);
      }
    }
    std::set<std::int32_t> roomy;
    std::ranges::copy_if(possible, std::inserter(roomy, roomy.end()),
                         [&](std::int32_t device) { return has_room(device, pod); });
    if (std::ssize(roomy) >= pod.gpus.request.devices) possible = std::move(roomy);
    pod.gpus.devices.assign(possible.begin(), possible.end());
    if (std::ssize(possible) == pod.gpus.request.devices) return;
    if (possible.empty()) return;
    pod.gpus.request.devices = std::ssize(possible);
    pod.hold("the input does not tell on which cards of its node the pod is");
    remarks_.add("the cards of a running pod are unknown: its part counts on each card of its node", pod.full_name());
  }

  KubernetesRemarks& remarks_;
  const CardNode& node_;
  PodList known_, unknown_;
  std::set<std::int32_t> free_;
};

// All pods and nodes of one system.
class DialectPods {
 public:
  void add(const NodeCards& cards) {
    for (const NodeCard& card : cards.cards) {
      if (card.is_usable) sizes_.add(card.memory, card.slots);
    }
    has_partitions_ = has_partitions_ || cards.is_partitioned;
  }
  void add(KubernetesPod& pod) { pods_.push_back(&pod); }

  // gpushare counts in units of the cards.
  void apply_unit(std::int64_t unit) {
    for (KubernetesPod* pod : pods_) {
      if (pod->gpus.share.dialect->resources.memory_unit == 0) pod->gpus.share.memory *= unit;
    }
  }

  // How much memory the pods that wait ask for which fit on a card of this size. MiB.
  std::int64_t demand(std::int64_t card) const {
    constexpr std::int64_t kHundred = 100;
    std::int64_t sum = 0;
    for (const KubernetesPod* pod : pods_) {
      const CardShare& share = pod->gpus.share;
      if (!pod->state.waits() || share.memory > card) continue;
      const std::int64_t part = share.percent > 0 ? share.percent * card / kHundred : share.memory;
      sum += share.cards * (share.is_whole() ? card : part);
    }
    return sum;
  }

  // Whether all of them that wait, or are on this node, ask for memory alone.
  bool ask_for_memory(std::string_view node) const {
    return std::ranges::all_of(pods_, [node](const KubernetesPod* pod) {
      const bool concerns = pod->state.waits() || pod->state.node == node;
      return !concerns || (pod->gpus.share.memory > 0 && !pod->gpus.share.is_whole());
    });
  }

  void settle(KubernetesRemarks& remarks) {
    std::vector<const CardShare*> shares;
    for (const KubernetesPod* pod : pods_) shares.push_back(&pod->gpus.share);
    const CardMeasures measures = find_measures(shares, sizes_);
    for (KubernetesPod* pod : pods_) {
      const CardPart part = part_of(pod->gpus.share, sizes_, measures);
      pod->gpus.request = part.request;
      pod->source.signature = nullptr;
      if (has_partitions_ && pod->gpus.request.devices > 1)
        pod->hold(
            "a node gives out its GPUs in fixed partitions (node.koordinator.sh/gpu-partition-policy: Honor), which "
            "Muster does not plan");
      if (!part.is_exact) {
        remarks.add(
            "a pod asks for memory and for cores or a slot of a card: the largest of these counts for all of them",
            pod->full_name());
      }
    }
  }

 private:
  PodList pods_;
  CardSizes sizes_;
  bool has_partitions_ = false;
};

using PodsByDialect = std::map<const ShareDialect*, DialectPods>;

PodsByDialect group_by_dialect(std::span<const CardNode> nodes, std::vector<KubernetesPod>& pods) {
  PodsByDialect groups;
  std::map<const ShareDialect*, std::int64_t> units;
  for (const CardNode& node : nodes) {
    std::int64_t& unit = units[node.cards->dialect];
    unit = std::max(unit, node.cards->unit);
  }
  for (KubernetesPod& pod : pods) {
    if (has_place_or_waits(pod) && pod.gpus.share.dialect != nullptr) groups[pod.gpus.share.dialect].add(pod);
  }
  for (auto& [dialect, group] : groups) group.apply_unit(std::max<std::int64_t>(1, units[dialect]));
  return groups;
}

// Whether cards are left out: a device of a snapshot is like the others of its node. Of the sizes of its cards, the one
// counts with which most of what waits may have room; the lowest of several.
bool even_out(KubernetesRemarks& remarks, const CardNode& node, const DialectPods& pods) {
  if (node.cards->has_equal_cards()) return false;
  std::map<std::int64_t, std::int64_t> cards;  // by size
  for (const NodeCard& card : node.cards->cards) cards[card.memory] += card.is_usable ? 1 : 0;
  std::int64_t best = 0, most = -1, count = 0;
  for (auto size = cards.rbegin(); size != cards.rend(); ++size) {
    count += size->second;
    const std::int64_t room = std::min(pods.demand(size->first), count * size->first);
    if (size->second == 0 || room < most) continue;
    most = room;
    best = size->first;
  }
  const bool leaves_out = best > node.cards->memory();
  remarks.add(leaves_out
                  ? "the cards of a node are of several sizes: the smaller ones do not count, as more of what waits "
                    "may have room so, and the others count as the smallest of them"
                  : "the cards of a node are of several sizes: each counts as the smallest one",
              std::string("Node ").append(node.name));
  if (leaves_out) node.cards->leave_out_below(best);
  return leaves_out;
}

// What the cards of a node lack to the largest one.
void find_lacking(const CardNode& node, std::vector<LackingCard>& out) {
  node.cards->counts_largest = true;
  const std::int64_t most = node.cards->memory();
  for (std::int32_t i = 0; i < node.cards->usable(); ++i) {
    const std::int64_t memory = node.cards->cards[static_cast<std::size_t>(i)].memory;
    if (memory < most) out.push_back({node.name, i, most - memory});
  }
}

bool has_whole_gpus(const std::vector<KubernetesPod>& pods, std::string_view node) {
  return std::ranges::any_of(pods, [node](const KubernetesPod& pod) {
    return pod.gpus.share.dialect == nullptr && pod.gpus.request.kind != GpuRequestKind::kNone &&
           (pod.state.waits() || pod.state.node == node);
  });
}

// If a node has GPUs that it does not report as such, pods that ask for nvidia.com/gpu need nodes that do.
bool keep_apart(std::span<const CardNode> nodes, std::vector<KubernetesPod>& pods) {
  const auto is_closed = [](const CardNode& node) { return !node.cards->reports_gpus && node.cards->usable() > 0; };
  if (std::ranges::none_of(nodes, is_closed)) return false;
  const auto asks = [](const KubernetesPod& pod) {
    return pod.gpus.share.dialect == nullptr && pod.gpus.request.kind == GpuRequestKind::kWhole;
  };
  if (std::ranges::none_of(pods, asks)) return false;
  for (KubernetesPod& pod : pods) {
    if (!asks(pod)) continue;
    add_count(pod.requests, "nvidia.com/gpu", pod.gpus.request.devices);
    pod.source.signature = nullptr;
  }
  return true;
}

}  // namespace

SettledCards settle_cards(KubernetesRemarks& remarks, std::span<const CardNode> nodes,
                          std::vector<KubernetesPod>& pods) {
  SettledCards settled;
  PodsByDialect by_dialect = group_by_dialect(nodes, pods);
  std::map<std::string_view, NodePods> by_node;
  for (const CardNode& node : nodes) {
    DialectPods& group = by_dialect[node.cards->dialect];
    if (!node.cards->has_equal_cards() && group.ask_for_memory(node.name) && !has_whole_gpus(pods, node.name)) {
      find_lacking(node, settled.lacking);
      settled.changes.cards = true;
    } else {
      settled.changes.cards = even_out(remarks, node, group) || settled.changes.cards;
    }
    group.add(*node.cards);
    by_node.emplace(node.name, NodePods(remarks, node));
  }
  for (KubernetesPod& pod : pods) {
    const auto node = pod.state.is_on_node() ? by_node.find(pod.state.node) : by_node.end();
    const bool has_devices = pod.gpus.share.dialect != nullptr || pod.gpus.request.kind != GpuRequestKind::kNone;
    // KAI has told the devices of its own.
    if (node != by_node.end() && has_devices && pod.gpus.devices.empty()) node->second.add(pod);
  }
  for (auto& [dialect, group] : by_dialect) group.settle(remarks);
  for (auto& [name, node] : by_node) node.settle();
  settled.changes.plain_gpus = keep_apart(nodes, pods);
  return settled;
}

}  // namespace muster::kubernetes
