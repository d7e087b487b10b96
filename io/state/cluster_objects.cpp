#include "io/state/cluster_objects.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "io/kubernetes/object/instants.h"
#include "io/kubernetes/object/slim.h"
#include "model/base/require.h"

namespace muster::state {
namespace {

using kubernetes::KubernetesReading;

std::string api_version_of(const kubernetes::KubernetesObject& object) {
  if (object.group.empty()) return std::string(object.version);
  return std::string(object.group).append("/").append(object.version);
}

std::optional<Nanoseconds> latest_instant_of(const kubernetes::KubernetesObject& object) {
  kubernetes::LatestInstant latest;
  latest.note(object);
  if (latest.text().empty()) return std::nullopt;
  return *parse_instant(latest.text());
}

KubernetesReading reading_of(const kubernetes::KubernetesOptions& options) {
  KubernetesReading reading;
  kubernetes::configure(options, reading);
  return reading;
}

}  // namespace

// An object that is to be removed, as the delta names it.
struct ClusterObjects::Removal {
  kubernetes::KubernetesObject object;
  bool has_group = false;

  // Whether the import reads some version of it.
  bool is_read() const {
    return std::ranges::any_of(kubernetes::readable_kinds(), [this](const kubernetes::KnownKind& known) {
      return known.kind == object.kind && (!has_group || known.group == object.group);
    });
  }
  std::string key_in(std::string_view group) const {
    std::string_view space = object.namespace_name;
    for (const kubernetes::KnownKind& known : kubernetes::readable_kinds()) {
      if (known.kind != object.kind || known.group != group) continue;
      if (!known.has_namespace) space = {};
      if (known.has_namespace && space.empty()) space = "default";
    }
    return kubernetes::object_key(space, object.name);
  }
};

std::optional<InputError> ClusterObjects::set_whole(std::string_view text, json::JsonLimits limits) {
  MUSTER_REQUIRE(next_place_ == 0);
  kubernetes::SlimDocument document;
  if (auto error = document.parse(text, limits, kubernetes::Instants::kAll)) return error;
  KubernetesReading reading = reading_of(*keeper_.options());
  std::vector<kubernetes::FoundObject> found;
  if (!kubernetes::find_objects(reading, document.root(), kubernetes::DeletedEvents::kApply, found))
    return std::move(reading.error);
  for (const kubernetes::FoundObject& one : found) put(one);
  return std::nullopt;
}

std::optional<InputError> ClusterObjects::change(json::JsonValue set, json::JsonValue remove) {
  KubernetesReading reading = reading_of(*keeper_.options());
  std::vector<kubernetes::FoundObject> found;
  if (set && !kubernetes::find_objects(reading, set, kubernetes::DeletedEvents::kRefuse, found))
    return std::move(reading.error);
  std::set<Place> removed;
  if (remove) {
    if (!reading.expect(remove, json::JsonKind::kArray)) return std::move(reading.error);
    for (const json::JsonValue element : remove.elements())
      if (!find_removed(reading, element, removed)) return std::move(reading.error);
  }
  for (const Place& place : removed) place.kind->objects.remove(place.key);
  for (const kubernetes::FoundObject& one : found) put(one);
  return std::nullopt;
}

bool ClusterObjects::find_removed(KubernetesReading& in, json::JsonValue element, std::set<Place>& out) {
  Removal removal;
  kubernetes::KubernetesObject& object = removal.object;
  std::array<json::JsonValue, 3> found;
  std::array<json::JsonValue, 2> names;
  std::string_view api_version;
  static constexpr std::array<std::string_view, 3> kKeys = {"apiVersion", "kind", "metadata"};
  static constexpr std::array<std::string_view, 2> kNames = {"name", "namespace"};
  if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found)) return false;
  if (!found[1]) return in.fail_missing(element, "kind");
  if (!found[2]) return in.fail_missing(element, "metadata");
  if (!in.text(found[0], api_version) || !in.text(found[1], object.kind) || !in.take(found[2], kNames, names))
    return false;
  if (!names[0]) return in.fail_missing(found[2], "name");
  if (!in.text(names[0], object.name) || !in.text(names[1], object.namespace_name)) return false;
  removal.has_group = !api_version.empty();
  kubernetes::split_api_version(api_version, object);

  std::vector<Place> places = places_of(removal);
  std::erase_if(places, [&](const Place& place) { return out.contains(place); });
  if (places.size() > 1) return in.fail_value(element, "several objects are a " + object.title() + "; set apiVersion");
  if (places.empty() && removal.is_read())
    return in.fail(element, ErrorCode::kUnknownName, "there is no " + object.title());
  std::ranges::move(places, std::inserter(out, out.end()));
  return true;
}

std::vector<ClusterObjects::Place> ClusterObjects::places_of(const Removal& removal) {
  std::vector<Place> places;
  const auto [first, last] = kinds_.equal_range(removal.object.kind);
  for (auto at = first; at != last; ++at) {
    Kind& kind = at->second;
    if (removal.has_group && kind.group != removal.object.group) continue;
    std::string key = removal.key_in(kind.group);
    if (kind.objects.find(key) != nullptr) places.push_back({&kind, std::move(key)});
  }
  return places;
}

void ClusterObjects::put(const kubernetes::FoundObject& found) {
  const kubernetes::KubernetesObject& object = found.object;
  const auto [first, last] = kinds_.equal_range(object.kind);
  auto kind = std::find_if(first, last, [&](const auto& named) { return named.second.group == object.group; });
  if (kind == last) kind = kinds_.emplace(std::string(object.kind), Kind{std::string(object.group), {}});
  const json::JsonBuilder& slim = keeper_.slim(object.value, api_version_of(object), object.kind);
  kind->second.objects.put(keeper_, kubernetes::object_key(object.namespace_name, object.name), slim, [&](Held& held) {
    if (held.place == 0) held.place = ++next_place_;
    held.latest = latest_instant_of(object);
  });
}

kubernetes::KeptObjects ClusterObjects::kept() const {
  std::vector<const Held*> all;
  for (const auto& [name, kind] : kinds_)
    for (const auto& [key, held] : kind.objects.all()) all.push_back(&held);
  std::ranges::sort(all, {}, &Held::place);
  kubernetes::KeptObjects out;
  out.reserve(all.size());
  for (const Held* held : all) out.push_back(held->kept);
  return out;
}

kubernetes::KubernetesOptions ClusterObjects::at_their_time(kubernetes::KubernetesOptions options) const {
  if (options.time) return options;
  std::optional<Nanoseconds> latest = options.not_before;
  for (const auto& [name, kind] : kinds_)
    for (const auto& [key, held] : kind.objects.all()) latest = std::max(latest, held.latest);  // none is the least
  options.time = latest.value_or(0);
  return options;
}

}  // namespace muster::state
