#include "io/api_server/object_store.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "io/kubernetes/import/named_objects.h"
#include "model/base/require.h"

namespace muster::api_server {

namespace {

// What identifies an object, and its version.
struct Identity {
  std::string_view namespace_name, name, uid, resource_version;
};

std::optional<Identity> read_identity(json::JsonValue object) {
  if (!object.is(json::JsonKind::kObject)) return std::nullopt;
  for (const json::JsonMember member : object.members()) {
    if (member.key != "metadata" || !member.value.is(json::JsonKind::kObject)) continue;
    Identity identity;
    for (const json::JsonMember part : member.value.members()) {
      if (!part.value.is(json::JsonKind::kString)) continue;
      const std::string_view text = part.value.string();
      if (part.key == "name") identity.name = text;
      if (part.key == "namespace") identity.namespace_name = text;
      if (part.key == "uid") identity.uid = text;
      if (part.key == "resourceVersion") identity.resource_version = text;
    }
    if (identity.name.empty()) return std::nullopt;
    return identity;
  }
  return std::nullopt;
}

}  // namespace

struct ObjectStore::Implementation {
  class Kind;

  explicit Implementation(kubernetes::SharedOptions options) : keeper(std::move(options)) {}

  void changed(bool matters) {
    if (matters) ++revision;
    if (on_change) on_change();
  }
  bool is_complete() const;

  Clock clock;
  kubernetes::ObjectKeeper keeper;
  std::map<const kubernetes::KnownKind*, std::unique_ptr<Kind>> kinds;  // of one array: in the order of known_kinds()
  std::uint64_t revision = 0;
  std::function<void()> on_change;
};

class ObjectStore::Implementation::Kind final : public KindSink {
 public:
  Kind(Implementation& store, const ServedKind& kind) : store_(store), api_version_(kind.api_version()) {
    report_.kind = kind;
  }

  void list_begins() override {
    is_listing_ = true;
    ++list_;
  }

  void list_ends(std::string_view resource_version) override {
    is_listing_ = false;
    report_.is_listed = true;
    const bool matters = objects_.remove_if([this](const Entry& entry) { return entry.list != list_; });
    reached(resource_version);
    store_.changed(matters);
  }

  bool set(json::JsonValue object) override {
    const std::optional<Identity> identity = read_identity(object);
    if (!identity) return false;
    note_event();
    kubernetes::ObjectKeeper& keeper = store_.keeper;
    const json::JsonBuilder& slim = keeper.slim(object, api_version_, report_.kind.known->kind);
    const auto note = [&](Entry& entry) {
      entry.list = list_;
      entry.uid = identity->uid;
      entry.resource_version = identity->resource_version;
    };
    if (!objects_.put(keeper, kubernetes::object_key(identity->namespace_name, identity->name), slim, note))
      return true;
    ++report_.changes;
    store_.changed(true);
    return true;
  }

  bool remove(json::JsonValue object) override {
    const std::optional<Identity> identity = read_identity(object);
    if (!identity) return false;
    note_event();
    if (!objects_.remove(kubernetes::object_key(identity->namespace_name, identity->name))) return true;
    ++report_.changes;
    store_.changed(true);
    return true;
  }

  void reached(std::string_view resource_version) override {
    report_.resource_version = resource_version;
    report_.last_event = store_.clock();
  }

  void changed(WatchState state, const std::string& error) override {
    if (state == report_.state && error == report_.error) return;
    report_.state = state;
    report_.error = error;
    store_.changed(false);
  }

  bool is_complete() const {
    const bool is_closed = report_.state == WatchState::kForbidden || report_.state == WatchState::kGone;
    return report_.is_listed && !is_closed;
  }
  const StoredObject* find(std::string_view namespace_name, std::string_view name) const {
    return objects_.find(kubernetes::object_key(namespace_name, name));
  }
  void add_to(kubernetes::KeptObjects& out) const {
    for (const auto& [key, entry] : objects_.all()) out.push_back(entry.kept);
  }
  std::size_t bytes() const { return objects_.bytes(); }
  std::size_t size() const { return objects_.size(); }
  KindReport report() const {
    KindReport report = report_;
    report.objects = objects_.size();
    report.bytes = objects_.bytes();
    return report;
  }

 private:
  struct Entry : StoredObject {
    std::uint64_t list = 0;  // the last one that had it, or the current one when it was watched
    std::size_t bytes() const { return uid.capacity() + resource_version.capacity(); }
  };

  void note_event() {
    if (is_listing_) return;
    ++report_.events;
    report_.last_event = store_.clock();
  }

  Implementation& store_;
  std::string api_version_;
  KindReport report_;
  kubernetes::NamedObjects<Entry> objects_;
  std::uint64_t list_ = 0;
  bool is_listing_ = false;
};

bool ObjectStore::Implementation::is_complete() const {
  return !kinds.empty() && std::ranges::all_of(kinds, [](const auto& kind) { return kind.second->is_complete(); });
}

ObjectStore::ObjectStore(Clock clock, kubernetes::KubernetesOptions options)
    : implementation_(
          std::make_unique<Implementation>(std::make_shared<const kubernetes::KubernetesOptions>(std::move(options)))) {
  implementation_->clock = std::move(clock);
}
ObjectStore::~ObjectStore() = default;

KindSink& ObjectStore::add_kind(const ServedKind& kind) {
  MUSTER_REQUIRE(!implementation_->kinds.contains(kind.known));
  auto added = std::make_unique<Implementation::Kind>(*implementation_, kind);
  KindSink& sink = *added;
  implementation_->kinds.emplace(kind.known, std::move(added));
  implementation_->changed(false);
  return sink;
}

void ObjectStore::remove_kind(const kubernetes::KnownKind& known) {
  const auto found = implementation_->kinds.find(&known);
  if (found == implementation_->kinds.end()) return;
  const bool matters = found->second->size() > 0;
  implementation_->kinds.erase(found);
  implementation_->changed(matters);
}

kubernetes::KeptObjects ObjectStore::kept() const {
  kubernetes::KeptObjects out;
  out.reserve(objects());
  for (const auto& [known, kind] : implementation_->kinds) kind->add_to(out);
  return out;
}

const StoredObject* ObjectStore::find(std::string_view group, std::string_view kind, std::string_view namespace_name,
                                      std::string_view name) const {
  for (const auto& [known, objects] : implementation_->kinds) {
    if (known->group == group && known->kind == kind) return objects->find(namespace_name, name);
  }
  return nullptr;
}

bool ObjectStore::is_complete() const { return implementation_->is_complete(); }
std::uint64_t ObjectStore::revision() const { return implementation_->revision; }

std::size_t ObjectStore::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [known, kind] : implementation_->kinds) bytes += kind->bytes();
  return bytes;
}

std::size_t ObjectStore::objects() const {
  std::size_t count = 0;
  for (const auto& [known, kind] : implementation_->kinds) count += kind->size();
  return count;
}

std::vector<KindReport> ObjectStore::reports() const {
  std::vector<KindReport> reports;
  for (const auto& [known, kind] : implementation_->kinds) reports.push_back(kind->report());
  return reports;
}

void ObjectStore::on_change(std::function<void()> handler) { implementation_->on_change = std::move(handler); }

}  // namespace muster::api_server
