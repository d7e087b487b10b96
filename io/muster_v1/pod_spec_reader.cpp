#include "io/muster_v1/pod_spec_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace muster::muster_v1 {

namespace {

// The four keys of `gpu`, before they are weighed against one another.
struct GpuDraft {
  json::JsonValue count, fraction, memory, devices;
};

template <json::JsonValue GpuDraft::*Member>
bool note(SnapshotInput&, json::JsonValue value, GpuDraft& draft) {
  draft.*Member = value;
  return true;
}

constexpr std::array<json::Field<SnapshotInput, GpuDraft>, 4> kGpuFields = {{{"count", note<&GpuDraft::count>},
                                                                             {"fraction", note<&GpuDraft::fraction>},
                                                                             {"memory", note<&GpuDraft::memory>},
                                                                             {"devices", note<&GpuDraft::devices>}}};

bool read_whole(SnapshotInput& input, const GpuDraft& draft, GpuRequest& out) {
  if (draft.devices)
    return input.fail_value(draft.devices, "devices requires fraction or memory; use count for whole devices");
  std::int64_t count = 0;
  if (!input.read_integer(draft.count, 0, kMaxDevices, count)) return false;
  if (count > 0) out = {GpuRequestKind::kWhole, static_cast<std::int32_t>(count), 0};
  return true;
}

bool read_devices(SnapshotInput& input, const GpuDraft& draft, GpuRequest& out) {
  std::int64_t devices = 1;
  if (draft.devices && !input.read_integer(draft.devices, 1, kMaxDevices, devices)) return false;
  out.devices = static_cast<std::int32_t>(devices);
  return true;
}

bool read_fraction(SnapshotInput& input, const GpuDraft& draft, GpuRequest& out) {
  Quantity fraction;
  if (!input.read_number(draft.fraction, fraction)) return false;
  const Result<std::int64_t> millionths = count_units(fraction, QuantityUnit::kMillionth, Rounding::kRefuse);
  if (!millionths || *millionths < 1 || *millionths > 1'000'000) {
    return input.fail_value(draft.fraction,
                            "a fraction must be greater than 0, at most 1, and have at most six decimals");
  }
  out.kind = GpuRequestKind::kFraction;
  out.share = *millionths;
  return read_devices(input, draft, out);
}

bool read_memory(SnapshotInput& input, const GpuDraft& draft, GpuRequest& out) {
  if (!input.read_amount(draft.memory, {QuantityUnit::kMebi, Rounding::kUp}, out.share)) return false;
  if (out.share == 0) return input.fail_value(draft.memory, "device memory must be greater than 0");
  out.kind = GpuRequestKind::kMemory;
  return read_devices(input, draft, out);
}

bool read_gpu(SnapshotInput& input, json::JsonValue object, PodSpec& spec) {
  GpuDraft draft;
  if (!json::read_fields(input, object, kGpuFields, draft)) return false;
  const bool count = static_cast<bool>(draft.count), fraction = static_cast<bool>(draft.fraction);
  const bool memory = static_cast<bool>(draft.memory);
  if (count + fraction + memory > 1) {
    std::string given = count ? "count" : "fraction";
    given += memory ? " and memory" : " and fraction";
    return input.fail_value(
        object, "cannot request both GPU and GPU memory: one of count, fraction and memory; here are " + given +
                    (count && fraction && memory ? ", and fraction" : ""));
  }
  if (count) return read_whole(input, draft, spec.gpu);
  if (fraction) return read_fraction(input, draft, spec.gpu);
  if (memory) return read_memory(input, draft, spec.gpu);
  return input.fail_missing(object, "count");
}

constexpr ResourceAmount kOnePod{kPods, 1};

bool read_requests(SnapshotInput& input, json::JsonValue object, PodSpec& spec) {
  if (!input.read_resources(object, Rounding::kUp, spec.resources)) return false;
  if (std::ranges::find(spec.resources, kPods, &ResourceAmount::resource) == spec.resources.end()) {
    spec.resources.push_back(kOnePod);
    std::ranges::sort(spec.resources, {}, &ResourceAmount::resource);
  }
  std::erase_if(spec.resources, [](const ResourceAmount& amount) { return amount.amount == 0; });
  return true;
}

bool read_models(SnapshotInput& input, json::JsonValue list, PodSpec& spec) {
  if (!input.read_names(list, spec.gpu_models)) return false;
  std::ranges::sort(spec.gpu_models);
  const auto rest = std::ranges::unique(spec.gpu_models);
  spec.gpu_models.erase(rest.begin(), rest.end());
  return true;
}

constexpr std::array<std::pair<std::string_view, Protocol>, 3> kProtocols = {
    {{"TCP", Protocol::kTcp}, {"UDP", Protocol::kUdp}, {"SCTP", Protocol::kSctp}}};

bool read_port(SnapshotInput& in, json::JsonValue v, HostPort& port) {
  constexpr std::int64_t kLastPort = 65'535;
  std::int64_t number = 0;
  if (!in.read_integer(v, 1, kLastPort, number)) return false;
  port.port = static_cast<std::int32_t>(number);
  return true;
}

bool read_address(SnapshotInput& in, json::JsonValue v, HostPort& port) {
  if (!in.read(v, port.address)) return false;
  if (port.address == "0.0.0.0") port.address = {};
  return true;
}

constexpr std::array<json::Field<SnapshotInput, HostPort>, 3> kHostPortFields = {
    {{"port", read_port, true},
     {"protocol", [](SnapshotInput& in, json::JsonValue v,
                     HostPort& p) { return json::read_choice(in, v, kProtocols, p.protocol); }},
     {"address", read_address}}};

bool read_host_ports(SnapshotInput& input, json::JsonValue list, PodSpec& spec) {
  if (!json::read_list(input, list, kHostPortFields, spec.host_ports)) return false;
  std::ranges::sort(spec.host_ports);
  const auto rest = std::ranges::unique(spec.host_ports);
  spec.host_ports.erase(rest.begin(), rest.end());
  return true;
}

// In the order of kSpecKeys.
constexpr std::array<json::Field<SnapshotInput, PodSpec>, kSpecKeyCount> kSpecFields = {
    {{kSpecKeys[0], read_requests},
     {kSpecKeys[1], read_gpu},
     {kSpecKeys[2], read_models},
     {kSpecKeys[3],
      [](SnapshotInput& in, json::JsonValue v, PodSpec& s) { return in.read_labels(v, s.node_selector); }},
     {kSpecKeys[4],
      [](SnapshotInput& in, json::JsonValue v, PodSpec& s) { return read_node_affinity(in, v, s.node_affinity); }},
     {kSpecKeys[5],
      [](SnapshotInput& in, json::JsonValue v, PodSpec& s) { return read_tolerations(in, v, s.tolerations); }},
     {kSpecKeys[6], read_pod_anti_affinity},
     {kSpecKeys[7], read_host_ports},
     {kSpecKeys[8], read_pod_affinity},
     {kSpecKeys[9], read_topology_spread},
     {kSpecKeys[10], read_volume_node_affinity}}};

// Takes back what each key of kSpecKeys says.
constexpr std::array<void (*)(PodSpec&), kSpecKeyCount> kSpecResets = {
    {[](PodSpec& s) { s.resources.clear(); }, [](PodSpec& s) { s.gpu = {}; }, [](PodSpec& s) { s.gpu_models.clear(); },
     [](PodSpec& s) { s.node_selector.clear(); }, [](PodSpec& s) { s.node_affinity = {}; },
     [](PodSpec& s) { s.tolerations.clear(); },
     [](PodSpec& s) {
       s.anti_affinity.clear();
       s.preferred_anti_affinity.clear();
     },
     [](PodSpec& s) { s.host_ports.clear(); },
     [](PodSpec& s) {
       s.affinity.clear();
       s.preferred_affinity.clear();
     },
     [](PodSpec& s) { s.topology_spread.clear(); }, [](PodSpec& s) { s.volume_terms.reset(); }}};

}  // namespace

bool replace_in_pod_spec(SnapshotInput& input, const SpecValues& values, PodSpec& spec) {
  for (std::size_t i = 0; i < kSpecKeyCount; ++i) {
    if (!values[i]) continue;
    kSpecResets[i](spec);
    if (!kSpecFields[i].read(input, values[i], spec)) return false;
  }
  return true;
}

bool read_pod_spec(SnapshotInput& input, const SpecValues& values, PodSpec& out) {
  out.resources.assign(values[0] ? 0 : 1, kOnePod);
  for (std::size_t i = 0; i < kSpecKeyCount; ++i) {
    if (values[i] && !kSpecFields[i].read(input, values[i], out)) return false;
  }
  return true;
}

void add_spec_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("gpuRequest", kGpuFields));
  out.push_back(json::known_object("hostPort", kHostPortFields));
}

}  // namespace muster::muster_v1
