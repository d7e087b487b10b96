#include "io/kubernetes/object/slim.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "io/json/json_writer.h"
#include "io/kubernetes/object/object.h"

namespace muster {

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kListDepth = 2;  // of an item: the list and its object

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kSpaces = 0x2020'2020'2020'2020U;
  std::uint64_t word = kSpaces;
  while (at < text.size() && is_space(text[at])) {
    ++at;
    while (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if (word != kSpaces) break;
      at += sizeof word;
    }
  }
  return at;
}

// The position after the string whose opening quote is at `at`; kNowhere if it has no end.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while ((at = text.find('"', at + 1)) != kNowhere) {
    std::size_t backslashes = 0;
    while (at - 1 - backslashes > begin && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at + 1;
  }
  return kNowhere;
}

// The position after the value at `at`. Examines only quotes and brackets.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return kNowhere;
  if (text[at] == '"') return end_of_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    while (at < text.size() && !is_space(text[at]) && text[at] != ',' && text[at] != '}' && text[at] != ']') ++at;
    return at;
  }
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == ' ') {
      at = skip_space(text, at);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return kNowhere;
}

bool is_any(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

// The instants that may be the latest of a list; one that is known not to be need not be kept.
class LatestTime {
 public:
  bool may_be_latest(std::string_view text) {
    constexpr std::size_t kWholeSeconds = std::string_view("2026-03-01T10:00:00Z").size();
    if (!is_used_ || text.size() != kWholeSeconds || text.back() != 'Z') return true;
    if (text <= latest_) {
      has_dropped_ = true;
      return false;
    }
    if (parse_instant(text)) latest_ = text;
    return true;
  }
  bool has_dropped() const { return has_dropped_; }
  // If objects may be removed again, all of them count.
  void keep_all() { is_used_ = has_dropped_ = false; }

 private:
  std::string latest_;
  bool is_used_ = true, has_dropped_ = false;
};

// What the import reads of each part of an object, whatever its kind.
class PartWriter {
 public:
  PartWriter(JsonDocument& document, LatestTime& times, std::string& out)
      : times_(times), document_(document), writer_(out) {}

  void write_object(JsonValue object) {
    write_members(object, [this](std::string_view key, JsonValue value) {
      if (key == "metadata") return write(key, value, &PartWriter::write_metadata);
      if (key == "spec") return write(key, value, &PartWriter::write_spec);
      if (key == "status") return write(key, value, &PartWriter::write_status);
      if (key == "object" || key == "template") return write(key, value, &PartWriter::write_object);
      if (key == "items") return write(key, value, &PartWriter::write_objects);
      if (is_any(key, {"apiVersion", "kind", "type", "value", "globalDefault", "preemptionPolicy", "format",
                       "allowedTopologies", "provisioner", "volumeBindingMode"})) {
        copy(key, value);
      }
    });
  }

 private:
  using Part = void (PartWriter::*)(JsonValue);

  // Calls `choose` with each member, which writes it or does not. The reader rejects a value that is not an object.
  template <class Choose>
  void write_members(JsonValue object, Choose choose) {
    if (!object.is(JsonKind::kObject)) return write_json(writer_, document_, object);
    const bool outer = std::exchange(first_, true);
    writer_.raw("{");
    for (const JsonMember member : object.members()) choose(member.key, member.value);
    writer_.raw("}");
    first_ = outer;
  }
  template <class Write>
  void write_elements(JsonValue list, Write write_element) {
    if (!list.is(JsonKind::kArray)) return write_json(writer_, document_, list);
    bool first = true;
    writer_.raw("[");
    for (const JsonValue element : list.elements()) {
      writer_.separate(first);
      write_element(element);
    }
    writer_.raw("]");
  }
  void write(std::string_view key, JsonValue value, Part part) {
    writer_.separate(first_).string(key).raw(":");
    (this->*part)(value);
  }
  void copy(std::string_view key, JsonValue value) {
    writer_.separate(first_).string(key).raw(":");
    write_json(writer_, document_, value);
  }

  void write_objects(JsonValue list) {
    write_elements(list, [this](JsonValue element) { write_object(element); });
  }
  void write_metadata(JsonValue object) {
    write_members(object, [this](std::string_view key, JsonValue value) {
      if (key == "annotations") return write(key, value, &PartWriter::write_annotations);
      if (key == "ownerReferences") return write(key, value, &PartWriter::write_owners);
      if (is_any(key, {"creationTimestamp", "deletionTimestamp", "generation", "labels", "name", "namespace"}))
        copy(key, value);
    });
  }
  void write_annotations(JsonValue object) {
    write_members(object, [this](std::string_view key, JsonValue value) {
      if (key != "kubectl.kubernetes.io/last-applied-configuration" && !key.starts_with("nfd.node.kubernetes.io/")) {
        copy(key, value);
      }
    });
  }
  void write_spec(JsonValue object) {
    write_members(object, [this](std::string_view key, JsonValue value) {
      if (key == "containers" || key == "initContainers") return write(key, value, &PartWriter::write_containers);
      if (key == "volumes") return write(key, value, &PartWriter::write_volumes);
      if (key == "template") return write(key, value, &PartWriter::write_object);
      if (!is_unread(key)) copy(key, value);
    });
  }
  // Of pods, common and of no use here.
  static bool is_unread(std::string_view key) {
    return is_any(key, {"ephemeralContainers", "securityContext", "dnsConfig", "dnsPolicy", "enableServiceLinks",
                        "hostAliases", "imagePullSecrets", "restartPolicy", "serviceAccount",
                        "serviceAccountName", "terminationGracePeriodSeconds"});
  }
  void write_containers(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      write_members(element, [this](std::string_view key, JsonValue value) {
        if (key == "ports") return write(key, value, &PartWriter::write_ports);
        if (key == "name" || key == "resources" || key == "restartPolicy") copy(key, value);
      });
    });
  }
  void write_ports(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      write_members(element, [this](std::string_view key, JsonValue value) {
        if (is_any(key, {"containerPort", "hostIP", "hostPort", "protocol"})) copy(key, value);
      });
    });
  }
  void write_volumes(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      const bool is_ephemeral = has_member(element, "ephemeral");
      write_members(element, [&](std::string_view key, JsonValue value) {
        if (key == "ephemeral" || key == "persistentVolumeClaim" || (is_ephemeral && key == "name")) copy(key, value);
      });
    });
  }
  static bool has_member(JsonValue object, std::string_view key) {
    if (!object.is(JsonKind::kObject)) return false;
    for (const JsonMember member : object.members()) {
      if (member.key == key) return true;
    }
    return false;
  }
  void write_status(JsonValue object) {
    write_members(object, [this](std::string_view key, JsonValue value) {
      if (key == "conditions") return write(key, value, &PartWriter::write_times);
      if (key == "containerStatuses") return write(key, value, &PartWriter::write_container_statuses);
      if (key == "initContainerStatuses") return write(key, value, &PartWriter::write_given);
      if (is_any(key, {"allocatable", "allocatedResources", "disruptionsAllowed", "nominatedNodeName",
                       "observedGeneration", "phase", "resources", "scheduleStartTime", "startTime", "state",
                       "succeeded"})) {
        copy(key, value);
      }
    });
  }
  // What each container was given, and the latest instants.
  void write_container_statuses(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      write_members(element, [this](std::string_view key, JsonValue value) {
        if (is_any(key, {"allocatedResources", "name", "resources"})) return copy(key, value);
        const bool holds_times = (value.is(JsonKind::kObject) || value.is(JsonKind::kArray)) && value.size() > 0;
        if (holds_times) write(key, value, &PartWriter::write_times);
      });
    });
  }
  void write_given(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      write_members(element, [this](std::string_view key, JsonValue value) {
        if (is_any(key, {"allocatedResources", "name", "resources"})) copy(key, value);
      });
    });
  }
  // Of conditions and states the latest instants, and whether an object is ready or done.
  void write_times(JsonValue value) {
    if (value.is(JsonKind::kArray)) return write_elements(value, [this](JsonValue element) { write_times(element); });
    const bool is_read = !value.is(JsonKind::kObject) || is_read_condition(value);
    write_members(value, [&](std::string_view key, JsonValue member) {
      if (member.is(JsonKind::kObject) || member.is(JsonKind::kArray)) {
        if (member.size() > 0) write(key, member, &PartWriter::write_times);
      } else if (key.ends_with("Time") || key.ends_with("At")) {
        if (!member.is(JsonKind::kString) || times_.may_be_latest(member.string())) copy(key, member);
      } else if (is_read && is_any(key, {"reason", "type", "status"})) {
        copy(key, member);
      }
    });
  }
  // Whether more than the times of a condition is read; the reader rejects malformed ones.
  static bool is_read_condition(JsonValue condition) {
    for (const JsonMember member : condition.members()) {
      if (member.key != "type" && member.key != "status") continue;
      if (!member.value.is(JsonKind::kString)) return true;
      const std::string_view word = member.value.string();
      if (member.key == "type") {
        return is_any(word, {"Ready", "Complete", "Failed", "SuccessCriteriaMet", "PodResizePending"});
      }
    }
    return false;
  }
  void write_owners(JsonValue list) {
    write_elements(list, [this](JsonValue element) {
      write_members(element, [this](std::string_view key, JsonValue value) {
        if (is_any(key, {"controller", "kind", "name"})) copy(key, value);
      });
    });
  }

  LatestTime& times_;
  JsonDocument& document_;
  JsonWriter writer_;
  bool first_ = true;
};

class Slimmer {
 public:
  Slimmer(std::string_view text, JsonDocument& scratch, std::size_t max_depth)
      : text_(text), scratch_(scratch), max_depth_(max_depth) {}

  std::optional<std::string> run() {
    out_.reserve(text_.size() / 4);
    std::size_t documents = 0;
    for (at_ = skip_space(text_, 0); at_ < text_.size(); at_ = skip_space(text_, at_)) {
      if (documents++ > 0) out_ += ',';
      if (!take_document()) return std::nullopt;
    }
    if (documents == 0) return std::nullopt;
    if (documents > 1 && times_.has_dropped()) {
      times_.keep_all();
      out_.clear();
      return run();
    }
    if (documents > 1) {
      out_.insert(0, R"({"apiVersion":"v1","kind":"List","items":[)");
      out_ += "]}";
    }
    return std::move(out_);
  }

 private:
  // A list, item by item; what is none, as a whole.
  bool take_document() {
    const std::size_t begin = at_, written = out_.size();
    if (text_[at_] != '{') return false;
    ++at_;
    bool first = true, is_list = false;
    out_ += '{';
    while (true) {
      at_ = skip_space(text_, at_);
      if (at_ < text_.size() && text_[at_] == '}' && first) break;
      if (!first) out_ += ',';
      first = false;
      if (!take_member(is_list)) return false;
      at_ = skip_space(text_, at_);
      if (at_ >= text_.size() || (text_[at_] != ',' && text_[at_] != '}')) return false;
      if (text_[at_] == '}') break;
      ++at_;
    }
    ++at_;
    out_ += '}';
    if (is_list) return true;
    out_.resize(written);
    return slim(text_.substr(begin, at_ - begin), 0);
  }

  bool take_member(bool& is_list) {
    const std::size_t key = at_;
    if (at_ >= text_.size() || text_[at_] != '"' || (at_ = end_of_string(text_, at_)) == kNowhere) return false;
    const std::string_view name = text_.substr(key, at_ - key);
    at_ = skip_space(text_, at_);
    if (at_ >= text_.size() || text_[at_] != ':') return false;
    at_ = skip_space(text_, at_ + 1);
    out_.append(name).append(":");
    if (name == "\"items\"" && at_ < text_.size() && text_[at_] == '[') {
      is_list = true;
      return take_items();
    }
    const std::size_t value = at_;
    at_ = end_of_value(text_, at_);
    if (at_ == kNowhere || at_ == value) return false;
    out_.append(text_, value, at_ - value);
    return true;
  }

  bool take_items() {
    out_ += '[';
    at_ = skip_space(text_, at_ + 1);
    for (bool first = true; at_ < text_.size() && (text_[at_] != ']' || !first); first = false) {
      const std::size_t begin = at_;
      at_ = end_of_value(text_, at_);
      if (at_ == kNowhere || !slim(text_.substr(begin, at_ - begin), kListDepth)) return false;
      at_ = skip_space(text_, at_);
      if (at_ < text_.size() && text_[at_] == ']') break;
      if (at_ >= text_.size() || text_[at_] != ',') return false;
      out_ += ',';
      at_ = skip_space(text_, at_ + 1);
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    out_ += ']';
    return true;
  }

  bool slim(std::string_view object, std::size_t depth) {
    if (scratch_.parse(object, {object.size(), max_depth_ - depth})) return false;
    PartWriter(scratch_, times_, out_).write_object(scratch_.root());
    return true;
  }

  std::string_view text_;
  JsonDocument& scratch_;
  std::size_t max_depth_, at_ = 0;
  LatestTime times_;
  std::string out_;
};

}  // namespace

bool begins_as_kubernetes(std::string_view text) {
  std::size_t at = skip_space(text, 0);
  if (at >= text.size() || text[at] != '{') return false;
  at = skip_space(text, at + 1);
  const std::string_view rest = text.substr(std::min(at, text.size()));
  return std::ranges::any_of(std::initializer_list<std::string_view>{"\"apiVersion\"", "\"items\"", "\"kind\"",
                                                                     "\"metadata\"", "\"object\"", "\"type\""},
                             [&](std::string_view key) { return rest.starts_with(key); });
}

std::optional<std::string> slim_objects(std::string_view text, JsonDocument& scratch, std::size_t max_depth) {
  return Slimmer(text, scratch, max_depth).run();
}

}  // namespace muster
