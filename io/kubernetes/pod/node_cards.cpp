#include "io/kubernetes/pod/node_cards.h"

#include <algorithm>
#include <array>
#include <optional>

#include "io/kubernetes/pod/gang_terms.h"

namespace muster::kubernetes {

namespace {

constexpr std::array<CardRestriction, 1> kVolcanoRestrictions = {
    {{"volcano.sh/vgpu-mode", "hami-core", "the pod requests virtual GPUs in MIG mode, which Muster does not plan"}}};

constexpr std::array<CardRestriction, 7> kHamiRestrictions = {
    {{"nvidia.com/use-gputype", "",
      "its annotation nvidia.com/use-gputype restricts its cards, which Muster does not plan"},
     {"nvidia.com/nouse-gputype", "",
      "its annotation nvidia.com/nouse-gputype restricts its cards, which Muster does not plan"},
     {"nvidia.com/use-gpuuuid", "",
      "its annotation nvidia.com/use-gpuuuid restricts its cards, which Muster does not plan"},
     {"nvidia.com/nouse-gpuuuid", "",
      "its annotation nvidia.com/nouse-gpuuuid restricts its cards, which Muster does not plan"},
     {"nvidia.com/numa-bind", "false",
      "its annotation nvidia.com/numa-bind restricts its cards, which Muster does not plan"},
     {"nvidia.com/vgpu-mode", "hami-core",
      "its annotation nvidia.com/vgpu-mode restricts its cards, which Muster does not plan"},
     {"hami.io/gpu-scheduler-policy", "binpack",
      "its annotation hami.io/gpu-scheduler-policy is neither binpack nor spread, which Muster does not plan"}}};

constexpr std::array<CardRestriction, 3> kKoordinatorRestrictions = {
    {{"scheduling.koordinator.sh/device-allocate-hint", "",
      "its annotation scheduling.koordinator.sh/device-allocate-hint restricts its devices, which Muster does not "
      "plan"},
     {"scheduling.koordinator.sh/device-joint-allocate", "",
      "its annotation scheduling.koordinator.sh/device-joint-allocate joins its devices, which Muster does not plan"},
     {"scheduling.koordinator.sh/gpu-partition-spec", "",
      "its annotation scheduling.koordinator.sh/gpu-partition-spec restricts its devices, which Muster does not "
      "plan"}}};

constexpr std::array<ShareDialect, 7> kDialects = {{
    {"HAMi",
     {"nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores", "", kBytesOfMib},
     true,
     false,
     "hami.io/vgpu",
     {"", 1, "", "hami.io/node-nvidia-register", CardList::kHami},
     "hami.io/vgpu-devices-allocated",
     CardPlace::kIds,
     kHamiRestrictions},
    {"HAMi",
     {"hygon.com/dcunum", "hygon.com/dcumem", "", "hygon.com/dcucores", "", kBytesOfMib},
     true,
     false,
     "hygon.com/dcunum",
     {"", 1, "", "hami.io/node-dcu-register", CardList::kHami},
     "hami.io/dcu-devices-allocated",
     CardPlace::kIds,
     {}},
    {"Volcano",
     {"volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores",
      "", kBytesOfMib},
     true,
     false,
     "volcano.sh/vgpu-number",
     {"", 1, "", "volcano.sh/node-vgpu-register", CardList::kVolcano},
     "volcano.sh/vgpu-ids-new",
     CardPlace::kIds,
     kVolcanoRestrictions},
    {"Volcano",
     {"volcano.sh/gpu-number", "volcano.sh/gpu-memory", "", "", "", kBytesOfMib},
     false,
     true,
     "",
     {"volcano.sh/gpu-number", 1, "volcano.sh/gpu-memory", "", CardList::kNone},
     "volcano.sh/gpu-index",
     CardPlace::kIndices,
     {}},
    {"Koordinator",
     {"koordinator.sh/gpu.shared", "koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio",
      "koordinator.sh/gpu-core", "koordinator.sh/gpu", 1},
     false,
     true,
     "",
     {"koordinator.sh/gpu-memory-ratio", 100, "koordinator.sh/gpu-memory", "", CardList::kNone},
     "scheduling.koordinator.sh/device-allocated",
     CardPlace::kKoordinator,
     kKoordinatorRestrictions},
    {"gpushare",
     {"", "aliyun.com/gpu-mem", "", "", "", 0},
     false,
     true,
     "",
     {"aliyun.com/gpu-count", 1, "aliyun.com/gpu-mem", "", CardList::kNone},
     "ALIYUN_COM_GPU_MEM_IDX",
     CardPlace::kIndices,
     {}},
    {"GPU Manager",
     {"", "tencent.com/vcuda-memory", "", "tencent.com/vcuda-core", "", 256 * kBytesOfMib},
     false,
     true,
     "",
     {"tencent.com/vcuda-core", 100, "tencent.com/vcuda-memory", "", CardList::kNone},
     "tencent.com/predicate-gpu-idx-0",
     CardPlace::kIndices,
     {}},
}};

}  // namespace

std::span<const ShareDialect> share_dialects() { return kDialects; }

const ShareDialect& hami_dialect() { return kDialects.front(); }

const ShareDialect* dialect_of_resource(std::string_view resource) {
  if (resource.find('/') == std::string_view::npos || resource == hami_dialect().resources.count) return nullptr;
  for (const ShareDialect& dialect : kDialects) {
    const auto& [count, memory, percent, cores, both, unit] = dialect.resources;
    if (resource == count || resource == memory || resource == percent || resource == cores || resource == both)
      return &dialect;
  }
  return nullptr;
}

namespace {

constexpr std::int64_t kMostCards = 4096;  // of a node
constexpr std::int64_t kLeastMib = 1024;   // of a card; gpushare counts GiB, of as many MiB, if a card has less
constexpr std::string_view kCordon = "hami.io/device-cordon";
constexpr std::string_view kOldRegister = "4pd.io/node-nvidia-register";

// `uuid,slots,MiB,model,healthy[,mode]` for Volcano, `uuid,slots,MiB,cores,model,numa,healthy[,index,mode]` for HAMi.
std::optional<NodeCard> read_listed_card(std::string_view text, CardList list) {
  std::vector<std::string_view> parts;
  while (!text.empty()) parts.push_back(next_part(text, ","));
  const bool is_hami = list == CardList::kHami;
  const std::size_t healthy = is_hami ? 6 : 4, mode = is_hami ? 8 : 5;
  if (parts.size() <= healthy || parts[0].empty()) return std::nullopt;
  const auto slots = whole_number(parts[1]), memory = whole_number(parts[2]);
  if (!slots || !memory) return std::nullopt;
  const bool is_shared = parts.size() <= mode || parts[mode] != "mig";
  return NodeCard{std::string(parts[0]), *memory, *slots, std::string(parts[is_hami ? 4 : 3]),
                  parts[healthy] == "true" && is_shared};
}

std::optional<std::vector<NodeCard>> read_listed_cards(std::string_view text, CardList list) {
  std::vector<NodeCard> cards;
  while (!text.empty()) {
    const std::string_view part = next_part(text, ":");
    if (part.empty()) continue;
    auto card = read_listed_card(part, list);
    if (!card) return std::nullopt;
    cards.push_back(*std::move(card));
  }
  return cards;
}

// HAMi's newer form: a list of objects.
std::optional<std::vector<NodeCard>> read_card_objects(std::string_view text) {
  const AnnotationJson list(text, json::JsonKind::kArray);
  if (!list) return std::nullopt;
  std::vector<NodeCard> cards;
  for (const json::JsonValue element : list.root().elements()) {
    if (!element.is(json::JsonKind::kObject)) return std::nullopt;
    NodeCard& card = cards.emplace_back();
    card.is_usable = false;
    bool is_mig = false;
    for (const json::JsonMember member : element.members()) {
      const bool is_text = member.value.is(json::JsonKind::kString),
                 is_count = member.value.is(json::JsonKind::kInteger);
      if (member.key == "id" && is_text) card.id = member.value.string();
      if (member.key == "type" && is_text) card.model = member.value.string();
      if (member.key == "count" && is_count) card.slots = member.value.integer();
      if (member.key == "devmem" && is_count) card.memory = std::max<std::int64_t>(0, member.value.integer());
      if (member.key == "health") card.is_usable = member.value.is(json::JsonKind::kTrue);
      if (member.key == "mode" && is_text) is_mig = member.value.string() == "mig";
    }
    card.is_usable = card.is_usable && !is_mig;
    if (card.id.empty()) return std::nullopt;
  }
  return cards;
}

std::optional<std::vector<NodeCard>> read_registered(std::string_view text, CardList list) {
  return text.starts_with('[') ? read_card_objects(text) : read_listed_cards(text, list);
}

// The totals of the node, divided by its number of cards.
bool read_totals(KubernetesReading& in, json::JsonValue allocatable, const ShareDialect& dialect, NodeCards& out) {
  json::JsonValue cards, memory;
  std::int64_t count = 0, total = 0;
  const std::int64_t unit = dialect.resources.memory_unit;
  if (!in.take(allocatable, dialect.nodes.cards, cards) || !cards ||
      !in.take(allocatable, dialect.nodes.memory, memory) || (unit == 0 && !memory)) {
    return in.error.code == ErrorCode::kNone;
  }
  if (!in.read_amount(cards, {QuantityUnit::kOne, Rounding::kDown}, count) ||
      (memory && !in.read_amount(memory, {QuantityUnit::kOne, Rounding::kDown}, total))) {
    return false;
  }
  count /= dialect.nodes.per_card;
  if (count > kMostCards) return in.fail_value(cards, "is too large for a number of cards");
  if (count == 0) return true;
  out.dialect = &dialect;
  const std::int64_t of_each = total / count;
  if (unit == 0 && of_each < kLeastMib) out.unit = kLeastMib;
  const std::int64_t mib = unit == 0            ? of_each * out.unit
                           : unit < kBytesOfMib ? of_each / (kBytesOfMib / unit)
                                                : of_each * (unit / kBytesOfMib);
  for (std::int64_t i = 0; i < count; ++i) out.cards.push_back({std::to_string(i), mib, 0, {}, true});
  return true;
}

bool read_annotated(KubernetesReading& in, const KubernetesObject& object, json::JsonValue annotations,
                    NodeCards& out) {
  for (const ShareDialect& dialect : share_dialects()) {
    if (dialect.nodes.registered.empty() || out.dialect != nullptr) continue;
    json::JsonValue value, cordon;
    std::string_view text, cordoned;
    if (!in.take(annotations, dialect.nodes.registered, value) ||
        (!value && &dialect == &hami_dialect() && !in.take(annotations, kOldRegister, value)) ||
        !in.take(annotations, kCordon, cordon) || !in.text(value, text) || !in.text(cordon, cordoned)) {
      return false;
    }
    if (text.empty()) continue;
    out.dialect = &dialect;
    auto cards = read_registered(text, dialect.nodes.list);
    if (!cards) {
      in.remarks.add("the annotation " + std::string(dialect.nodes.registered) +
                         " lists no cards that can be read: the node counts as one without cards",
                     object);
      continue;
    }
    out.cards = *std::move(cards);
    while (!cordoned.empty()) {
      const auto card = std::ranges::find(out.cards, next_part(cordoned, ","), &NodeCard::id);
      if (card != out.cards.end()) card->is_usable = false;
    }
  }
  return true;
}

// A node that reports pieces of cards and lists no cards: as many as a label says.
bool read_labelled(KubernetesReading& in, const KubernetesObject& object, json::JsonValue allocatable, NodeCards& out) {
  for (const ShareDialect& dialect : share_dialects()) {
    json::JsonValue pieces, labels, label, plain;
    std::int64_t count = 0, slots = 0;
    if (!dialect.is_by_container || dialect.marker != dialect.resources.count) continue;
    if (!in.take(allocatable, dialect.marker, pieces) || !in.take(allocatable, "nvidia.com/gpu", plain)) return false;
    if (!pieces || plain) continue;
    if (!in.take(object.metadata, "labels", labels) || !in.take(labels, "nvidia.com/gpu.count", label) ||
        (label && !in.digits(label, count)) || !in.read_amount(pieces, {QuantityUnit::kOne, Rounding::kDown}, slots)) {
      return false;
    }
    if (count > kMostCards) return in.fail_value(label, "is too large for a number of cards");
    out.dialect = &dialect;
    for (std::int64_t i = 0; i < count; ++i) out.cards.push_back({std::to_string(i), 0, slots / count, {}, true});
    return true;
  }
  return true;
}

}  // namespace

std::int64_t NodeCards::usable() const { return std::ranges::count(cards, true, &NodeCard::is_usable); }

void NodeCards::leave_out_below(std::int64_t memory) {
  for (NodeCard& card : cards) card.is_usable = card.is_usable && card.memory >= memory;
  std::ranges::stable_partition(cards, [](const NodeCard& card) { return card.is_usable; });
}

std::int64_t NodeCards::memory() const {
  std::int64_t least = 0, most = 0;
  for (const NodeCard& card : cards) {
    if (!card.is_usable) continue;
    if (least == 0 || card.memory < least) least = card.memory;
    most = std::max(most, card.memory);
  }
  return counts_largest ? most : least;
}

std::int64_t NodeCards::slots() const {
  std::int64_t sum = 0;
  for (const NodeCard& card : cards) sum += card.is_usable ? card.slots : 0;
  return sum;
}

bool NodeCards::has_equal_cards() const {
  return std::ranges::all_of(cards, [this](const NodeCard& card) {
    return !card.is_usable || (card.memory == cards.front().memory && card.slots == cards.front().slots);
  });
}

bool KoordinatorDevices::import(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 5> kKeys = {"health", "id", "minor", "resources", "type"};
  json::JsonValue list;
  bool has_any = false;
  if (!in.take(object.spec, "devices", list) || !in.has_elements(list, has_any)) return false;
  std::vector<NodeCard> cards;
  if (has_any) {
    for (const json::JsonValue device : list.elements()) {
      std::array<json::JsonValue, 5> found;
      json::JsonValue memory;
      std::string_view type;
      std::optional<std::int32_t> minor;
      NodeCard card;
      card.is_usable = false;
      if (!in.expect(device, json::JsonKind::kObject) || !in.take(device, kKeys, found) || !in.text(found[4], type) ||
          !in.flag(found[0], card.is_usable) || !in.count(found[2], minor) ||
          !in.take(found[3], "koordinator.sh/gpu-memory", memory)) {
        return false;
      }
      if (type != "gpu") continue;
      if (memory && !in.read_amount(memory, {QuantityUnit::kOne, Rounding::kDown}, card.memory)) return false;
      card.memory /= kBytesOfMib;
      card.id = std::to_string(minor.value_or(0));
      cards.push_back(std::move(card));
    }
  }
  cards_[object.name] = std::move(cards);
  return true;
}

const std::vector<NodeCard>* KoordinatorDevices::cards_of(std::string_view node) const {
  const auto found = cards_.find(node);
  return found == cards_.end() || found->second.empty() ? nullptr : &found->second;
}

bool read_node_cards(KubernetesReading& in, const KubernetesObject& object, json::JsonValue allocatable,
                     const KoordinatorDevices& devices, NodeCards& out) {
  json::JsonValue annotations, labels, policy;
  std::string_view partitions;
  if (!in.take(object.metadata, "annotations", annotations) || !read_annotated(in, object, annotations, out))
    return false;
  for (const ShareDialect& dialect : share_dialects()) {
    if (out.dialect != nullptr || dialect.nodes.cards.empty()) continue;
    if (!read_totals(in, allocatable, dialect, out)) return false;
    if (out.dialect == nullptr || dialect.place != CardPlace::kKoordinator) continue;
    if (!in.take(object.metadata, "labels", labels) ||
        !in.take(labels, "node.koordinator.sh/gpu-partition-policy", policy) || !in.text(policy, partitions)) {
      return false;
    }
    out.is_partitioned = partitions == "Honor";
    if (const auto* cards = devices.cards_of(object.name)) out.cards = *cards;
  }
  if (out.dialect == nullptr && !read_labelled(in, object, allocatable, out)) return false;
  if (out.dialect != nullptr) {
    json::JsonValue gpus;
    if (!in.take(allocatable, "nvidia.com/gpu", gpus)) return false;
    out.reports_gpus = static_cast<bool>(gpus);
  }
  std::ranges::stable_partition(out.cards, &NodeCard::is_usable);
  return true;
}

}  // namespace muster::kubernetes
