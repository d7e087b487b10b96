// pods[] and podTemplates
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "io/muster_v1/odd_pods.h"
#include "io/muster_v1/pod_spec_reader.h"
#include "io/muster_v1/shared_fields.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/base/parallel.h"
#include "model/base/words.h"

namespace muster::muster_v1 {

namespace {

// A pod whose keys are all read, before they are checked against one another.
struct PodDraft {
  SnapshotPod pod;
  GangTerms terms;
  SpecValues spec;
  json::JsonValue own_term;  // a key that only a pod without a gang may have
  json::JsonValue template_name, status, devices, subgroup, held;
};

constexpr std::array<std::pair<std::string_view, PodStatus>, 6> kStatuses = {{{"pending", PodStatus::kPending},
                                                                              {"running", PodStatus::kRunning},
                                                                              {"releasing", PodStatus::kReleasing},
                                                                              {"gated", PodStatus::kGated},
                                                                              {"succeeded", PodStatus::kSucceeded},
                                                                              {"failed", PodStatus::kFailed}}};

template <std::size_t Key>
bool note_spec(SnapshotInput&, json::JsonValue v, PodDraft& draft) {
  draft.spec[Key] = v;
  return true;
}

template <std::size_t Key>
bool note_value(SnapshotInput&, json::JsonValue v, SpecValues& values) {
  values[Key] = v;
  return true;
}

template <bool (*Read)(SnapshotInput&, json::JsonValue, PodDraft&)>
bool read_own_term(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  if (!draft.own_term) draft.own_term = v;
  return Read(in, v, draft);
}

bool read_created(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  return in.read_instant(v, draft.pod.created.emplace());
}

bool read_devices(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  if (!in.expect(v, json::JsonKind::kArray)) return false;
  draft.devices = v;
  std::vector<std::int32_t>& devices = draft.pod.devices;
  devices.reserve(v.size());
  for (const json::JsonValue element : v.elements()) {
    std::int64_t device = 0;
    if (!in.read_integer(element, 0, kMaxDevices - 1, device)) {
      if (!in.settling) return false;
      device = kMaxDevices;  // no node has it
    }
    devices.push_back(static_cast<std::int32_t>(device));
  }
  std::ranges::sort(devices);
  return in.settling || std::ranges::adjacent_find(devices) == devices.end() || in.fail_value(v, "duplicate device");
}

bool read_status(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  draft.status = v;
  return json::read_choice(in, v, kStatuses, draft.pod.status);
}

bool read_held(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  draft.held = v;
  return in.read_shared_name(v, in.last.held, draft.pod.notes.held);
}

// `Job/train`: no kind and no name of Kubernetes has a slash.
bool is_kind_and_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == std::string_view::npos;
}

bool read_pod_owner(SnapshotInput& in, json::JsonValue v, PodDraft& draft) {
  std::string_view& owner = draft.pod.notes.owner;
  const std::string_view previous = in.last.owner;
  const bool is_read = in.read_shared_name(v, in.last.owner, owner);
  if (is_read && (owner.data() == previous.data() || is_kind_and_name(owner))) return true;
  in.last.owner = owner = {};
  if (in.settling) return true;
  return is_read && in.fail_value(v, "must be the kind and the name of an object, such as \"Job/train\"");
}

using PodField = json::Field<SnapshotInput, PodDraft>;

constexpr std::array<PodField, 38> kPodFields = {
    {PodField{"name", [](SnapshotInput& in, json::JsonValue v, PodDraft& d) { return in.read_name(v, d.pod.name); },
              true},
     {"gang", [](SnapshotInput& in, json::JsonValue v,
                 PodDraft& d) { return in.read_shared_name(v, in.last.gang, d.pod.gang); }},
     {"subgroup",
      [](SnapshotInput& in, json::JsonValue v, PodDraft& d) {
        d.subgroup = v;
        return in.read_shared_name(v, in.last.subgroup, d.pod.subgroup);
      }},
     {"template",
      [](SnapshotInput& in, json::JsonValue v, PodDraft& d) {
        d.template_name = v;
        return in.expect(v, json::JsonKind::kString);
      }},
     {kSpecKeys[0], note_spec<0>},
     {kSpecKeys[1], note_spec<1>},
     {kSpecKeys[2], note_spec<2>},
     {kSpecKeys[3], note_spec<3>},
     {kSpecKeys[4], note_spec<4>},
     {kSpecKeys[5], note_spec<5>},
     {kSpecKeys[6], note_spec<6>},
     {kSpecKeys[7], note_spec<7>},
     {"unboundVolumes",
      [](SnapshotInput& in, json::JsonValue v, PodDraft& d) { return in.read(v, d.pod.scheduler.binds_volumes); }},
     {kSpecKeys[8], note_spec<8>},
     {kSpecKeys[9], note_spec<9>},
     {kSpecKeys[10], note_spec<10>},
     {"status", read_status},
     {"held", read_held},
     {"node", [](SnapshotInput& in, json::JsonValue v,
                 PodDraft& d) { return in.read_shared_name(v, in.last.node, d.pod.node); }},
     {"gpus", read_devices},
     {"started",
      [](SnapshotInput& in, json::JsonValue v, PodDraft& d) { return in.read_instant(v, d.pod.started.emplace()); }},
     {"created", read_created},
     {"labels", [](SnapshotInput& in, json::JsonValue v, PodDraft& d) { return in.read_labels(v, d.pod.labels); }},
     {"namespace", [](SnapshotInput& in, json::JsonValue v,
                      PodDraft& d) { return in.read_shared_name(v, in.last.namespace_name, d.pod.namespace_name); }},
     {"nominatedNode", [](SnapshotInput& in, json::JsonValue v,
                          PodDraft& d) { return in.read_shared_name(v, in.last.nominated, d.pod.nominated_node); }},
     {"schedulerName", [](SnapshotInput& in, json::JsonValue v,
                          PodDraft& d) { return in.read_shared_name(v, in.last.scheduler, d.pod.scheduler.name); }},
     {"owner", read_pod_owner},
     {"queue", read_own_term<read_term_queue<PodDraft>>},
     {"priorityClass", read_own_term<read_term_class<PodDraft>>},
     {"priority", read_own_term<read_term_priority<PodDraft>>},
     {"preemptible", read_own_term<read_term_preemptible<PodDraft>>},
     {"preemptionPolicy", read_own_term<read_term_policy<PodDraft>>},
     {"timeout", read_own_term<read_term_timeout<PodDraft>>},
     {"expectedDuration", read_own_term<read_term_expected_duration<PodDraft>>},
     {"expectedEnd", read_own_term<read_term_expected_end<PodDraft>>},
     {"checkpointed", read_own_term<read_term_checkpointed<PodDraft>>},
     {"weight", read_own_term<read_term_weight<PodDraft>>},
     {"unclear", [](SnapshotInput& in, json::JsonValue v, PodDraft&) { return read_unclear(in, v); }}}};

// A template has the keys from `resources` to `tolerations`, and `hostPorts`.
constexpr std::array<json::Field<SnapshotInput, SpecValues>, 7> kTemplateFields = {{{kSpecKeys[0], note_value<0>},
                                                                                    {kSpecKeys[1], note_value<1>},
                                                                                    {kSpecKeys[2], note_value<2>},
                                                                                    {kSpecKeys[3], note_value<3>},
                                                                                    {kSpecKeys[4], note_value<4>},
                                                                                    {kSpecKeys[5], note_value<5>},
                                                                                    {kSpecKeys[7], note_value<7>}}};

bool find_or_read_spec(SnapshotInput& in, const SpecValues& values, PodSpecIndex& out) {
  if (const auto known = in.specs.find(in, values)) {
    out = *known;
    return true;
  }
  PodSpec spec;
  if (!read_pod_spec(in, values, spec)) return false;
  out = in.specs.add(std::move(spec), in.snapshot.pod_specs);
  return true;
}

// Of a template of an earlier document, of which only the outcome is known.
bool resolve_earlier(SnapshotInput& in, const PodSpec& earlier, const SpecValues& own, PodSpecIndex& out) {
  PodSpec spec = earlier;
  if (!replace_in_pod_spec(in, own, spec)) return false;
  out = in.specs.keep(std::move(spec), in.snapshot.pod_specs);
  return true;
}

std::string_view namespace_of(std::string_view pod_name) {
  const std::size_t slash = pod_name.find('/');
  return slash == std::string_view::npos || slash == 0 ? "default" : pod_name.substr(0, slash);
}

// Faults in these three are settled when nodes and gangs are known.
bool check_gang(SnapshotInput& in, PodDraft& draft) {
  if (in.settling) {
    if (draft.pod.gang.empty()) draft.pod.subgroup = {};
    return true;
  }
  if (draft.pod.gang.empty()) {
    return !draft.subgroup || in.fail_value(draft.subgroup, "subgroup is set, but gang is not");
  }
  return !draft.own_term || in.fail_value(draft.own_term, "the pod names a gang; set this key on the gang instead");
}

bool settle_status(SnapshotInput& in, json::JsonValue object, PodDraft& draft) {
  SnapshotPod& pod = draft.pod;
  const bool has_node = !pod.node.empty();
  if (!draft.status) pod.status = has_node ? PodStatus::kRunning : PodStatus::kPending;
  if (in.settling) {
    if (!has_node) pod.devices.clear();
    return true;
  }
  const bool holds = pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
  const bool waits = pod.status == PodStatus::kPending || pod.status == PodStatus::kGated;
  if (holds && !has_node) return in.fail_missing(object, "node");
  if (waits && has_node) return in.fail_value(draft.status, "a pending or gated pod must not have a node");
  if (draft.held && !waits) return in.fail_value(draft.held, "only a pending or gated pod can be held");
  if (draft.held) pod.status = PodStatus::kGated;
  if (draft.devices && !has_node) return in.fail_value(draft.devices, "gpus is set, but the pod has no node");
  return true;
}

bool check_devices(SnapshotInput& in, const PodDraft& draft) {
  const std::int64_t wanted = in.snapshot.pod_specs[draft.pod.spec].gpu.devices;
  const std::int64_t listed = std::ssize(draft.pod.devices);
  if (listed == 0 || listed == wanted || in.settling) return true;
  return in.fail_value(draft.devices,
                       "the pod requests " + counted(wanted, "device") + " but lists " + std::to_string(listed));
}

bool finish_pod(SnapshotInput& in, json::JsonValue object, PodDraft& draft) {
  SnapshotPod& pod = draft.pod;
  if (pod.namespace_name.empty()) pod.namespace_name = namespace_of(pod.name);
  if (!check_gang(in, draft) || !settle_status(in, object, draft)) return false;
  if (!resolve_spec(in, draft.template_name, draft.spec, pod.spec) || !check_devices(in, draft)) return false;
  if (pod.gang.empty() && (draft.own_term || pod.created)) keep_own_terms(in, draft.terms, pod);
  return true;
}

using PodIterator = json::JsonElements::Iterator;

// Reads them in turn, none once something is wrong. Returns the first that it has not read.
PodIterator read_range(SnapshotInput& in, PodIterator at, PodIterator end) {
  json::KeyOrder order;
  for (; at != end; ++at) {
    PodDraft draft;
    if (!json::read_fields(in, *at, kPodFields, draft, order) || !finish_pod(in, *at, draft)) break;
    in.snapshot.pods.push_back(std::move(draft.pod));
  }
  return at;
}

// What is known of a pod that cannot be read: its name, its gang and its node. A running one counts in its gang.
SnapshotPod stub_of(SnapshotInput& in, json::JsonValue element) {
  SnapshotPod pod;
  pod.name = in.keep(text_at(element, "name"));
  pod.gang = in.keep(text_at(element, "gang"));
  if (!pod.gang.empty()) pod.subgroup = in.keep(text_at(element, "subgroup"));
  pod.namespace_name = namespace_of(pod.name);
  pod.node = in.keep(text_at(element, "node"));
  const std::string_view status = text_at(element, "status");
  const auto known = std::ranges::find(kStatuses, status, &std::pair<std::string_view, PodStatus>::first);
  pod.status = known != kStatuses.end() ? known->second : pod.node.empty() ? PodStatus::kGated : PodStatus::kRunning;
  return pod;
}

bool add_stub(SnapshotInput& in, json::JsonValue element, const std::string& wrong) {
  SnapshotPod pod = stub_of(in, element);
  if (!pod.node.empty()) close_node_of(in, pod);
  if (pod.name.empty() || !find_or_read_spec(in, {}, pod.spec)) return false;
  if (holds_room(pod)) pod.status = pod.status == PodStatus::kRunning ? PodStatus::kSucceeded : PodStatus::kFailed;
  pod.node = {};
  hold_pod(in, pod, wrong);
  in.snapshot.pods.push_back(std::move(pod));
  return true;
}

// A pod with contradictory keys is planned as far as they do not matter. A pod that is only partly understood is held,
// and so is its gang.
void recover_pod(SnapshotInput& in, json::JsonValue element, InputError error) {
  const auto finish = [&](json::JsonValue e, PodDraft& d) { return finish_pod(in, e, d); };
  PodDraft draft;
  const bool is_contradiction = (error.code == ErrorCode::kInvalidValue || error.code == ErrorCode::kMissingKey) &&
                                read_again(in, element, kPodFields, draft, finish, UnknownKeys::kAsTold);
  if (!is_contradiction) draft = {};
  if (!is_contradiction && !read_again(in, element, kPodFields, draft, finish)) {
    const bool is_there = add_stub(in, element, what_is_wrong(error));
    return warn_of(in, {"pod", element}, std::move(error),
                   is_there ? "its gang is held, and nothing new is placed on its node" : "it is ignored");
  }
  const bool is_unclear = error.code == ErrorCode::kUnclear;
  if (!is_contradiction) hold_pod(in, draft.pod, what_is_wrong(error));
  if (is_unclear && holds_room(draft.pod)) close_node_of(in, draft.pod);
  in.snapshot.pods.push_back(std::move(draft.pod));
  warn_of(in, {"pod", element}, std::move(error), is_contradiction ? "this key is ignored" : "its gang is held");
}

// Reads them in turn to the end, unless something is wrong that is an error of the whole snapshot.
bool read_rest(SnapshotInput& in, PodIterator at, PodIterator end) {
  for (at = read_range(in, at, end); at != end; at = read_range(in, at, end)) {
    if (in.snapshot.anomalies.strict) return false;
    recover_pod(in, *at, std::exchange(in.error, {}));
    ++at;
  }
  return true;
}

// The start of each part of the list, and the end of the last. All but the last fill whole blocks.
std::vector<PodIterator> bounds_of_parts(json::JsonValue list, int threads) {
  constexpr std::size_t kStepsAPod = 5;  // as ranges_for counts them; more, but a part has to be begun and joined
  constexpr std::size_t kBlock = BlockVector<SnapshotPod>::kBlock;
  const std::size_t parts = ranges_for(kStepsAPod * list.size(), threads);
  const std::size_t each = list.size() / parts / kBlock * kBlock;
  std::vector<PodIterator> bounds{list.elements().begin()};
  for (std::size_t part = 1; part < parts && each > 0; ++part) {
    PodIterator at = bounds.back();
    for (std::size_t i = 0; i < each; ++i) ++at;
    bounds.push_back(at);
  }
  bounds.push_back(list.elements().end());
  return bounds;
}

// A part of the list that is read in parallel with others. It ends at a new resource, which only the whole can number.
class PodPart {
 public:
  PodPart(const SnapshotInput& whole, PodIterator first)
      : input_(whole, snapshot_), shared_(snapshot_.pod_specs.size()), next_(first) {}

  void read(PodIterator end) { next_ = read_range(input_, next_, end); }

  // Appends what it has read. Returns the first pod that it has not read.
  PodIterator append_to(SnapshotInput& whole) {
    Snapshot& all = whole.snapshot;
    std::vector<PodSpecIndex> specs;
    for (std::size_t i = shared_; i < snapshot_.pod_specs.size(); ++i)
      specs.push_back(whole.specs.keep(std::move(snapshot_.pod_specs[PodSpecIndex(i)]), all.pod_specs));
    const auto terms_before = static_cast<std::int32_t>(all.own_gang_terms.size());
    all.own_gang_terms.insert(all.own_gang_terms.end(), snapshot_.own_gang_terms.begin(),
                              snapshot_.own_gang_terms.end());
    const std::size_t pods = snapshot_.pods.size(), ranges = ranges_for(pods, whole.threads);
    parallel_for(ranges, whole.threads, [&](std::size_t range) {
      for (const PodIndex at : range_of<PodIndex>(pods, range, ranges)) {
        SnapshotPod& pod = snapshot_.pods[at.value()];
        if (pod.spec.value() >= shared_) pod.spec = specs[pod.spec.value() - shared_];
        if (pod.own_gang >= 0) pod.own_gang += terms_before;
      }
    });
    all.pods.append(std::move(snapshot_.pods));
    all.text.take(std::move(snapshot_.text));
    return next_;
  }

 private:
  Snapshot snapshot_;
  SnapshotInput input_;
  std::size_t shared_;  // specs that the whole has; all later ones are its own
  PodIterator next_;
};

}  // namespace

bool resolve_spec(SnapshotInput& input, json::JsonValue template_name, const SpecValues& own, PodSpecIndex& out) {
  if (!template_name) return find_or_read_spec(input, own, out);
  const auto found = input.templates.find(template_name.string());
  if (found == input.templates.end()) {
    const PodSpec* earlier = input.earlier_template ? input.earlier_template(template_name.string()) : nullptr;
    if (earlier != nullptr) return resolve_earlier(input, *earlier, own, out);
    return input.fail(template_name, ErrorCode::kUnknownName,
                      "unknown template \"" + std::string(template_name.string()) + "\"");
  }
  SpecValues values = found->second.values;
  bool has_own = false;
  for (std::size_t i = 0; i < kSpecKeyCount; ++i) {
    if (!own[i]) continue;
    values[i] = own[i];
    has_own = true;
  }
  if (has_own) return find_or_read_spec(input, values, out);
  out = found->second.spec;
  return true;
}

bool read_templates(SnapshotInput& input, json::JsonValue object) {
  if (!input.expect(object, json::JsonKind::kObject)) return false;
  for (const json::JsonMember member : object.members()) {
    PodTemplate pod_template;
    if (!json::read_fields(input, member.value, kTemplateFields, pod_template.values) ||
        !find_or_read_spec(input, pod_template.values, pod_template.spec)) {
      if (input.snapshot.anomalies.strict) return false;
      input.snapshot.anomalies.tell({input.error.code, "podTemplate", std::string(member.key),
                                     input.error.message + "; it is ignored, and pods that name it are held"});
      input.error = {};
      continue;
    }
    if (!input.templates.emplace(member.key, pod_template).second && input.snapshot.anomalies.strict)
      return input.fail_duplicate(member.value, member.key);
  }
  return true;
}

// Parts of a long list are read at the same time, each into a snapshot of its own. If one stops before its end,
// everything after that point is read sequentially. So errors are the same, and specs and resources have the same
// numbers, with any number of threads.
bool read_pods(SnapshotInput& input, json::JsonValue list) {
  if (!input.expect(list, json::JsonKind::kArray)) return false;
  const std::vector<PodIterator> bounds = bounds_of_parts(list, input.threads);
  std::deque<PodPart> parts;  // the second and all later ones
  for (std::size_t part = 1; part + 1 < bounds.size(); ++part) parts.emplace_back(input, bounds[part]);
  PodIterator next = bounds.front();
  parallel_for(bounds.size() - 1, input.threads, [&](std::size_t part) {
    if (part == 0) {
      next = read_range(input, next, bounds[1]);
    } else {
      parts[part - 1].read(bounds[part + 1]);
    }
  });
  if (next != bounds[1]) return read_rest(input, next, bounds.back());
  for (std::size_t part = 1; part + 1 < bounds.size(); ++part) {
    next = parts[part - 1].append_to(input);
    if (next != bounds[part + 1]) return read_rest(input, next, bounds.back());
  }
  return true;
}

void add_pod_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("pod", kPodFields));
  out.push_back(json::known_object("podTemplate", kTemplateFields));
}

}  // namespace muster::muster_v1
