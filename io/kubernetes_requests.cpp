#include "io/kubernetes_requests.h"

#include <algorithm>
#include <utility>

namespace muster {

namespace {

constexpr Billionths kUnit = 1'000'000'000;
constexpr Billionths kMost = Billionths{std::numeric_limits<std::int64_t>::max()} * kUnit;

Billionths& amount_of(RequestedAmounts& amounts, std::string_view resource) {
  const auto known = std::ranges::find(amounts, resource, &RequestedAmount::resource);
  return known == amounts.end() ? amounts.emplace_back(RequestedAmount{resource, 0}).amount : known->amount;
}

bool has(const RequestedAmounts& amounts, std::string_view resource) {
  return std::ranges::find(amounts, resource, &RequestedAmount::resource) != amounts.end();
}

// Sums stay below 2^63 units, so that no further sum of two overflows.
void add_to(RequestedAmounts& sums, const RequestedAmounts& more) {
  for (const auto& [resource, amount] : more) {
    Billionths& sum = amount_of(sums, resource);
    sum = std::min(kMost + kUnit, sum + amount);
  }
}

void raise_to(RequestedAmounts& amounts, const RequestedAmounts& least) {
  for (const auto& [resource, amount] : least) {
    Billionths& now = amount_of(amounts, resource);
    now = std::max(now, amount);
  }
}

// Parts below a billionth are rounded up; above 2^33 units, what is not whole.
bool read_amount(KubernetesReading& reading, JsonValue value, Billionths& out) {
  Quantity quantity;
  if (!reading.read_quantity(value, quantity)) return false;
  if (const auto exact = count_units(quantity, QuantityUnit::kBillionth, Rounding::kUp)) {
    out = *exact;
    return true;
  }
  const auto whole = count_units(quantity, QuantityUnit::kOne, Rounding::kUp);
  if (!whole) return reading.fail_value(value, whole.error().message);
  out = Billionths{*whole} * kUnit;
  return true;
}

bool read_list(KubernetesReading& reading, JsonValue object, RequestedAmounts& out) {
  if (!object) return true;
  if (!reading.expect(object, JsonKind::kObject)) return false;
  for (const JsonMember member : object.members()) {
    if (member.value.is(JsonKind::kNull)) continue;
    if (has(out, member.key)) return reading.fail_duplicate(member.value, member.key);
    out.push_back({member.key, 0});
    if (!read_amount(reading, member.value, out.back().amount)) return false;
  }
  return true;
}

struct ResourceLists {
  RequestedAmounts requests, limits;
};

bool read_lists(KubernetesReading& reading, JsonValue resources, ResourceLists& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"limits", "requests"};
  std::array<JsonValue, 2> found;
  return reading.take(resources, kKeys, found) && read_list(reading, found[0], out.limits) &&
         read_list(reading, found[1], out.requests);
}

struct Container {
  RequestedAmounts requests;
  bool is_restartable = false;
};

bool read_container(KubernetesReading& reading, JsonValue object, Container& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"resources", "restartPolicy"};
  std::array<JsonValue, 2> found;
  if (!reading.expect(object, JsonKind::kObject)) return false;
  std::string_view restart;
  ResourceLists lists;
  if (!reading.take(object, kKeys, found) || !reading.text(found[1], restart) ||
      !read_lists(reading, found[0], lists)) {
    return false;
  }
  out.is_restartable = restart == "Always";
  out.requests = std::move(lists.requests);
  for (const auto& [resource, amount] : lists.limits) {
    if (!has(out.requests, resource)) out.requests.push_back({resource, amount});
  }
  return true;
}

// In their order: one that is not restartable runs beside the restartable ones that were started before it.
bool read_init_containers(KubernetesReading& reading, JsonValue list, RequestedAmounts& sums) {
  RequestedAmounts restartable, most;
  for (const JsonValue element : list.elements()) {
    Container container;
    if (!read_container(reading, element, container)) return false;
    if (container.is_restartable) {
      add_to(sums, container.requests);
      add_to(restartable, container.requests);
      raise_to(most, restartable);
    } else {
      add_to(container.requests, restartable);
      raise_to(most, container.requests);
    }
  }
  raise_to(sums, most);
  return true;
}

bool counts_for_whole_pod(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

bool apply_whole_pod(KubernetesReading& reading, JsonValue resources, RequestedAmounts& sums) {
  ResourceLists lists;
  if (!read_lists(reading, resources, lists)) return false;
  for (const auto& [resource, amount] : lists.limits) {
    if (counts_for_whole_pod(resource) && !has(sums, resource)) sums.push_back({resource, amount});
  }
  for (const auto& [resource, amount] : lists.requests) {
    if (counts_for_whole_pod(resource)) amount_of(sums, resource) = amount;
  }
  return true;
}

}  // namespace

bool sum_requests(KubernetesReading& reading, const RequestParts& parts, RequestedAmounts& out) {
  if (parts.containers) {
    if (!reading.expect(parts.containers, JsonKind::kArray)) return false;
    for (const JsonValue element : parts.containers.elements()) {
      Container container;
      if (!read_container(reading, element, container)) return false;
      add_to(out, container.requests);
    }
  }
  if (parts.init_containers) {
    if (!reading.expect(parts.init_containers, JsonKind::kArray)) return false;
    if (!read_init_containers(reading, parts.init_containers, out)) return false;
  }
  if (parts.resources && !apply_whole_pod(reading, parts.resources, out)) return false;
  RequestedAmounts overhead;
  if (!read_list(reading, parts.overhead, overhead)) return false;
  add_to(out, overhead);
  return true;
}

std::int64_t whole_units(const RequestedAmount& requested) {
  const Billionths unit = requested.resource == "cpu" ? kUnit / 1000 : kUnit;
  const Billionths units = (requested.amount + unit - 1) / unit;
  return units > std::numeric_limits<std::int64_t>::max() ? -1 : static_cast<std::int64_t>(units);
}

Billionths remove_resource(RequestedAmounts& amounts, std::string_view resource) {
  const auto found = std::ranges::find(amounts, resource, &RequestedAmount::resource);
  if (found == amounts.end()) return 0;
  const Billionths amount = found->amount;
  amounts.erase(found);
  return amount;
}

void write_requests(JsonWriter& writer, const RequestedAmounts& amounts) {
  bool first = true;
  writer.raw("{");
  for (const RequestedAmount& requested : amounts) {
    const std::int64_t units = whole_units(requested);
    if (units == 0) continue;
    writer.separate(first).string(requested.resource).raw(":");
    if (requested.resource != "cpu") {
      writer.integer(units);
    } else if (units % 1000 == 0) {
      writer.integer(units / 1000);
    } else {
      writer.raw("\"").integer(units).raw("m\"");
    }
  }
  writer.raw("}");
}

}  // namespace muster
