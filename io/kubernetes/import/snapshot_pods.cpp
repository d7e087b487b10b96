#include "io/kubernetes/import/snapshot_pods.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "io/kubernetes/object/instants.h"
#include "io/muster_v1/odd_pods.h"
#include "io/muster_v1/pod_spec_reader.h"
#include "model/base/words.h"

namespace muster::kubernetes {

namespace {

using muster_v1::SnapshotInput;
using muster_v1::SpecSignature;

// Lists of which each element is added.
void add_all(SpecSignature& signature, KubernetesReading& in, const std::vector<json::JsonValue>& values) {
  signature.add(std::ssize(values));
  for (const json::JsonValue value : values) signature.add(in, value);
}

void add_terms(SpecSignature& signature, const NodeTerms& terms) {
  signature.add(std::ssize(terms));
  for (const NodeTerm& term : terms) {
    signature.add(std::ssize(term));
    for (const NodeRequirement& requirement : term) {
      signature.add(requirement.key);
      signature.add(requirement.op);
      signature.add(std::ssize(requirement.values) * 2 + (requirement.is_field ? 1 : 0));
      for (const std::string_view value : requirement.values) signature.add(value);
    }
  }
}

// A pod that must not be placed must not be moved either: the node where it runs is the only one that it accepts.
bool is_pinned(const KubernetesGangs& gangs, const KubernetesPod& pod) {
  return !gangs.held(pod).empty() && pod.state.is_on_node();
}

}  // namespace

void add_own(SpecSignature& signature, KubernetesReading& in, const KubernetesPod& pod) {
  signature.add(std::ssize(pod.requests));
  for (const RequestedAmount& requested : pod.requests) {
    signature.add(requested.resource);
    signature.add(whole_units(requested));
  }
  signature.add(static_cast<std::int64_t>(pod.gpus.request.kind));
  signature.add(pod.gpus.request.devices);
  signature.add(pod.gpus.request.amount);
  signature.add(in, pod.constraints.node_selector);
  signature.add(in, pod.constraints.tolerations);
  add_all(signature, in, pod.constraints.more_tolerations);
}

bool SnapshotPods::add(const KubernetesPod& pod) {
  SnapshotPod entry;
  if (read(pod, entry)) {
    if (!pod.unclear.empty()) set_unclear(pod.unclear, entry);
  } else {
    const InputError error = take_error();
    if (in_.strict) {
      in_.error = error;
      return false;
    }
    entry = readable_part(pod);
    set_unclear(reason_in(pod.source.object, error), entry);
    out_.with_paths = in_.with_paths = out_.snapshot.anomalies.more == 0;
  }
  out_.snapshot.pods.push_back(std::move(entry));
  return true;
}

InputError SnapshotPods::take_error() {
  return out_.error.code == ErrorCode::kNone ? std::exchange(in_.error, {}) : std::exchange(out_.error, {});
}

void SnapshotPods::set_unclear(const std::string& why, SnapshotPod& out) {
  muster_v1::hold_pod(out_, out, why);
  if (muster_v1::holds_room(out)) muster_v1::close_node_of(out_, out);
  out_.snapshot.anomalies.tell({ErrorCode::kUnclear, "pod", std::string(out.name), why + "; its gang is held"});
}

// Of its spec, what it requests; a running one accepts its node alone.
SnapshotPod SnapshotPods::readable_part(const KubernetesPod& pod) {
  SnapshotPod entry;
  identify(pod, entry);
  PodSpec spec, requested;
  if (read_requests(pod, requested) && read_gpus(pod, requested.gpu)) {
    spec = std::move(requested);
  } else {
    spec.resources = {{kPods, 1}};
  }
  if (pod.state.is_on_node() && !read_terms(pod, {name_term({pod.state.node})}, spec.node_affinity.required.emplace()))
    spec.node_affinity = {};
  entry.spec = out_.specs.keep(std::move(spec), out_.snapshot.pod_specs);
  if (!place(pod, entry)) {
    entry.devices.clear();
    if (entry.node.empty() && muster_v1::holds_room(entry)) entry.status = PodStatus::kGated;
    if (!muster_v1::holds_room(entry)) entry.node = {};
  }
  if (!read_labels(pod, entry.labels)) entry.labels.clear();
  set_rest(pod, entry);
  static_cast<void>(take_error());
  return entry;
}

void SnapshotPods::identify(const KubernetesPod& pod, SnapshotPod& out) {
  out.name = out_.keep(pod.full_name());
  out.namespace_name = out_.keep(pod.namespace_name, out_.last.namespace_name);
  if (pod.membership.gang >= 0) {
    out.gang = out_.keep(gangs_.name(pod), out_.last.gang);
    out.subgroup = out_.keep(pod.membership.subgroup, out_.last.subgroup);
  }
}

bool SnapshotPods::read(const KubernetesPod& pod, SnapshotPod& out) {
  identify(pod, out);
  if (!find_spec(pod, out.spec) || !place(pod, out) || !read_labels(pod, out.labels)) return false;
  set_rest(pod, out);
  return true;
}

// What cannot be wrong.
void SnapshotPods::set_rest(const KubernetesPod& pod, SnapshotPod& out) {
  out.nominated_node = out_.keep(pod.state.nominated_node, out_.last.nominated);
  out.scheduler.binds_volumes = pod.volumes.has_unbound_claim;
  if (pod.constraints.scheduler != kDefaultScheduler)
    out.scheduler.name = out_.keep(pod.constraints.scheduler, out_.last.scheduler);
  set_owner(pod.owner.top, out);
  if (pod.membership.gang < 0) set_own_terms(pod, out);
}

// A pod with a gate of the cluster waits for that one first.
bool SnapshotPods::place(const KubernetesPod& pod, SnapshotPod& out) {
  const PodState& state = pod.state;
  const std::string_view held = state.status == PodStatus::kPending ? gangs_.held(pod) : std::string_view();
  out.status = held.empty() ? state.status : PodStatus::kGated;
  out.notes.held = out_.keep(held, out_.last.held);
  out.node = out_.keep(state.node, out_.last.node);
  out.started = instant_of(state.started);
  out.created = instant_of(state.created);
  out.devices = pod.gpus.devices;
  std::ranges::sort(out.devices);
  const json::JsonValue culprit = pod.source.object;
  if (muster_v1::holds_room(out) && out.node.empty()) return out_.fail_missing(culprit, "node");
  const bool waits = out.status == PodStatus::kPending || out.status == PodStatus::kGated;
  if (waits && !out.node.empty()) return out_.fail_value(culprit, "a pending or gated pod must not have a node");
  if (std::ranges::adjacent_find(out.devices) != out.devices.end())
    return out_.fail_value(culprit, "it has a device twice");
  const std::int32_t wanted = out_.snapshot.pod_specs[out.spec].gpu.devices;
  return out.devices.empty() || std::ssize(out.devices) == wanted ||
         out_.fail_value(culprit,
                         "it requests " + counted(wanted, "device") + " but has " + std::to_string(out.devices.size()));
}

// Those that what would make the pod adds come first.
bool SnapshotPods::read_labels(const KubernetesPod& pod, Labels& out) {
  if (pod.labels.own && !out_.read_labels(pod.labels.own, out)) return false;
  if (pod.labels.added.empty()) return true;
  std::erase_if(out, [&](const auto& own) {
    return std::ranges::any_of(pod.labels.added, [&](const auto& added) { return added.first == own.first; });
  });
  for (const auto& [key, value] : pod.labels.added) out.emplace_back(out_.keep(key), out_.keep(value));
  std::ranges::sort(out);
  return true;
}

// A name with a slash is none of Kubernetes.
void SnapshotPods::set_owner(const ObjectName& owner, SnapshotPod& out) {
  const auto is_name = [](std::string_view text) { return !text.empty() && text.find('/') == std::string_view::npos; };
  if (!is_name(owner.kind) || !is_name(owner.name)) return;
  out.notes.owner = out_.keep(std::string(owner.kind).append("/").append(owner.name), out_.last.owner);
}

void SnapshotPods::set_own_terms(const KubernetesPod& pod, SnapshotPod& out) {
  const std::int32_t priority = gangs_.priority_of(pod);
  const std::string_view queue = pod.membership.labels.kueue_queue;
  GangTerms terms;
  terms.queue = out_.keep(queue.empty() ? queues_.common_queue() : queues_.kueue().name_of(pod.namespace_name, queue),
                          out_.last.queue);
  terms.priority = priority;
  terms.preemptible = priority < kSystemPriority && !pod.owner.is_fixed && !pod.state.is_protected &&
                      pod.membership.dialect.allows_preemption.value_or(true);
  if (pod.priority.never_preempts) terms.preemption_policy = PreemptionPolicy::kNever;
  terms.expected_duration = pod.run_time.value();
  muster_v1::keep_own_terms(out_, terms, out);
}

// Everything that read_spec reads is in the signature.
bool SnapshotPods::find_spec(const KubernetesPod& pod, PodSpecIndex& out) {
  const PodConstraints& constraints = pod.constraints;
  const NodeTerm of_gang = gangs_.nodes(pod);
  SpecSignature& signature = signature_;
  signature.clear();
  signature.add("Pod");
  if (pod.source.signature != nullptr) {
    signature.add(*pod.source.signature);
  } else {
    add_own(signature, in_, pod);
  }
  if (is_pinned(gangs_, pod)) {
    signature.add(pod.state.node);
  } else {
    signature.add(in_, constraints.node_affinity);
    signature.add(constraints.node_terms ? 1 : 0);
    if (constraints.node_terms) add_terms(signature, *constraints.node_terms);
    add_terms(signature, {of_gang});
  }
  signature.add(pod.volumes.node_terms ? 1 : 0);
  if (pod.volumes.node_terms) add_terms(signature, *pod.volumes.node_terms);
  for (const PodTermValues* terms : {&constraints.affinity, &constraints.anti_affinity}) {
    signature.add(in_, terms->required);
    add_all(signature, in_, terms->preferred);
  }
  signature.add(in_, constraints.topology_spread);
  for (const HostPort& port : constraints.host_ports) {
    signature.add(port.port * 4 + static_cast<std::int64_t>(port.protocol));
    signature.add(port.address);
  }
  if (const auto known = out_.specs.find(signature)) {
    out = *known;
    const auto ignored = ignored_.empty() ? ignored_.end() : ignored_.find(signature.text());
    if (ignored != ignored_.end()) remark_on_tolerations(pod, ignored->second);
    return true;
  }
  PodSpec spec;
  if (!read_spec(pod, of_gang, spec)) return false;
  out = out_.specs.add(std::move(spec), out_.snapshot.pod_specs);
  return true;
}

bool SnapshotPods::read_spec(const KubernetesPod& pod, const NodeTerm& of_gang, PodSpec& out) {
  const PodConstraints& constraints = pod.constraints;
  if (!read_requests(pod, out) || !read_gpus(pod, out.gpu)) return false;
  if (constraints.node_selector && !out_.read_labels(constraints.node_selector, out.node_selector)) return false;
  if (!read_node_affinity(pod, of_gang, out.node_affinity)) return false;
  if (pod.volumes.node_terms && !read_terms(pod, *pod.volumes.node_terms, out.volume_terms.emplace())) return false;
  if (!read_tolerations(pod, constraints.tolerations, out.tolerations)) return false;
  for (const json::JsonValue list : constraints.more_tolerations) {
    if (!read_tolerations(pod, list, out.tolerations)) return false;
  }
  for (HostPort port : constraints.host_ports) {
    port.address = out_.keep(port.address);
    out.host_ports.push_back(port);
  }
  return read_pod_terms(constraints.affinity, out.affinity, out.preferred_affinity) &&
         read_pod_terms(constraints.anti_affinity, out.anti_affinity, out.preferred_anti_affinity) &&
         read_spread(constraints.topology_spread, out.topology_spread);
}

bool SnapshotPods::read_requests(const KubernetesPod& pod, PodSpec& out) {
  bool has_pods = false;
  for (const RequestedAmount& requested : pod.requests) {
    ResourceAmount amount;
    amount.amount = whole_units(requested);
    if (amount.amount < 0)
      return out_.fail(pod.source.object, ErrorCode::kTooLarge, "it requests more than 64 bits can hold");
    if (amount.amount == 0) continue;
    if (!out_.find_resource(requested.resource, pod.source.object, amount.resource)) return false;
    has_pods = has_pods || amount.resource == kPods;
    out.resources.push_back(amount);
  }
  if (!has_pods) out.resources.push_back({kPods, 1});
  return out_.sort_resources(out.resources, pod.source.object);
}

bool SnapshotPods::read_gpus(const KubernetesPod& pod, GpuRequest& out) {
  constexpr std::int64_t kWhole = 1'000'000;
  const GpuShare& request = pod.gpus.request;
  if (request.kind == GpuRequestKind::kNone || (request.kind == GpuRequestKind::kWhole && request.devices == 0))
    return true;
  const bool is_fraction = request.kind == GpuRequestKind::kFraction;
  if (request.devices < 1 || request.devices > muster_v1::kMaxDevices)
    return out_.fail_value(pod.source.object,
                           "it requests more devices than " + std::to_string(muster_v1::kMaxDevices));
  if (is_fraction && (request.amount < 1 || request.amount > kWhole)) {
    return out_.fail_value(pod.source.object,
                           "a fraction must be greater than 0, at most 1, and have at most six decimals");
  }
  if (request.kind == GpuRequestKind::kMemory && request.amount < 1)
    return out_.fail_value(pod.source.object, "device memory must be greater than 0");
  out = {request.kind, static_cast<std::int32_t>(request.devices),
         request.kind == GpuRequestKind::kWhole ? 0 : request.amount};
  return true;
}

// Tolerations with unknown operators are left out: tolerating less is always safe.
bool SnapshotPods::read_tolerations(const KubernetesPod& pod, json::JsonValue list, std::vector<Toleration>& out) {
  static constexpr std::array<std::string_view, 4> kKeys = {"effect", "key", "operator", "value"};
  if (!list) return true;
  for (const json::JsonValue element : list.elements()) {
    std::array<json::JsonValue, 4> found;
    std::string_view key, op, value;
    if (!in_.expect(element, json::JsonKind::kObject) || !in_.take(element, kKeys, found) || !in_.text(found[1], key) ||
        !in_.text(found[2], op) || !in_.text(found[3], value)) {
      return false;
    }
    if (!op.empty() && op != "Exists" && op != "Equal") {
      ++ignored_[signature_.text()];
      remark_on_tolerations(pod, 1);
    } else if (!muster_v1::add_toleration(out_, element, {key, value, op == "Exists", found[0]}, out)) {
      return false;
    }
  }
  return true;
}

void SnapshotPods::remark_on_tolerations(const KubernetesPod& pod, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    in_.remarks.add("a toleration with an operator other than Exists and Equal is ignored", pod.full_name());
}

// What the pod asks of nodes, or Kueue's flavors in its place, and what its gang asks.
bool SnapshotPods::read_node_affinity(const KubernetesPod& pod, const NodeTerm& of_gang, NodeAffinity& out) {
  const PodConstraints& constraints = pod.constraints;
  if (is_pinned(gangs_, pod)) return read_terms(pod, {name_term({pod.state.node})}, out.required.emplace());
  if (constraints.node_affinity && !muster_v1::read_node_affinity(out_, constraints.node_affinity, out)) return false;
  if (of_gang.empty() && !constraints.node_terms) return true;
  std::optional<NodeTerms> nodes = constraints.node_terms;
  if (!nodes && out.required) {
    json::JsonValue required, terms;
    if (!in_.take(constraints.node_affinity, "requiredDuringSchedulingIgnoredDuringExecution", required) ||
        !in_.take(required, "nodeSelectorTerms", terms) || !read_node_terms(in_, terms, nodes.emplace())) {
      return false;
    }
  }
  if (!of_gang.empty()) nodes = nodes ? both(*nodes, {of_gang}) : NodeTerms{of_gang};
  out.required.emplace();
  return read_terms(pod, *nodes, *out.required);
}

bool SnapshotPods::read_terms(const KubernetesPod& pod, const NodeTerms& terms, std::vector<NodeSelectorTerm>& out) {
  for (const NodeTerm& term : terms) {
    NodeSelectorTerm& made = out.emplace_back();
    for (const NodeRequirement& one : term) {
      if (!muster_v1::add_requirement(out_, pod.source.object, {one.key, one.op, one.values, one.is_field}, made))
        return false;
    }
  }
  return true;
}

// Keys of a term and of a constraint that the format has not are passed over, but not those of their selectors.
bool SnapshotPods::read_pod_terms(const PodTermValues& terms, std::vector<PodTerm>& required,
                                  std::vector<PreferredPodTerm>& preferred) {
  static constexpr std::array<std::string_view, 2> kKeys = {"podAffinityTerm", "weight"};
  const auto read_term = [&](json::JsonValue term, PodTerm& out) {
    out_.passes_over_once = true;
    return muster_v1::read_pod_term(out_, term, out);
  };
  if (terms.required) {
    for (const json::JsonValue term : terms.required.elements()) {
      if (!read_term(term, required.emplace_back())) return false;
    }
  }
  for (const json::JsonValue term : terms.preferred) {
    std::array<json::JsonValue, 2> found;
    PreferredPodTerm& made = preferred.emplace_back();
    std::int64_t weight = 0;
    if (!in_.take(term, kKeys, found)) return false;
    if (!found[0]) return in_.fail_missing(term, kKeys[0]);
    if (!found[1]) return in_.fail_missing(term, kKeys[1]);
    if (!in_.read_integer(found[1], 1, 100, weight) || !read_term(found[0], made.term)) return false;
    made.weight = static_cast<std::int32_t>(weight);
  }
  return true;
}

bool SnapshotPods::read_spread(json::JsonValue list, std::vector<SpreadConstraint>& out) {
  if (!list) return true;
  for (const json::JsonValue constraint : list.elements()) {
    out_.passes_over_once = true;
    if (!muster_v1::read_spread(out_, constraint, out.emplace_back())) return false;
  }
  return true;
}

}  // namespace muster::kubernetes
