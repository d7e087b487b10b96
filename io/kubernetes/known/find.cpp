#include "io/kubernetes/known/find.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>

#include "io/json/json_writer.h"
#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::size_t kMostValue = 80;           // bytes of a value that is shown
constexpr std::string_view kCoreGroup = "core";  // in a table; its name in objects is empty

// Calls `take` with each word of a list whose words have `separator` between them.
template <class Take>
void each_word(std::string_view words, char separator, Take take) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(separator), words.size());
    if (end > 0) take(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

bool has_word(std::string_view words, std::string_view wanted, char separator) {
  bool has = false;
  each_word(words, separator, [&](std::string_view word) { has = has || word == wanted; });
  return has;
}

// Cheap, and tells most keys apart.
std::size_t hash_of(std::string_view key) {
  if (key.empty()) return 0;
  const auto at = [&](std::size_t place) { return static_cast<std::size_t>(static_cast<unsigned char>(key[place])); };
  const std::size_t middle = key.size() / 2;
  return key.size() * 131 + at(0) * 31 + at(key.size() - 1) * 7919 + at(middle) * 613 + at(middle / 2) * 17;
}

// Rows by their key; several rows of one key stand on different objects.
class KeyIndex {
 public:
  explicit KeyIndex(std::span<const KeyRow> Dialect::*rows) {
    std::vector<const KeyRow*> all;
    for (const Dialect* dialect : dialects()) {
      for (const KeyRow& row : dialect->*rows) {
        if (row.key.ends_with('*')) {
          prefixes_.push_back(&row);
        } else {
          all.push_back(&row);
        }
      }
    }
    while (slots_.size() < all.size() * 4 + 1) slots_.resize(slots_.size() * 2);
    for (const KeyRow* row : all) {
      std::size_t slot = hash_of(row->key) & (slots_.size() - 1);
      while (slots_[slot] != nullptr) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = row;
    }
  }

  const KeyRow* find(std::string_view key, Objects on) const {
    for (std::size_t slot = hash_of(key) & (slots_.size() - 1); slots_[slot] != nullptr;
         slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot]->key == key && (slots_[slot]->on & on) != 0) return slots_[slot];
    }
    return nullptr;
  }
  const KeyRow* find_prefix(std::string_view key, Objects on) const {
    const KeyRow* longest = nullptr;
    for (const KeyRow* row : prefixes_) {
      const bool is_of = (row->on & on) != 0 && key.starts_with(row->key.substr(0, row->key.size() - 1));
      if (is_of && (longest == nullptr || row->key.size() > longest->key.size())) longest = row;
    }
    return longest;
  }

 private:
  std::vector<const KeyRow*> slots_ = std::vector<const KeyRow*>(64);
  std::vector<const KeyRow*> prefixes_;
};

const KeyIndex& annotations() {
  static const KeyIndex index(&Dialect::annotations);
  return index;
}
const KeyIndex& labels() {
  static const KeyIndex index(&Dialect::labels);
  return index;
}
const KeyIndex& resources() {
  static const KeyIndex index(&Dialect::resources);
  return index;
}

// The domains of all dialects.
class Domains {
 public:
  Domains() {
    for (const Dialect* dialect : dialects())
      each_word(dialect->domains, ' ', [&](std::string_view domain) { put(domain); });
  }

  // Whether the key is of a known domain or of one below it.
  bool has(std::string_view key) const {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos) return false;
    std::string_view domain = key.substr(0, slash);
    while (!domain.empty()) {
      const std::string_view found = slots_[hash_of(domain) % slots_.size()];
      if (found == domain) return true;
      if (!found.empty() && std::ranges::find(rest_, domain) != rest_.end()) return true;
      const std::size_t dot = domain.find('.');
      if (dot == std::string_view::npos) return false;
      domain.remove_prefix(dot + 1);
    }
    return false;
  }

 private:
  void put(std::string_view domain) {
    std::string_view& slot = slots_[hash_of(domain) % slots_.size()];
    if (slot.empty()) {
      slot = domain;
    } else if (slot != domain) {
      rest_.push_back(domain);
    }
  }
  std::array<std::string_view, 257> slots_;
  std::vector<std::string_view> rest_;
};

const Domains& domains() {
  static const Domains known;
  return known;
}

// A path of a kind: its row, if it has one, and whether rows are below it.
struct PathRows {
  const Rule* rule = nullptr;
  bool has_below = false;
};
using Paths = std::map<std::string, PathRows, std::less<>>;

// The rows of one kind. `top`: those of the members of spec, by hash, so that most need no path.
struct KindRows {
  Paths paths;
  std::vector<std::pair<std::string_view, PathRows>> top;

  void index_top() {
    static constexpr std::string_view kSpec = "spec.";
    std::size_t count = 0;
    for (const auto& [path, rows] : paths) count += path.rfind('.') == kSpec.size() - 1 ? 1 : 0;
    top.assign(std::bit_ceil(4 * count + 1), {});
    for (const auto& [path, rows] : paths) {
      if (path.rfind('.') != kSpec.size() - 1) continue;
      const std::string_view name = std::string_view(path).substr(kSpec.size());
      std::size_t slot = hash_of(name) & (top.size() - 1);
      while (!top[slot].first.empty()) slot = (slot + 1) & (top.size() - 1);
      top[slot] = {name, rows};
    }
  }
  const PathRows* find_top(std::string_view name) const {
    for (std::size_t slot = hash_of(name) & (top.size() - 1); !top[slot].first.empty();
         slot = (slot + 1) & (top.size() - 1)) {
      if (top[slot].first == name) return &top[slot].second;
    }
    return nullptr;
  }
  const Rule* rule_of(std::string_view path) const {
    const auto found = paths.find(path);
    return found == paths.end() ? nullptr : found->second.rule;
  }
};

class KindIndex {
 public:
  KindIndex() {
    for (const Dialect* dialect : dialects()) {
      each_word(dialect->groups, ' ', [&](std::string_view group) {
        if (group == kCoreGroup) group = {};
        groups_.push_back(group);
        for (const FieldRow& row : dialect->fields) add(kinds_[{group, row.kind}].paths, row);
      });
    }
    for (auto& [key, rows] : kinds_) rows.index_top();
  }

  bool has_group(std::string_view group) const { return std::ranges::find(groups_, group) != groups_.end(); }
  const KindRows* find(std::string_view group, std::string_view kind) const {
    const auto found = kinds_.find(std::pair(group, kind));
    return found == kinds_.end() ? nullptr : &found->second;
  }

 private:
  static void add(Paths& paths, const FieldRow& row) {
    paths[std::string(row.path)].rule = &row.rule;
    for (std::size_t dot = row.path.find('.'); dot != std::string_view::npos; dot = row.path.find('.', dot + 1))
      paths[std::string(row.path.substr(0, dot))].has_below = true;
  }

  std::map<std::pair<std::string_view, std::string_view>, KindRows> kinds_;
  std::vector<std::string_view> groups_;
};

const KindIndex& kinds() {
  static const KindIndex index;
  return index;
}

Objects objects_of(std::string_view kind) {
  constexpr std::string_view kGroupKinds = "PodGroup Workload PodGang CompositePodGroup";
  constexpr std::string_view kQueueKinds = "Queue ClusterQueue LocalQueue Cohort ElasticQuota ElasticQuotaProfile";
  constexpr std::string_view kOtherKinds =
      "Namespace PriorityClass WorkloadPriorityClass Topology ResourceFlavor HyperNode BindRequest PersistentVolume "
      "PersistentVolumeClaim StorageClass CSINode PodDisruptionBudget AdmissionCheck Reservation SchedulingShard";
  if (kind == "Pod") return kLivePods;
  if (kind == "Node") return kNodes;
  if (has_word(kGroupKinds, kind, ' ')) return kGroups;
  if (has_word(kQueueKinds, kind, ' ')) return kQueues;
  return has_word(kOtherKinds, kind, ' ') ? kOthers : kOwners;
}

void append_json(json::JsonValue value, std::string& out);

void append_members(json::JsonValue object, std::string& out) {
  bool first = true;
  out += '{';
  for (const json::JsonMember member : object.members()) {
    if (!std::exchange(first, false)) out += ',';
    out.append(member.key).append(":");
    append_json(member.value, out);
    if (out.size() > kMostValue) return;
  }
  out += '}';
}

void append_elements(json::JsonValue list, std::string& out) {
  bool first = true;
  out += '[';
  for (const json::JsonValue element : list.elements()) {
    if (!std::exchange(first, false)) out += ',';
    append_json(element, out);
    if (out.size() > kMostValue) return;
  }
  out += ']';
}

// Until the text is longer than what is shown.
void append_json(json::JsonValue value, std::string& out) {
  switch (value.kind()) {
    case json::JsonKind::kObject:
      return append_members(value, out);
    case json::JsonKind::kArray:
      return append_elements(value, out);
    case json::JsonKind::kString:
      out += value.string().substr(0, kMostValue + 1);
      return;
    case json::JsonKind::kInteger:
      out += std::to_string(value.integer());
      return;
    case json::JsonKind::kUnsigned:
      out += std::to_string(value.unsigned_integer());
      return;
    case json::JsonKind::kDouble: {
      json::JsonWriter(out).number(value.floating());
      return;
    }
    case json::JsonKind::kTrue:
      out += "true";
      return;
    case json::JsonKind::kFalse:
      out += "false";
      return;
    case json::JsonKind::kNull:
      out += "null";
  }
}

// Cut between characters.
std::string value_text(json::JsonValue value) {
  std::string text;
  append_json(value, text);
  if (text.size() <= kMostValue) return text;
  std::size_t end = kMostValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text += "...";
}

bool is_absent(json::JsonValue value) {
  switch (value.kind()) {
    case json::JsonKind::kNull:
      return true;
    case json::JsonKind::kString:
      return value.string().empty();
    case json::JsonKind::kArray:
      return value.size() == 0;
    default:
      return false;
  }
}

class Finder {
 public:
  Finder(const Subject& subject, std::vector<Unread>& out)
      : subject_(subject), on_(objects_of(subject.kind)), out_(out) {}

  // The kind "Pod" with the rows of templates, and of fields those of templates, too.
  void run_as_template() {
    on_ = kTemplates;
    take_metadata();
    take_spec("Pod");
    take_spec("PodTemplate");
  }
  // What the maker of pods has that a template could have; its own keys are noted with the object itself.
  void run_as_maker() {
    on_ = kTemplates;
    is_maker_ = true;
    take_metadata();
  }

  void run() {
    take_metadata();
    if (on_ == kNodes) {
      for (const json::JsonMember member : members_of(subject_.status))
        if (member.key == "allocatable") take_keys(member.value, resources(), Place::kResource);
    }
    take_spec(subject_.kind);
  }

 private:
  static json::JsonMembers members_of(json::JsonValue object) {
    if (!object || !object.is(json::JsonKind::kObject)) return {{}, {}};
    return object.members();
  }

  void take_metadata() {
    for (const json::JsonMember member : members_of(subject_.metadata)) {
      if (member.key == "annotations") take_keys(member.value, annotations(), Place::kAnnotation);
      if (member.key == "labels") take_keys(member.value, labels(), Place::kLabel);
    }
  }

  void take_keys(json::JsonValue keys, const KeyIndex& index, Place place) {
    for (const json::JsonMember member : members_of(keys)) {
      const KeyRow* row = index.find(member.key, on_);
      if (row == nullptr) {
        if (!domains().has(member.key) || index.find(member.key, kAll) != nullptr)
          continue;  // not read on such objects
        row = index.find_prefix(member.key, on_);
      }
      if (is_maker_ && (row == nullptr || (row->on & kOwners) != 0)) continue;
      tell(place, member.key, member.value, row == nullptr ? nullptr : &row->rule);
    }
  }

  // The members of spec; what has a harmless row and none below it costs one look-up.
  void take_spec(std::string_view kind) {
    const KindRows* rows = kinds().find(subject_.group, kind);
    if (rows == nullptr) return;
    const Rule* of_spec = rows->rule_of("spec");
    for (const json::JsonMember member : members_of(subject_.spec)) {
      const PathRows* top = rows->find_top(member.key);
      const Rule* rule = top != nullptr && top->rule != nullptr ? top->rule : of_spec;
      const bool is_plain = top == nullptr || !top->has_below;
      if (is_plain && rule != nullptr && rule->treatment <= Treatment::kHarmless) continue;
      path_ = "spec.";
      path_ += member.key;
      take_field(member.value, rows->paths, of_spec);
    }
  }

  // `inherited`: of the nearest row above; none: there is none.
  void take_fields(json::JsonValue object, const Paths& paths, const Rule* inherited) {
    for (const json::JsonMember member : object.members()) {
      const std::size_t before = path_.size();
      path_.append(".").append(member.key);
      take_field(member.value, paths, inherited);
      path_.resize(before);
    }
  }

  void take_field(json::JsonValue value, const Paths& paths, const Rule* inherited) {
    const auto found = paths.find(path_);
    const Rule* rule = found != paths.end() && found->second.rule != nullptr ? found->second.rule : inherited;
    const bool has_below = found != paths.end() && found->second.has_below;
    if (has_below && value.is(json::JsonKind::kObject)) return take_fields(value, paths, rule);
    if (has_below && value.is(json::JsonKind::kArray)) {
      for (const json::JsonValue element : value.elements())
        if (element.is(json::JsonKind::kObject)) take_fields(element, paths, rule);
      return;
    }
    tell(Place::kField, path_, value, rule);
  }

  // Of one key that stands in several elements of a list, the first counts.
  void tell(Place place, std::string_view key, json::JsonValue value, const Rule* rule) {
    if (rule != nullptr && rule->treatment <= Treatment::kHarmless) return;
    if (is_absent(value)) return;
    if (rule != nullptr && !rule->unless.empty() && has_word(rule->unless, value_text(value), '|')) return;
    if (rule != nullptr && !rule->unless_key.empty() && has_key(rule->unless_key)) return;
    const bool has_it = std::ranges::any_of(
        out_, [&](const Unread& told) { return told.place == place && told.key == key && told.rule == rule; });
    if (!has_it) out_.push_back({place, std::string(key), value_text(value), rule});
  }

  bool has_key(std::string_view key) const {
    for (const json::JsonMember part : members_of(subject_.metadata)) {
      if (part.key != "annotations" && part.key != "labels") continue;
      for (const json::JsonMember member : members_of(part.value))
        if (member.key == key) return true;
    }
    return false;
  }

  const Subject& subject_;
  Objects on_;
  bool is_maker_ = false;
  std::vector<Unread>& out_;
  std::string path_;
};

}  // namespace

std::string_view place_name(Place place) {
  constexpr std::array<std::string_view, 5> kNames = {"annotation", "label", "resource", "field", "kind"};
  return kNames[static_cast<std::size_t>(place)];
}

void find_unread(const Subject& subject, std::vector<Unread>& out) { Finder(subject, out).run(); }

void find_unread(const TemplateSubject& subject, std::vector<Unread>& out) {
  const Subject own{{}, "Pod", subject.metadata, subject.spec, {}}, maker{{}, "Pod", subject.of_owner, {}, {}};
  Finder(own, out).run_as_template();
  Finder(maker, out).run_as_maker();
}

bool find_unread_kind(const Subject& subject, std::vector<Unread>& out) {
  if (subject.group.empty() || !kinds().has_group(subject.group)) return false;
  const KindRows* rows = kinds().find(subject.group, subject.kind);
  const Rule* rule = rows == nullptr ? nullptr : rows->rule_of("");
  if (rows != nullptr && rule == nullptr) return false;
  if (rule == nullptr || rule->treatment > Treatment::kHarmless) {
    out.push_back({Place::kKind, std::string(subject.kind), {}, rule});
  } else {
    find_unread(subject, out);
  }
  return true;
}

const Rule* rule_of_resource(std::string_view resource) {
  const KeyRow* row = resources().find(resource, kLivePods);
  if (row == nullptr && domains().has(resource)) row = resources().find_prefix(resource, kLivePods);
  return row == nullptr ? nullptr : &row->rule;
}

bool is_needed_annotation(std::string_view key) {
  bool has_row = false;
  for (Objects on = 1; on < kAll; on = static_cast<Objects>(on * 2)) {
    const KeyRow* row = annotations().find(key, on);
    if (row != nullptr && row->rule.treatment != Treatment::kHarmless) return true;
    has_row = has_row || row != nullptr;
  }
  if (has_row || !domains().has(key)) return false;
  const KeyRow* row = annotations().find_prefix(key, kAll);
  return row == nullptr || row->rule.treatment != Treatment::kHarmless;
}

}  // namespace muster::kubernetes::known
