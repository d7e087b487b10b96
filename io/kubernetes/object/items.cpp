#include "io/kubernetes/object/items.h"

#include <algorithm>
#include <unordered_map>

#include "io/kubernetes/object/instants.h"

namespace muster::kubernetes {

namespace {

struct Identity {
  std::string_view group, kind, namespace_name, name;
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    const std::hash<std::string_view> hash;
    std::size_t sum = hash(identity.name);
    for (const std::string_view part : {identity.namespace_name, identity.kind, identity.group}) {
      sum = sum * 0x9E37'79B9'7F4A'7C15U + (part.empty() ? 0 : hash(part));
    }
    return sum;
  }
};

enum class Event : std::uint8_t { kNone, kSet, kDelete };

// What becomes of the objects of a document: an import, with warnings about them unless those are errors; or the
// objects are kept and imported later. Those that change what is kept are not deleted by events.
enum class Purpose : std::uint8_t { kImport, kKeep, kChange };

class Collector {
 public:
  Collector(KubernetesReading& reading, Purpose purpose) : in_(reading), purpose_(purpose) {}

  // Values that a list sets for items which do not set them.
  struct Defaults {
    std::string_view api_version, kind;
  };

  bool take(json::JsonValue value, const Defaults& defaults, Event event) {
    static constexpr std::array<std::string_view, 8> kKeys = {"apiVersion", "items",  "kind", "metadata",
                                                              "object",     "status", "spec", "type"};
    KubernetesObject object;
    object.value = value;
    if (!in_.expect(value, json::JsonKind::kObject)) return false;
    std::array<json::JsonValue, 8> found;
    std::string_view api_version = defaults.api_version, type;
    object.kind = defaults.kind;
    if (!in_.take(value, kKeys, found) || !in_.text(found[0], api_version) || !in_.text(found[2], object.kind)) {
      return fail(object);
    }
    if (found[4] && found[7] && !found[2]) {
      return (in_.text(found[7], type) && take_event(found[4], type)) || fail(object);
    }
    if (object.kind.ends_with("List") && (found[1] || object.kind == "List")) {
      return take_list(found[1], {api_version, object.kind.substr(0, object.kind.size() - 4)}, event);
    }
    split_api_version(api_version, object);
    object.metadata = found[3];
    object.status = found[5];
    object.spec = found[6];
    return keep(object, event) || fail(object);
  }

  // One that cannot be read is left out, unless that is an error.
  bool take_item(json::JsonValue item, const Defaults& defaults, Event event) {
    if (take(item, defaults, event)) return true;
    if (is_strict() || !in_.with_paths) return false;
    in_.warn(failed_, "it is ignored");
    is_named_ = false;
    return true;
  }

  // The objects that are left after the events.
  std::vector<FoundObject> found() && {
    std::erase_if(kept_, [](const FoundObject& one) { return one.object.kind.empty(); });
    return std::move(kept_);
  }

 private:
  // Whether an object that cannot be read is an error.
  bool is_strict() const { return in_.strict || purpose_ != Purpose::kImport; }

  // Once only, by the innermost object; by whatever of its name can be read.
  bool fail(KubernetesObject object) {
    if (object.name.empty()) {
      const json::JsonValue metadata = member_of(object.value, "metadata");
      object.name = text_of(member_of(metadata, "name"));
      object.namespace_name = text_of(member_of(metadata, "namespace"));
    }
    if (!is_named_) in_.error.message = object.title() + ": " + in_.error.message;
    if (!is_named_) failed_ = object;
    is_named_ = true;
    return false;
  }

  bool take_list(json::JsonValue items, Defaults defaults, Event event) {
    bool has_any = false;
    if (!in_.has_elements(items, has_any)) return false;
    if (!has_any) return true;
    if (defaults.kind.empty()) defaults.api_version = {};
    if (items.size() > kept_.size()) kept_.reserve(kept_.size() + items.size());
    for (const json::JsonValue item : items.elements()) {
      if (!take_item(item, defaults, event)) return false;
    }
    return true;
  }

  bool take_event(json::JsonValue object, std::string_view type) {
    if (type == "BOOKMARK") return true;
    if (type == "ADDED" || type == "MODIFIED") return take(object, {}, Event::kSet);
    if (type == "DELETED" && purpose_ == Purpose::kChange)
      return in_.fail_value(object, "a DELETED event sets nothing; put its object into \"remove\"");
    if (type == "DELETED") return take(object, {}, Event::kDelete);
    return in_.fail_value(object, "an event must be ADDED, MODIFIED, DELETED or BOOKMARK, not " + std::string(type));
  }

  bool keep(KubernetesObject& object, Event event) {
    static constexpr std::array<std::string_view, 3> kKeys = {"creationTimestamp", "name", "namespace"};
    std::array<json::JsonValue, 3> found;
    const KnownKind* meaning = find_known_kind(object.group, object.version, object.kind);
    if (object.kind.empty()) return in_.fail_missing(object.value, "kind");
    if (!in_.take(object.metadata, kKeys, found) || !in_.text(found[1], object.name)) return false;
    if (object.name.empty() && !read_generated_name(object)) return false;
    const bool has_namespace = meaning == nullptr || meaning->has_namespace;
    if (has_namespace && !in_.text(found[2], object.namespace_name)) return false;
    if (meaning != nullptr) {
      if (object.name.empty()) return in_.fail_missing(object.metadata ? object.metadata : object.value, "name");
      if (has_namespace && object.namespace_name.empty()) object.namespace_name = "default";
      if (!in_.instant(found[0], object.created)) {
        if (in_.strict) return false;
        if (purpose_ == Purpose::kImport) in_.warn(object, "Muster treats it as created now");
        in_.error = {};
      }
    }
    if (meaning == nullptr && event == Event::kNone) {
      kept_.push_back({object, meaning});
      return true;
    }
    return settle(object, meaning, event);
  }

  // A manifest for `kubectl create` leaves the end of the name to the API server.
  bool read_generated_name(KubernetesObject& object) {
    json::JsonValue prefix;
    if (!in_.take(object.metadata, "generateName", prefix) || !in_.text(prefix, object.name)) return false;
    while (object.name.ends_with('-')) object.name.remove_suffix(1);
    return true;
  }

  // An event replaces an existing object; without one, a second object is an error.
  bool settle(const KubernetesObject& object, const KnownKind* meaning, Event event) {
    const Identity identity{object.group, object.kind, object.namespace_name, object.name};
    const auto [known, is_new] = positions_.emplace(identity, kept_.size());
    if (is_new) {
      if (event == Event::kDelete) {
        positions_.erase(known);
      } else {
        kept_.push_back({object, meaning});
      }
      return true;
    }
    if (event == Event::kNone) {
      if (in_.fail(object.value, ErrorCode::kDuplicateName, "duplicate object") || is_strict()) return false;
      in_.warn(object, "Muster uses the first one");
      return true;
    }
    if (event == Event::kDelete) {
      kept_[known->second].object = {};
      positions_.erase(known);
    } else {
      kept_[known->second] = {object, meaning};
    }
    return true;
  }

  static std::string_view text_of(json::JsonValue value) {
    return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
  }

  KubernetesReading& in_;
  Purpose purpose_;
  std::vector<FoundObject> kept_;
  std::unordered_map<Identity, std::size_t, IdentityHash> positions_;
  bool is_named_ = false;
  KubernetesObject failed_;  // the innermost that cannot be read
};

// An object of a kind that is not read.
void pass_over(KubernetesReading& in, const KubernetesObject& object) {
  std::vector<known::Unread> found;
  if (!known::find_unread_kind(object.keys(), found))
    return in.remarks.add(std::string(object.kind) + " is ignored", object);
  if (!found.empty()) in.unread.add(object.kind, object.full_name(), found);
}

void sort_by_kind(KubernetesReading& in, std::vector<FoundObject> found, KubernetesItems& out) {
  for (auto& [object, known] : found) {
    if (known == nullptr) {
      pass_over(in, object);
      out.others.push_back(object);
    } else if (known->meaning != KubernetesKind::kVolcanoQueue || object.name != "root") {  // that one is no queue here
      in.look_for_unread(object);
      out.by_kind[static_cast<std::size_t>(known->meaning)].push_back(object);
    }
  }
}

}  // namespace

bool holds_kubernetes_objects(json::JsonValue root) {
  if (!root.is(json::JsonKind::kObject)) return false;
  bool has_kind = false, has_type = false, has_object = false;
  for (const json::JsonMember member : root.members()) {
    if (member.key == "format") return false;
    has_kind = has_kind || member.key == "apiVersion" || member.key == "kind";
    has_type = has_type || member.key == "type";
    has_object = has_object || member.key == "object";
  }
  return has_kind || (has_type && has_object);
}

bool collect_items(KubernetesReading& in, json::JsonValue root, KubernetesItems& out) {
  Collector collector(in, Purpose::kImport);
  if (!collector.take(root, {}, Event::kNone)) return false;
  std::vector<FoundObject> found = std::move(collector).found();
  LatestInstant latest;
  for (const FoundObject& one : found) latest.note(one.object);
  out.latest = latest.text();
  sort_by_kind(in, std::move(found), out);
  return true;
}

bool collect_item(KubernetesReading& in, json::JsonValue object, KubernetesItems& out) {
  Collector collector(in, Purpose::kImport);
  if (!collector.take_item(object, {}, Event::kNone)) return false;
  sort_by_kind(in, std::move(collector).found(), out);
  return true;
}

bool find_objects(KubernetesReading& in, json::JsonValue root, DeletedEvents deleted, std::vector<FoundObject>& out) {
  Collector collector(in, deleted == DeletedEvents::kApply ? Purpose::kKeep : Purpose::kChange);
  if (!collector.take(root, {}, Event::kNone)) return false;
  out = std::move(collector).found();
  return true;
}

std::optional<CollectedObject> collect_object(json::JsonValue object) {
  KubernetesReading reading;
  reading.with_paths = false;
  KubernetesItems items;
  if (!collect_item(reading, object, items)) return std::nullopt;
  for (std::size_t kind = 0; kind < items.by_kind.size(); ++kind) {
    if (items.by_kind[kind].empty()) continue;
    CollectedObject one{items.by_kind[kind].front(), KubernetesKind(kind)};
    one.object.hold = {};  // its texts end with the reading
    if (!reading.unread.empty()) known::find_unread(one.object.keys(), one.unread);
    return one;
  }
  return std::nullopt;
}

}  // namespace muster::kubernetes
