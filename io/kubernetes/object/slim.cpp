#include "io/kubernetes/object/slim.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <simdjson.h>

#include "io/json/json_writer.h"
#include "io/kubernetes/known/find.h"
#include "io/kubernetes/object/object.h"
#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kListDepth = 2;  // of an item: the list and its object

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

bool is_any(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

// The instants that may be the latest of a list; one that is known not to be need not be kept.
class LatestTime {
 public:
  bool may_be_latest(std::string_view text) {
    constexpr std::size_t kWholeSeconds = std::string_view("2026-03-01T10:00:00Z").size();
    if (!is_needed_) return false;
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
  // If the time is known otherwise.
  void drop_all() { is_needed_ = false; }

 private:
  std::string latest_;
  bool is_used_ = true, has_dropped_ = false, is_needed_ = true;
};

// Those that the import reads or reports.
bool is_needed_annotation(std::string_view key, std::string_view duration_annotation) {
  return key == (duration_annotation.empty() ? kDurationAnnotation : duration_annotation) || key == kNodeAnnotation ||
         known::is_needed_annotation(key);
}

// What the import reads of each part of an object, whatever its kind.
class PartWriter {
 public:
  // `single`: set if the object is not part of a document (slim_object).
  PartWriter(json::JsonDocument& document, LatestTime& times, std::string& out, const SlimObject* single = nullptr)
      : times_(times), document_(document), single_(single), writer_(out) {}

  void write_single(json::JsonValue object) {
    const auto& [api_version, kind, duration_annotation] = *single_;
    writer_.raw("{");
    if (!api_version.empty()) writer_.separate(first_).raw(R"("apiVersion":)").string(api_version);
    if (!kind.empty()) writer_.separate(first_).raw(R"("kind":)").string(kind);
    for (const json::JsonMember member : object.members()) {
      const bool is_replaced =
          (member.key == "apiVersion" && !api_version.empty()) || (member.key == "kind" && !kind.empty());
      if (!is_replaced) write_part(member.key, member.value);
    }
    writer_.raw("}");
  }

  void write_object(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) { write_part(key, value); });
  }

 private:
  using Part = void (PartWriter::*)(json::JsonValue);

  // Calls `choose` with each member, which writes it or does not. The reader rejects a value that is not an object.
  template <class Choose>
  void write_members(json::JsonValue object, Choose choose) {
    if (!object.is(json::JsonKind::kObject)) return write_json(writer_, document_, object);
    const bool outer = std::exchange(first_, true);
    writer_.raw("{");
    for (const json::JsonMember member : object.members()) choose(member.key, member.value);
    writer_.raw("}");
    first_ = outer;
  }
  template <class Write>
  void write_elements(json::JsonValue list, Write write_element) {
    if (!list.is(json::JsonKind::kArray)) return write_json(writer_, document_, list);
    bool first = true;
    writer_.raw("[");
    for (const json::JsonValue element : list.elements()) {
      writer_.separate(first);
      write_element(element);
    }
    writer_.raw("]");
  }
  void write(std::string_view key, json::JsonValue value, Part part) {
    writer_.separate(first_).string(key).raw(":");
    (this->*part)(value);
  }
  void copy(std::string_view key, json::JsonValue value) {
    writer_.separate(first_).string(key).raw(":");
    write_json(writer_, document_, value);
  }

  void write_part(std::string_view key, json::JsonValue value) {
    if (key == "metadata") return write(key, value, &PartWriter::write_metadata);
    if (key == "spec") return write(key, value, &PartWriter::write_spec);
    if (key == "status") return write(key, value, &PartWriter::write_status);
    if (key == "object" || key == "template") return write(key, value, &PartWriter::write_object);
    if (key == "items") return write(key, value, &PartWriter::write_objects);
    if (is_any(key, {"apiVersion", "kind", "type", "value", "globalDefault", "preemptionPolicy", "format",
                     "allowedTopologies", "overhead", "provisioner", "scheduling", "volumeBindingMode"})) {
      copy(key, value);
    }
  }
  void write_objects(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) { write_object(element); });
  }
  void write_metadata(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (key == "annotations") return write(key, value, &PartWriter::write_annotations);
      if (key == "ownerReferences") return write(key, value, &PartWriter::write_owners);
      if (key == "uid" && single_ != nullptr) return copy(key, value);
      if (is_any(key, {"creationTimestamp", "deletionTimestamp", "generateName", "generation", "labels", "name",
                       "namespace"}))
        copy(key, value);
    });
  }
  void write_annotations(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (single_ != nullptr) {
        if (is_needed_annotation(key, single_->duration_annotation)) copy(key, value);
      } else if (key != "kubectl.kubernetes.io/last-applied-configuration" &&
                 !key.starts_with("nfd.node.kubernetes.io/")) {
        copy(key, value);
      }
    });
  }
  void write_spec(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (key == "containers" || key == "initContainers") return write(key, value, &PartWriter::write_containers);
      if (key == "volumes") return write(key, value, &PartWriter::write_volumes);
      // That of a PodCliqueSet is no object.
      if (key == "template" && !has_member(value, "cliques")) return write(key, value, &PartWriter::write_object);
      if (!is_unread(key)) copy(key, value);
    });
  }
  // Of pods, common and of no use here.
  static bool is_unread(std::string_view key) {
    return is_any(key, {"ephemeralContainers", "securityContext", "dnsConfig", "dnsPolicy", "enableServiceLinks",
                        "hostAliases", "imagePullSecrets", "restartPolicy", "serviceAccount", "serviceAccountName",
                        "terminationGracePeriodSeconds"});
  }
  void write_containers(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      write_members(element, [this](std::string_view key, json::JsonValue value) {
        if (key == "ports") return write(key, value, &PartWriter::write_ports);
        if (key == "name" || key == "resources" || key == "restartPolicy") copy(key, value);
      });
    });
  }
  void write_ports(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      write_members(element, [this](std::string_view key, json::JsonValue value) {
        if (is_any(key, {"containerPort", "hostIP", "hostPort", "protocol"})) copy(key, value);
      });
    });
  }
  void write_volumes(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      const bool is_ephemeral = has_member(element, "ephemeral");
      write_members(element, [&](std::string_view key, json::JsonValue value) {
        if (key == "ephemeral" || key == "persistentVolumeClaim" || (is_ephemeral && key == "name")) copy(key, value);
      });
    });
  }
  static bool has_member(json::JsonValue object, std::string_view key) {
    if (!object.is(json::JsonKind::kObject)) return false;
    for (const json::JsonMember member : object.members()) {
      if (member.key == key) return true;
    }
    return false;
  }
  void write_status(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (key == "conditions") return write(key, value, single_ ? &PartWriter::write_read : &PartWriter::write_times);
      if (key == "containerStatuses") return write(key, value, &PartWriter::write_container_statuses);
      if (key == "initContainerStatuses") return write(key, value, &PartWriter::write_given);
      if (is_any(key, {"activeServiceStatus", "admission", "allocatable", "allocatedResources", "disruptionsAllowed",
                       "fairSharing", "jobDeploymentStatus", "nominatedNodeName", "observedGeneration",
                       "pendingServiceStatus", "phase", "rayClusterName", "resources", "scheduleStartTime", "startTime",
                       "state", "succeeded"})) {
        copy(key, value);
      }
    });
  }
  // What each container was given, and the latest instants.
  void write_container_statuses(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      write_members(element, [this](std::string_view key, json::JsonValue value) {
        if (is_any(key, {"allocatedResources", "name", "resources"})) return copy(key, value);
        if (key == "state") return write(key, value, &PartWriter::write_container_state);
        if (single_ != nullptr) return;
        const bool holds_times =
            (value.is(json::JsonKind::kObject) || value.is(json::JsonKind::kArray)) && value.size() > 0;
        if (holds_times) write(key, value, &PartWriter::write_times);
      });
    });
  }
  // Its end, which counts even if it is not the latest instant.
  void write_container_state(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (single_ != nullptr && key != "terminated") return;
      if (key != "terminated" || !value.is(json::JsonKind::kObject)) return write(key, value, &PartWriter::write_times);
      write(key, value, &PartWriter::write_end);
    });
  }
  bool is_kept_time(std::string_view key, json::JsonValue value) {
    if (!key.ends_with("Time") && !key.ends_with("At")) return false;
    return !value.is(json::JsonKind::kString) || times_.may_be_latest(value.string());
  }
  void write_end(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) {
      if (key == "finishedAt" || is_kept_time(key, value)) copy(key, value);
    });
  }
  void write_given(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      write_members(element, [this](std::string_view key, json::JsonValue value) {
        if (is_any(key, {"allocatedResources", "name", "resources"})) copy(key, value);
      });
    });
  }
  // Of a single object's conditions those of which more than the times is read.
  void write_read(json::JsonValue list) {
    if (!list.is(json::JsonKind::kArray)) return write_json(writer_, document_, list);
    bool first = true;
    writer_.raw("[");
    for (const json::JsonValue element : list.elements()) {
      if (element.is(json::JsonKind::kObject) && !is_read_condition(element)) continue;
      writer_.separate(first);
      write_times(element);
    }
    writer_.raw("]");
  }
  // Of conditions and states the latest instants, and whether an object is ready or done.
  void write_times(json::JsonValue value) {
    if (value.is(json::JsonKind::kArray))
      return write_elements(value, [this](json::JsonValue element) { write_times(element); });
    const bool is_read = !value.is(json::JsonKind::kObject) || is_read_condition(value);
    write_members(value, [&](std::string_view key, json::JsonValue member) {
      if (member.is(json::JsonKind::kObject) || member.is(json::JsonKind::kArray)) {
        if (member.size() > 0) write(key, member, &PartWriter::write_times);
      } else if (key.ends_with("Time") || key.ends_with("At")) {
        if (!member.is(json::JsonKind::kString) || times_.may_be_latest(member.string())) copy(key, member);
      } else if (is_read && is_any(key, {"reason", "type", "status"})) {
        copy(key, member);
      }
    });
  }
  // Whether more than the times of a condition is read; the reader rejects malformed ones.
  static bool is_read_condition(json::JsonValue condition) {
    for (const json::JsonMember member : condition.members()) {
      if (member.key != "type" && member.key != "status") continue;
      if (!member.value.is(json::JsonKind::kString)) return true;
      const std::string_view word = member.value.string();
      if (member.key == "type") {
        return is_any(word, {"Ready", "Complete", "Completed", "Failed", "Succeeded", "SuccessCriteriaMet",
                             "PodResizePending", "Active", "Finished", "QuotaReserved"});
      }
    }
    return false;
  }
  void write_owners(json::JsonValue list) {
    write_elements(list, [this](json::JsonValue element) {
      write_members(element, [this](std::string_view key, json::JsonValue value) {
        if (is_any(key, {"controller", "kind", "name"})) copy(key, value);
      });
    });
  }

  LatestTime& times_;
  json::JsonDocument& document_;
  const SlimObject* single_;
  json::JsonWriter writer_;
  bool first_ = true;
};

// Finds the documents and the items of their lists by simdjson's On-Demand parser, which steps over a value without
// examining what is in it. So each item, and each document that is no list, is parsed in full before it is used.
class Slimmer {
 public:
  // Requires SIMDJSON_PADDING readable bytes after the text.
  Slimmer(std::string_view text, json::JsonDocument& scratch, std::size_t max_depth)
      : text_(text), scratch_(scratch), max_depth_(max_depth) {
    parser_.threaded = false;  // one batch is the whole text
  }

  void keep_all_instants() { times_.keep_all(); }

  std::optional<std::string> run() {
    out_.reserve(text_.size() / 4);
    std::size_t documents = 0;
    if (!take_documents(documents)) return std::nullopt;
    if (documents > 1 && times_.has_dropped()) {
      times_.keep_all();
      out_.clear();
      documents = 0;
      if (!take_documents(documents)) return std::nullopt;
    }
    if (documents > 1) {
      out_.insert(0, R"({"apiVersion":"v1","kind":"List","items":[)");
      out_ += "]}";
    }
    return std::move(out_);
  }

 private:
  bool take_documents(std::size_t& documents) {
    ondemand::document_stream stream;
    if (parser_.iterate_many(text_.data(), text_.size(), text_.size()).get(stream)) return false;
    for (auto next : stream) {
      ondemand::document_reference document;
      ondemand::object object;
      // NOLINTNEXTLINE(performance-move-const-arg): get() of this type is for rvalues only
      if (std::move(next).get(document) || document.get_object().get(object)) return false;
      if (documents++ > 0) out_ += ',';
      if (!take_document(object)) return false;
    }
    return documents > 0 && stream.truncated_bytes() == 0;
  }

  // A list, item by item; what is none, as a whole.
  bool take_document(ondemand::object& object) {
    const std::size_t written = out_.size();
    json::JsonWriter writer(out_);
    bool first = true, is_list = false;
    writer.raw("{");
    for (auto next : object) {
      ondemand::field field;
      std::string_view key;
      if (std::move(next).get(field) || field.unescaped_key().get(key)) return false;
      writer.separate(first).string(key).raw(":");
      if (!take_value(key, field.value(), is_list)) return false;
    }
    writer.raw("}");
    if (is_list) return true;
    out_.resize(written);
    std::string_view whole;
    return !object.reset().error() && !object.raw_json().get(whole) && slim(whole, 0);
  }

  bool take_value(std::string_view key, ondemand::value value, bool& is_list) {
    ondemand::json_type type{};
    if (value.type().get(type)) return false;
    if (key == "items" && type == ondemand::json_type::array) {
      is_list = true;
      return take_items(value);
    }
    std::string_view text;
    if (simdjson::to_json_string(value).get(text)) return false;
    out_ += text;
    return true;
  }

  bool take_items(ondemand::value& list) {
    ondemand::array items;
    bool first = true;
    if (list.get_array().get(items)) return false;
    out_ += '[';
    for (auto next : items) {
      ondemand::value item;
      std::string_view text;
      if (next.get(item) || simdjson::to_json_string(item).get(text)) return false;
      if (!std::exchange(first, false)) out_ += ',';
      if (!slim(text, kListDepth)) return false;
    }
    out_ += ']';
    return true;
  }

  bool slim(std::string_view object, std::size_t depth) {
    if (scratch_.parse(object, {object.size(), max_depth_ - depth})) return false;
    PartWriter(scratch_, times_, out_).write_object(scratch_.root());
    return true;
  }

  std::string_view text_;
  json::JsonDocument& scratch_;
  std::size_t max_depth_;
  ondemand::parser parser_;
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

std::optional<std::string> slim_objects(std::string& text, json::JsonDocument& scratch, std::size_t max_depth) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  return Slimmer(text, scratch, max_depth).run();
}

std::optional<std::string> slim_objects(std::string_view text, json::JsonDocument& scratch, std::size_t max_depth) {
  const simdjson::padded_string padded(text);
  return Slimmer(padded, scratch, max_depth).run();
}

std::optional<std::string> slim_with_instants(std::string_view text, json::JsonDocument& scratch,
                                              std::size_t max_depth) {
  const simdjson::padded_string padded(text);
  Slimmer slimmer(padded, scratch, max_depth);
  slimmer.keep_all_instants();
  return slimmer.run();
}

void slim_object(json::JsonDocument& document, json::JsonValue object, const SlimObject& how, std::string& out) {
  MUSTER_REQUIRE(object.is(json::JsonKind::kObject));
  LatestTime times;
  times.drop_all();
  PartWriter(document, times, out, &how).write_single(object);
}

}  // namespace muster::kubernetes
