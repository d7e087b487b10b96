#include "io/kubernetes/pod/card_share.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "io/kubernetes/pod/gang_terms.h"

namespace muster::kubernetes {

namespace {

constexpr Billionths kOneUnit = 1'000'000'000;
constexpr std::int64_t kMostOfCard = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kFull = 100;  // percent

Billionths requested_of(const RequestedAmounts& amounts, std::string_view resource) {
  const auto found = std::ranges::find(amounts, resource, &RequestedAmount::resource);
  return resource.empty() || found == amounts.end() ? 0 : found->amount;
}

// Whole units of `unit` bytes as MiB, rounded up; unit 0: as they are.
std::int64_t in_mib(Billionths amount, std::int64_t unit) {
  const Billionths units = (amount + kOneUnit - 1) / kOneUnit;
  return static_cast<std::int64_t>(unit == 0 ? units : (units * unit + kBytesOfMib - 1) / kBytesOfMib);
}

// What one container asks for, or the pod as a whole.
struct Asked {
  std::int64_t cards = 0, memory = 0, percent = 0, cores = 0;
  bool is_any() const { return cards > 0 || memory > 0 || percent > 0 || cores > 0; }
  bool is_whole() const { return CardShare{nullptr, cards, memory, percent, cores, {}}.is_whole(); }
  bool is_within(const Asked& other) const {
    return other.is_whole() ? cards <= other.cards
                            : !is_whole() && cards <= other.cards && memory <= other.memory &&
                                  percent <= other.percent && cores <= other.cores;
  }
};

bool read_asked(KubernetesReading& in, json::JsonValue culprit, const ShareDialect& dialect,
                const RequestedAmounts& amounts, Asked& out) {
  const auto& names = dialect.resources;
  const Billionths both = requested_of(amounts, names.both);
  const std::array<Billionths, 4> found = {requested_of(amounts, names.count), requested_of(amounts, names.memory),
                                           both + requested_of(amounts, names.percent),
                                           both + requested_of(amounts, names.cores)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Billionths most =
        i == 1 && names.memory_unit == 1 ? Billionths{kMostOfCard} * kBytesOfMib : Billionths{kMostOfCard};
    if (found[i] % kOneUnit != 0 || found[i] / kOneUnit > most) {
      return in.fail_value(
          culprit, "a resource of shared GPUs (" + std::string(dialect.name) + ") is not a whole number, or too large");
    }
  }
  out.cards = static_cast<std::int64_t>(found[0] / kOneUnit);
  out.memory = in_mib(found[1], names.memory_unit);
  out.percent = static_cast<std::int64_t>(found[2] / kOneUnit);
  out.cores = static_cast<std::int64_t>(found[3] / kOneUnit);
  return true;
}

// Of the pod as a whole: a percentage above 100 is that of several cards, and a number of cards divides all of it.
void divide(Asked& asked, std::string_view& held) {
  const bool is_given = asked.cards > 0;
  const std::int64_t largest = std::max(asked.percent, asked.cores);
  if (!is_given) asked.cards = largest > kFull ? (asked.percent > 0 ? asked.percent : asked.cores) / kFull : 1;
  asked.cards = std::max<std::int64_t>(1, asked.cards);
  const bool is_even = asked.percent % asked.cards == 0 && asked.cores % asked.cards == 0;
  if (!is_even || (!is_given && largest > kFull && (asked.percent % kFull != 0 || asked.cores % kFull != 0)))
    keep_first_reason(held, "the pod requests parts of GPUs that are not the same of each, which Muster does not plan");
  asked.percent = (asked.percent + asked.cards - 1) / asked.cards;
  asked.cores = (asked.cores + asked.cards - 1) / asked.cards;
  asked.memory = (asked.memory + asked.cards - 1) / asked.cards;
}

// The shares of several containers are on any cards, together or not; whole cards are all different.
void join_asked(const Asked& more, Asked& sum, std::string_view& held) {
  if (!sum.is_any()) {
    sum = more;
  } else if (sum.is_whole() && more.is_whole()) {
    sum.cards += more.cards;
  } else {
    keep_first_reason(held, "the pod requests virtual GPUs of several sizes, which Muster does not plan");
    sum.cards = std::max(sum.cards, more.cards);
    sum.memory += more.memory;
    sum.percent += more.percent;
    sum.cores += more.cores;
  }
}

bool read_containers(KubernetesReading& in, json::JsonValue list, const ShareDialect& dialect,
                     std::vector<Asked>& out) {
  std::vector<RequestedAmounts> containers;
  if (!read_container_requests(in, list, containers)) return false;
  for (const RequestedAmounts& amounts : containers) {
    Asked asked;
    if (!read_asked(in, list, dialect, amounts, asked)) return false;
    if (!asked.is_any()) continue;
    asked.cards = std::max<std::int64_t>(1, asked.cards);
    if (asked.memory > 0) asked.percent = 0;  // as HAMi and Volcano do
    if (asked.memory == 0 && asked.percent == 0) asked.percent = kFull;
    out.push_back(asked);
  }
  return true;
}

bool read_by_container(KubernetesReading& in, const PodParts& parts, const ShareDialect& dialect, Asked& out,
                       std::string_view& held) {
  std::vector<Asked> containers, init_containers;
  if (!read_containers(in, parts.spec[PodParts::kContainers], dialect, containers) ||
      !read_containers(in, parts.spec[PodParts::kInitContainers], dialect, init_containers)) {
    return false;
  }
  for (const Asked& container : containers) join_asked(container, out, held);
  for (const Asked& container : init_containers) {
    if (!container.is_within(out))
      keep_first_reason(held, "an init container requests more of a GPU than the others, which Muster does not plan");
  }
  return true;
}

const ShareDialect* find_dialect(const PodParts& parts, const RequestedAmounts& requests, std::string_view& held) {
  const ShareDialect* found = nullptr;
  for (const RequestedAmount& requested : requests) {
    const ShareDialect* dialect = dialect_of_resource(requested.resource);
    if (dialect == nullptr || dialect == found) continue;
    if (found != nullptr)
      keep_first_reason(held, "the pod requests GPUs in the words of several systems, which Muster does not plan");
    found = dialect;
  }
  if (found != nullptr) return found;
  const json::JsonValue scheduler = parts.spec[PodParts::kSchedulerName];
  const bool is_hami = scheduler && scheduler.is(json::JsonKind::kString) && scheduler.string() == kHamiScheduler &&
                       requested_of(requests, hami_dialect().resources.count) > 0;
  return is_hami ? &hami_dialect() : nullptr;
}

bool read_restrictions(KubernetesReading& in, const PodParts& parts, const ShareDialect& dialect,
                       std::string_view& held) {
  for (const CardRestriction& restriction : dialect.restrictions) {
    json::JsonValue value;
    std::string_view text;
    if (!in.take(parts.all_annotations, restriction.annotation, value) || !in.text(value, text)) return false;
    const bool is_spread = restriction.harmless == "binpack" && text == "spread";
    if (!text.empty() && text != restriction.harmless && !is_spread) keep_first_reason(held, restriction.held);
  }
  return true;
}

}  // namespace

bool read_card_share(KubernetesReading& in, const PodParts& parts, RequestedAmounts& requests, CardShare& share,
                     std::string_view& held) {
  const ShareDialect* dialect = find_dialect(parts, requests, held);
  if (dialect == nullptr) return true;
  Asked asked;
  if (dialect->is_by_container) {
    if (!read_by_container(in, parts, *dialect, asked, held)) return false;
  } else {
    if (!read_asked(in, parts.spec[PodParts::kContainers], *dialect, requests, asked)) return false;
    divide(asked, held);
  }
  if (!asked.is_any()) return true;
  share = {dialect, std::max<std::int64_t>(1, asked.cards), asked.memory, asked.percent, asked.cores, {}};
  if (!dialect->keeps_resources) {
    const auto& names = dialect->resources;
    for (const std::string_view name : {names.count, names.memory, names.percent, names.cores})
      if (!name.empty()) static_cast<void>(remove_resource(requests, name));
  }
  if (!dialect->marker.empty()) add_count(requests, dialect->marker, share.cards);
  json::JsonValue placed;
  return in.take(parts.all_annotations, dialect->placed, placed) && in.text(placed, share.placed) &&
         read_restrictions(in, parts, *dialect, held);
}

}  // namespace muster::kubernetes
