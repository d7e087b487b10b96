// One object of a Kubernetes list, and its typed values. As in Kubernetes, a value of `null` is an absent one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_writer.h"
#include "io/json/reading.h"
#include "io/kubernetes/known/unread_log.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

struct KnownKind;
class UnreadableKinds;

struct KubernetesPod;

// How many volumes of each CSI driver can be attached to a node.
//
// A driver of which some node has a limit.
struct AttachLimit {
  std::string resource;  // that stands for an attached volume of the driver
  std::map<std::string_view, std::int64_t> of_node;
  // A node without a limit has as many as Kubernetes can count: the largest `allocatable.count`.
  std::int64_t on(std::string_view node) const {
    const auto own = of_node.find(node);
    return own == of_node.end() ? std::numeric_limits<std::int32_t>::max() : own->second;
  }
};

// Views into the document, whose drivers and nodes it names.
struct AttachLimits {
  std::map<std::string_view, AttachLimit> of_driver;
  bool is_known = false;  // there is a CSINode
};

// The annotation that tells how long a pod is expected to run, unless the options name another one.
inline constexpr std::string_view kDurationAnnotation = "muster/expected-duration";

// What marks KAI's pods and names their queues; its configuration may set both.
struct KaiNames {
  std::string_view scheduler = "kai-scheduler", queue_label = "kai.scheduler/queue";
};

// The annotation of a pod whose gate was taken away to run on the node that it names.
inline constexpr std::string_view kNodeAnnotation = "muster/node";

// Shape: views into the parsed document. Parts that are absent are values without a tape.
struct KubernetesObject {
  json::JsonValue value;
  std::string_view group, version, kind;  // group "": core
  std::string_view namespace_name, name;
  json::JsonValue metadata, spec, status;
  std::string_view created;               // RFC 3339; empty: unknown
  const KubernetesPod* as_pod = nullptr;  // read already, where the labels of all namespaces are known (KeptObject)
  known::Hold hold;                       // what its keys mean that are not read

  // "Pod default/web", for people.
  std::string title() const;
  // "default/web", or "web".
  std::string full_name() const;
  known::Subject keys() const { return {group, kind, metadata, spec, status}; }
};

// What was ignored or held back, counted, with the first object concerned.
class KubernetesRemarks {
 public:
  // `what` reads after a count: "preferred pod anti-affinity is ignored".
  void add(std::string_view what, const KubernetesObject& object);
  void add(std::string_view what, std::string_view title);
  // One sentence each: "12 times: preferred pod anti-affinity is ignored; first: Pod default/web".
  std::vector<std::string> sentences() const;

 private:
  struct Remark {
    std::string what;
    std::int64_t count;
    std::string first;
  };
  std::vector<Remark> remarks_;
};

// Reading of Kubernetes objects. As in Reading, every function returns false after an error.
struct KubernetesReading : json::Reading {
  KubernetesReading() : json::Reading{true, nullptr, {}} {}

  KubernetesRemarks remarks;
  known::UnreadLog unread;
  bool has_namespaces = false;  // the labels of all namespaces are known
  AttachLimits attach_limits;
  bool strict = true;                                          // what does not add up is an error
  std::string_view duration_annotation = kDurationAnnotation;  // that tells how long something runs
  KaiNames kai;
  std::string_view planned_gate;                // as in KubernetesOptions
  const UnreadableKinds* unreadable = nullptr;  // none: all kinds can be read
  std::vector<Warning> warnings;
  json::JsonValue culprit;  // of the last fail_value

  // As in Reading; take_reason tells the value.
  [[nodiscard]] bool fail_value(json::JsonValue value, std::string message) {
    culprit = value;
    return Reading::fail_value(value, std::move(message));
  }
  // What is wrong with the object, with the place in it and the value there, if that is short:
  // `metadata.annotations["gpu-memory"] is "2000mb": must be a whole number`. The error is over then.
  [[nodiscard]] std::string take_reason(const KubernetesObject& object);
  // Notes what the object has and the import does not read, and sets its `hold`.
  void look_for_unread(KubernetesObject& object);
  // Records the error as a warning that names the object. `outcome`: how it was handled.
  void warn(const KubernetesObject& object, std::string_view outcome);
  // The attempt has failed, which is not an error.
  [[nodiscard]] bool tried(bool is_done) {
    if (!is_done) error = {};
    return is_done;
  }

  // Whether the attempt, which returns whether it has succeeded, did; its failure is no error, and costs no path.
  template <class Attempt>
  [[nodiscard]] bool try_without_path(Attempt attempt) {
    const bool had_paths = std::exchange(with_paths, false);
    const bool is_done = tried(attempt());
    with_paths = had_paths;
    return is_done;
  }

  // The members of `object` that have one of `keys`, in their order. An absent object has none. Errors: WrongType;
  // DuplicateKey, of the requested keys.
  template <std::size_t N>
  [[nodiscard]] bool take(json::JsonValue object, const std::array<std::string_view, N>& keys,
                          std::array<json::JsonValue, N>& out) {
    out = {};
    if (!object) return true;
    if (!expect(object, json::JsonKind::kObject)) return false;
    std::size_t next = 0;  // the keys stand in the order in which objects mostly have them
    std::uint32_t seen = 0;
    static_assert(N <= 32);
    for (const json::JsonMember member : object.members()) {
      std::size_t at = next;
      std::size_t tried = 0;
      for (; tried < N && keys[at] != member.key; ++tried) at = at + 1 == N ? 0 : at + 1;
      if (tried == N) continue;
      if ((seen >> at & 1) != 0) return fail_duplicate(member.value, member.key);
      seen |= std::uint32_t{1} << at;
      next = at + 1 == N ? 0 : at + 1;
      if (!member.value.is(json::JsonKind::kNull)) out[at] = member.value;
    }
    return true;
  }
  // One member of an object that may be absent.
  [[nodiscard]] bool take(json::JsonValue object, std::string_view key, json::JsonValue& out);

  // Each leaves `out` as it is if the value is absent.
  [[nodiscard]] bool text(json::JsonValue value, std::string_view& out);
  [[nodiscard]] bool flag(json::JsonValue value, bool& out);
  [[nodiscard]] bool count(json::JsonValue value, std::optional<std::int32_t>& out);     // >= 0, in 32 bits
  [[nodiscard]] bool priority(json::JsonValue value, std::optional<std::int32_t>& out);  // any, in 32 bits
  [[nodiscard]] bool instant(json::JsonValue value, std::string_view& out);              // RFC 3339, kept as text
  // A list; an absent one is empty.
  [[nodiscard]] bool has_elements(json::JsonValue list, bool& out);
  // The decimal digits of a label or annotation.
  [[nodiscard]] bool digits(json::JsonValue value, std::int64_t& out);
};

// The controller among `owners`, metadata.ownerReferences, else the first of them; leaves both as they are without any.
[[nodiscard]] bool read_controller(KubernetesReading& reading, json::JsonValue owners, std::string_view& kind,
                                   std::string_view& name);

// The first member of this key, whatever its kind. None: there is none, or `object` is absent or no object.
json::JsonValue member_of(json::JsonValue object, std::string_view key);

// `group/version` of an apiVersion; the group of `v1` is "".
void split_api_version(std::string_view api_version, KubernetesObject& object);

// What is wrong with an object, with the place in it: "spec.tolerations[0]: Exists takes no value".
std::string reason_in(json::JsonValue object, const InputError& error);

// Whether instant `a` is before `b`. Requires both to be RFC 3339.
bool is_earlier(std::string_view a, std::string_view b);

// Copies a value as JSON, without members that are null. `numbers`: that of its reader.
void write_json(json::JsonWriter& writer, json::NumberCursor& numbers, json::JsonValue value);

// How Kubernetes objects are imported.
struct KubernetesOptions {
  bool expand = false;                         // pods that templates have not made yet are there, too
  std::vector<std::string> expand_only = {};   // of the objects with these titles (manifest.h); empty: of all
  std::optional<Nanoseconds> time = {};        // now; none: the latest instant in the objects,
  std::optional<Nanoseconds> not_before = {};  // or this, if it is later
  // `policy` of the snapshot, an object in JSON, without spaces around it and without expectedDurations; empty: none
  std::string policy = {};
  std::optional<Nanoseconds> grace_period = {};  // for KAI's groups that do not set theirs; none: that of the format
  std::string kai_scheduler = {};  // empty: KAI's default, as is the label that names the queue of its pods
  std::string kai_queue_label = {};
  // The scheduling gate of the pods that are to be planned: they count as if they had it not, and all other pods that
  // wait are left to their schedulers. Empty: none
  std::string planned_gate = {};
  // Pods that come before the object of their group are held until it comes, where other pods of the group may still be
  // missing: in a cluster that is watched, kinds are seen one after another. Else such pods may count as single ones.
  bool awaits_groups = false;
  // Of known_kinds(): what depends on one is held (import/unreadable_kinds.h).
  std::vector<const KnownKind*> unreadable = {};
  std::string duration_annotation = {};  // that tells how long a pod runs; empty: kDurationAnnotation
  // An inconsistent object is an error; else it is left out, or its pods are held, and a warning names it.
  bool strict = true;
  bool remark_on_templates = true;        // each kind that creates pods, if it is not expanded
  std::vector<std::string> remarks = {};  // on how the objects were read; told before all others
};

// Sets what `options` say about single objects.
void configure(const KubernetesOptions& options, KubernetesReading& reading);

// Whether both say the same about single objects.
bool reads_alike(const KubernetesOptions& one, const KubernetesOptions& other);

}  // namespace muster::kubernetes
