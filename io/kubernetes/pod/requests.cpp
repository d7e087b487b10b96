#include "io/kubernetes/pod/requests.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {

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

// Parts below a billionth are rounded up; above 2^33 units, all fractions are.
bool read_amount(KubernetesReading& reading, json::JsonValue value, Billionths& out) {
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

bool read_amounts(KubernetesReading& reading, json::JsonValue object, RequestedAmounts& out) {
  if (!object) return true;
  if (!reading.expect(object, json::JsonKind::kObject)) return false;
  for (const json::JsonMember member : object.members()) {
    if (member.value.is(json::JsonKind::kNull)) continue;
    if (has(out, member.key)) return reading.fail_duplicate(member.value, member.key);
    out.push_back({member.key, 0});
    if (!read_amount(reading, member.value, out.back().amount)) return false;
  }
  return true;
}

struct ResourceLists {
  RequestedAmounts requests, limits;
};

bool read_lists(KubernetesReading& reading, json::JsonValue resources, ResourceLists& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"limits", "requests"};
  std::array<json::JsonValue, 2> found;
  return reading.take(resources, kKeys, found) && read_amounts(reading, found[0], out.limits) &&
         read_amounts(reading, found[1], out.requests);
}

struct Container {
  RequestedAmounts requests;
  bool is_restartable = false;
};

// The allocation of a container, or of the pod as a whole: `allocatedResources` and `resources.requests` of its status.
struct Given {
  std::string_view name;
  RequestedAmounts allocated, actual;
  bool is_told() const { return !allocated.empty() || !actual.empty(); }
};

// The resize of a pod as its status reports it.
struct ResizeStatus {
  std::vector<Given> containers;
  Given pod;
  bool is_infeasible = false;

  const Given* of(std::string_view container) const {
    const auto known = std::ranges::find(containers, container, &Given::name);
    return known == containers.end() ? nullptr : &*known;
  }
};

bool read_given(KubernetesReading& reading, json::JsonValue status, Given& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"allocatedResources", "name", "resources"};
  std::array<json::JsonValue, 3> found;
  ResourceLists actual;
  if (!reading.expect(status, json::JsonKind::kObject) || !reading.take(status, kKeys, found) ||
      !read_amounts(reading, found[0], out.allocated) || !reading.text(found[1], out.name) ||
      !read_lists(reading, found[2], actual)) {
    return false;
  }
  out.actual = std::move(actual.requests);
  return true;
}

bool read_given_of_containers(KubernetesReading& reading, json::JsonValue list, std::vector<Given>& out) {
  bool has_any = false;
  if (!reading.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    Given given;
    if (!read_given(reading, element, given)) return false;
    if (given.is_told()) out.push_back(std::move(given));
  }
  return true;
}

bool read_infeasible(KubernetesReading& reading, json::JsonValue conditions, bool& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"reason", "type"};
  bool has_any = false;
  if (!reading.has_elements(conditions, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : conditions.elements()) {
    std::array<json::JsonValue, 2> found;
    std::string_view reason, type;
    if (!reading.expect(element, json::JsonKind::kObject) || !reading.take(element, kKeys, found) ||
        !reading.text(found[1], type)) {
      return false;
    }
    if (type != "PodResizePending") continue;
    if (!reading.text(found[0], reason)) return false;
    out = reason == "Infeasible";
  }
  return true;
}

bool read_resize(KubernetesReading& reading, json::JsonValue status, ResizeStatus& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"conditions", "containerStatuses", "initContainerStatuses"};
  std::array<json::JsonValue, 3> found;
  if (!status) return true;
  return reading.take(status, kKeys, found) && read_infeasible(reading, found[0], out.is_infeasible) &&
         read_given_of_containers(reading, found[1], out.containers) &&
         read_given_of_containers(reading, found[2], out.containers) && read_given(reading, status, out.pod);
}

bool can_be_resized(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

// The largest of what is asked for and what is given.
void apply_given(const ResizeStatus& resize, const Given& given, RequestedAmounts& requests) {
  if (resize.is_infeasible) {
    std::erase_if(requests, [&](const RequestedAmount& asked) {
      const bool is_given = has(given.allocated, asked.resource) || has(given.actual, asked.resource);
      return is_given && can_be_resized(asked.resource);
    });
  }
  raise_to(requests, given.allocated);
  raise_to(requests, given.actual);
}

bool read_container(KubernetesReading& reading, json::JsonValue object, const ResizeStatus& resize, Container& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"name", "resources", "restartPolicy"};
  std::array<json::JsonValue, 3> found;
  if (!reading.expect(object, json::JsonKind::kObject)) return false;
  std::string_view name, restart;
  ResourceLists lists;
  if (!reading.take(object, kKeys, found) || !reading.text(found[0], name) || !reading.text(found[2], restart) ||
      !read_lists(reading, found[1], lists)) {
    return false;
  }
  out.is_restartable = restart == "Always";
  out.requests = std::move(lists.requests);
  for (const auto& [resource, amount] : lists.limits) {
    if (!has(out.requests, resource)) out.requests.push_back({resource, amount});
  }
  if (const Given* given = resize.of(name)) apply_given(resize, *given, out.requests);
  return true;
}

// In their order: one that is not restartable runs next to the restartable ones that were started before it.
bool read_init_containers(KubernetesReading& reading, json::JsonValue list, const ResizeStatus& resize,
                          RequestedAmounts& sums) {
  RequestedAmounts restartable, most;
  for (const json::JsonValue element : list.elements()) {
    Container container;
    if (!read_container(reading, element, resize, container)) return false;
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

bool apply_whole_pod(KubernetesReading& reading, json::JsonValue resources, const ResizeStatus& resize,
                     RequestedAmounts& sums) {
  ResourceLists lists;
  if (!read_lists(reading, resources, lists)) return false;
  if (!lists.requests.empty()) apply_given(resize, resize.pod, lists.requests);
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
  ResizeStatus resize;
  if (!read_resize(reading, parts.status, resize)) return false;
  if (parts.containers) {
    if (!reading.expect(parts.containers, json::JsonKind::kArray)) return false;
    for (const json::JsonValue element : parts.containers.elements()) {
      Container container;
      if (!read_container(reading, element, resize, container)) return false;
      add_to(out, container.requests);
    }
  }
  if (parts.init_containers) {
    if (!reading.expect(parts.init_containers, json::JsonKind::kArray)) return false;
    if (!read_init_containers(reading, parts.init_containers, resize, out)) return false;
  }
  if (parts.resources && !apply_whole_pod(reading, parts.resources, resize, out)) return false;
  RequestedAmounts overhead;
  if (!read_amounts(reading, parts.overhead, overhead)) return false;
  add_to(out, overhead);
  return true;
}

bool read_container_requests(KubernetesReading& reading, json::JsonValue containers,
                             std::vector<RequestedAmounts>& out) {
  bool has_any = false;
  if (!reading.has_elements(containers, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : containers.elements()) {
    Container container;
    if (!read_container(reading, element, {}, container)) return false;
    out.push_back(std::move(container.requests));
  }
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

void add_count(RequestedAmounts& amounts, std::string_view resource, std::int64_t count) {
  if (count > 0) amounts.push_back({resource, count * kUnit});
}

}  // namespace muster::kubernetes
