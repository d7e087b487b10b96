#include "io/kubernetes/object/slim.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "io/json/json_scanner.h"
#include "io/kubernetes/known/find.h"
#include "io/kubernetes/object/documents.h"
#include "io/kubernetes/object/items.h"
#include "io/kubernetes/object/object.h"
#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

constexpr std::size_t kMostSlim = 2;   // how much shorter texts of kubectl become, at least
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
    if (text <= latest_) return false;
    if (parse_instant(text)) latest_ = text;
    return true;
  }
  // If objects may be removed again, all of them count.
  void keep_all() { is_used_ = false; }
  // If the time is known otherwise.
  void drop_all() { is_needed_ = false; }

 private:
  std::string latest_;
  bool is_used_ = true, is_needed_ = true;
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
  PartWriter(json::NumberCursor& numbers, LatestTime& times, json::JsonBuilder& out, const SlimObject* single = nullptr)
      : times_(times), numbers_(numbers), single_(single), out_(out) {}

  void write_single(json::JsonValue object) {
    const auto& [api_version, kind, duration_annotation] = *single_;
    const std::pair<std::string_view, std::string_view> given[] = {{"apiVersion", api_version}, {"kind", kind}};
    out_.open(json::JsonKind::kObject);
    for (const auto& [key, text] : given) {
      if (text.empty()) continue;
      out_.key(key);
      out_.string(text);
    }
    for (const json::JsonMember member : object.members()) {
      const bool is_replaced =
          std::ranges::any_of(given, [&](const auto& one) { return one.first == member.key && !one.second.empty(); });
      if (!is_replaced) write_part(member.key, member.value);
    }
    out_.close();
  }

  void write_object(json::JsonValue object) {
    write_members(object, [this](std::string_view key, json::JsonValue value) { write_part(key, value); });
  }

 private:
  using Part = void (PartWriter::*)(json::JsonValue);

  // Calls `choose` with each member, which writes it or does not. The reader rejects a value that is not an object.
  template <class Choose>
  void write_members(json::JsonValue object, Choose choose) {
    if (!object.is(json::JsonKind::kObject)) return out_.copy(object, numbers_);
    out_.open(json::JsonKind::kObject);
    for (const json::JsonMember member : object.members()) choose(member.key, member.value);
    out_.close();
  }
  template <class Write>
  void write_elements(json::JsonValue list, Write write_element) {
    if (!list.is(json::JsonKind::kArray)) return out_.copy(list, numbers_);
    out_.open(json::JsonKind::kArray);
    for (const json::JsonValue element : list.elements()) write_element(element);
    out_.close();
  }
  void write(std::string_view key, json::JsonValue value, Part part) {
    out_.key(key);
    (this->*part)(value);
  }
  void copy(std::string_view key, json::JsonValue value) {
    out_.key(key);
    out_.copy(value, numbers_);
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
    if (!list.is(json::JsonKind::kArray)) return out_.copy(list, numbers_);
    out_.open(json::JsonKind::kArray);
    for (const json::JsonValue element : list.elements()) {
      if (!element.is(json::JsonKind::kObject) || is_read_condition(element)) write_times(element);
    }
    out_.close();
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
  json::NumberCursor& numbers_;
  const SlimObject* single_;
  json::JsonBuilder& out_;
};

// Finds the documents and the items of their lists. Each item, and each document that is no list, is parsed in full
// before it is used.
class Slimmer {
 public:
  Slimmer(const json::JsonText& text, std::size_t max_depth, Instants instants, json::JsonBuilder& out)
      : bytes_(text.size()), out_(out), scanner_(text, max_depth) {
    if (instants == Instants::kAll) times_.keep_all();
  }

  bool run() {
    out_.clear();
    out_.reserve(bytes_ / kMostSlim);
    if (!take_document(0)) return false;
    if (scanner_.at_end()) return true;
    times_.keep_all();
    scanner_.go_to(0);
    out_.clear();
    out_.open(json::JsonKind::kObject);
    for (const auto& [key, text] : {std::pair("apiVersion", "v1"), std::pair("kind", "List")}) {
      out_.key(key);
      out_.string(text);
    }
    out_.key("items");
    out_.open(json::JsonKind::kArray);
    while (scanner_.peek() == '{')
      if (!take_document(kListDepth)) return false;
    out_.close();
    out_.close();
    return scanner_.at_end();
  }

 private:
  // A list, item by item; what is none, as a whole. `outer`: containers around it.
  bool take_document(std::size_t outer) {
    if (scanner_.peek() != '{') return false;
    const std::size_t begin = scanner_.place();
    const bool is_list = has_items(outer);
    scanner_.go_to(begin);
    return is_list ? take_list(outer) : slim(outer);
  }

  // Ends within the object.
  bool has_items(std::size_t outer) {
    std::string_view key;
    if (!scanner_.take('{')) return false;
    while (scanner_.take_key(key)) {
      if (key == "items" && scanner_.peek() == '[') return true;
      if (!scanner_.skip(outer + 1) || !scanner_.take(',')) return false;
    }
    return false;
  }

  bool take_list(std::size_t outer) {
    out_.open(json::JsonKind::kObject);
    if (!scanner_.take('{')) return false;
    do {
      std::string_view key;
      if (!scanner_.take_key(key)) return false;
      out_.key(key);
      const bool are_items = key == "items" && scanner_.peek() == '[';
      if (are_items ? !take_items(outer + kListDepth) : !copy(outer + 1)) return false;
    } while (scanner_.take(','));
    out_.close();
    return scanner_.take('}');
  }

  bool copy(std::size_t outer) {
    json::JsonValue value;
    if (!scanner_.parse(outer, value)) return false;
    out_.copy(value, scanner_.numbers());
    return true;
  }

  bool take_items(std::size_t outer) {
    out_.open(json::JsonKind::kArray);
    if (!scanner_.take('[')) return false;
    if (!scanner_.take(']')) {
      do {
        if (!slim(outer)) return false;
      } while (scanner_.take(','));
      if (!scanner_.take(']')) return false;
    }
    out_.close();
    return true;
  }

  bool slim(std::size_t outer) {
    json::JsonValue object;
    if (!scanner_.parse(outer, object)) return false;
    PartWriter(scanner_.numbers(), times_, out_).write_object(object);
    return true;
  }

  std::size_t bytes_;
  json::JsonBuilder& out_;
  json::JsonScanner scanner_;
  LatestTime times_;
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

bool slim_objects(const json::JsonText& text, std::size_t max_depth, Instants instants, json::JsonBuilder& out) {
  return Slimmer(text, max_depth, instants, out).run();
}

std::optional<InputError> SlimDocument::parse(const json::JsonText& text, json::JsonLimits limits, Instants instants) {
  if (slim_objects(text, limits.max_depth, instants, slim_)) {
    root_ = slim_.root();
  } else {
    if (auto error = whole_.parse(join_documents(text.all()), limits)) return error;
    root_ = whole_.root();
  }
  if (holds_kubernetes_objects(root_)) return std::nullopt;
  return InputError{ErrorCode::kUnsupportedFormat, "$",
                    "the input contains no Kubernetes objects: apiVersion and kind are missing"};
}

void slim_object(json::JsonValue object, const SlimObject& how, json::JsonBuilder& out) {
  MUSTER_REQUIRE(object.is(json::JsonKind::kObject));
  LatestTime times;
  json::NumberCursor numbers;
  times.drop_all();
  out.clear();
  PartWriter(numbers, times, out, &how).write_single(object);
}

}  // namespace muster::kubernetes
