#include "io/kubernetes/kai_snapshot.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <zip.h>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kActions = {{{"allocate", "place"},
                                                                                    {"consolidation", "consolidate"},
                                                                                    {"reclaim", "reclaim"},
                                                                                    {"preempt", "preempt"},
                                                                                    {"stalegangeviction", "stale"}}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

void write_actions(std::string_view list, json::JsonWriter& json, std::vector<std::string>& remarks) {
  bool first = true;
  json.raw(R"("actions":[)");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto known = std::ranges::find(kActions, name, &std::pair<std::string_view, std::string_view>::first);
    if (known != kActions.end()) {
      json.separate(first).string(known->second);
    } else if (!name.empty()) {
      remarks.push_back("the action " + std::string(name) + " of the scheduler's configuration is ignored");
    }
  }
  json.raw("]");
}

// Arguments of plugins; empty: it has none.
struct PluginArguments {
  std::string_view gpu, cpu;  // of `nodeplacement`
  std::string_view k_value;   // of `proportion`
};

bool read_arguments(KubernetesReading& in, std::string_view plugin, json::JsonValue object, PluginArguments& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"gpu", "cpu", "kValue"};
  std::array<json::JsonValue, 3> found;
  if (plugin == "proportion") return in.take(object, kKeys, found) && in.text(found[2], out.k_value);
  if (plugin != "nodeplacement") return true;
  return in.take(object, kKeys, found) && in.text(found[0], out.gpu) && in.text(found[1], out.cpu);
}

bool read_plugins(KubernetesReading& in, json::JsonValue tiers, PluginArguments& out) {
  static constexpr std::array<std::string_view, 2> kPlugin = {"arguments", "name"};
  bool has_tiers = false;
  if (!in.has_elements(tiers, has_tiers)) return false;
  if (!has_tiers) return true;
  for (const json::JsonValue tier : tiers.elements()) {
    json::JsonValue plugins;
    bool has_plugins = false;
    if (!in.take(tier, "plugins", plugins) || !in.has_elements(plugins, has_plugins)) return false;
    if (!has_plugins) continue;
    for (const json::JsonValue plugin : plugins.elements()) {
      std::array<json::JsonValue, 2> found;
      std::string_view name;
      if (!in.take(plugin, kPlugin, found) || !in.text(found[1], name) || !read_arguments(in, name, found[0], out)) {
        return false;
      }
    }
  }
  return true;
}

// As KAI reads it: what is no number is its default, what is below 0 is 0.
std::optional<double> usage_factor_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return std::max(0.0, value);
}

bool read_parameters(KubernetesReading& in, json::JsonValue params, KaiConfiguration& out) {
  static constexpr std::array<std::string_view, 5> kKeys = {"globalDefaultStalenessGracePeriod",
                                                            "maxNumberConsolidationPreemptees", "partitionParams",
                                                            "queueLabelKey", "schedulerName"};
  std::array<json::JsonValue, 5> found;
  json::JsonValue pool;
  std::string_view pool_key, queue_label, scheduler;
  if (!in.take(params, kKeys, found) || !in.take(found[2], "NodePoolLabelKey", pool) || !in.text(pool, pool_key) ||
      !in.text(found[3], queue_label) || !in.text(found[4], scheduler)) {
    return false;
  }
  out.queue_label = queue_label;
  out.scheduler = scheduler;
  if (found[0]) {
    std::int64_t nanoseconds = 0;
    using Limits = std::numeric_limits<std::int64_t>;
    if (!in.read_integer(found[0], Limits::min(), Limits::max(), nanoseconds)) return false;
    out.grace_period = nanoseconds < 0 ? kNever : nanoseconds;
  }
  if (found[1]) {
    out.remarks.emplace_back("maxNumberConsolidationPreemptees, a limit per attempt, is ignored: see maxMoves");
  }
  if (!pool_key.empty()) {
    out.remarks.push_back("the scheduler uses a pool of nodes (label " + std::string(pool_key) +
                          "); Muster uses all nodes of the archive");
  }
  return true;
}

}  // namespace

bool read_kai_configuration(KubernetesReading& in, json::JsonValue config, json::JsonValue params,
                            KaiConfiguration& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"actions", "tiers"};
  std::array<json::JsonValue, 2> found;
  std::string_view actions;
  PluginArguments arguments;
  if (!in.take(config, kKeys, found) || !in.text(found[0], actions) || !read_plugins(in, found[1], arguments)) {
    return false;
  }
  const std::string_view gpu = arguments.gpu.empty() ? "binpack" : arguments.gpu;
  const std::string_view cpu = arguments.cpu.empty() ? "binpack" : arguments.cpu;
  if (gpu != cpu) out.remarks.emplace_back("nodeplacement differs for cpu and gpu: Muster uses that of gpu for both");
  std::string policy;
  json::JsonWriter json(policy);
  bool first = true;
  if (!actions.empty()) write_actions(actions, json.separate(first), out.remarks);
  if (gpu == "spread") json.separate(first).raw(R"("placement":"spread")");
  if (const auto factor = usage_factor_of(arguments.k_value)) {
    json.separate(first).raw(R"("overTime":{"usageFactor":)").number(*factor).raw("}");
  }
  if (!policy.empty()) out.policy = "{" + policy + "}";
  return read_parameters(in, params, out);
}

namespace {

constexpr const char* kMember = "snapshot.json";

// Objects in the archive have no `kind`.
struct RawList {
  std::string_view key, api_version, kind;
};
constexpr std::array<RawList, 10> kLists = {{{"pods", "v1", "PodList"},
                                             {"nodes", "v1", "NodeList"},
                                             {"queues", "scheduling.run.ai/v2", "QueueList"},
                                             {"podGroups", "scheduling.run.ai/v2alpha2", "PodGroupList"},
                                             {"bindRequests", "scheduling.run.ai/v1alpha2", "BindRequestList"},
                                             {"priorityClasses", "scheduling.k8s.io/v1", "PriorityClassList"},
                                             {"persistentVolumes", "v1", "PersistentVolumeList"},
                                             {"persistentVolumeClaims", "v1", "PersistentVolumeClaimList"},
                                             {"storageClasses", "storage.k8s.io/v1", "StorageClassList"},
                                             {"topologies", "kai.scheduler/v1alpha1", "TopologyList"}}};

// Objects that the scheduler uses and that have no meaning here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kUnread = {
    {{"nodeResourceTopologies", "NodeResourceTopology is ignored: Muster does not plan NUMA zones"},
     {"csiStorageCapacities", "CSIStorageCapacity is ignored: Muster does not limit storage"},
     {"resourceSlices", "ResourceSlice is ignored: pods with resource claims are held"}}};

InputError archive_error(std::string message) { return {ErrorCode::kInvalidArchive, "$", std::move(message)}; }

InputError too_large(std::size_t most_bytes) {
  return {ErrorCode::kTooLarge, "$", std::string(kMember) + " has more than " + std::to_string(most_bytes) + " bytes"};
}

Result<std::string> unpack(const std::string& file, std::size_t most_bytes) {
  int code = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(file.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code),
                                                         zip_discard);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string message = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN) return InputError{ErrorCode::kNoInput, "$", message};
    return archive_error(message);
  }
  zip_stat_t about;
  zip_stat_init(&about);
  if (zip_stat(archive.get(), kMember, 0, &about) == 0 && (about.valid & ZIP_STAT_SIZE) != 0 && about.size > most_bytes)
    return too_large(most_bytes);
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> member(zip_fopen(archive.get(), kMember, 0), zip_fclose);
  if (!member) return archive_error(std::string(kMember) + ": " + zip_strerror(archive.get()));
  std::string text;
  std::array<char, 1 << 16> chunk;
  zip_int64_t got = 0;
  while ((got = zip_fread(member.get(), chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) return too_large(most_bytes);  // whatever the archive states
  }
  if (got < 0) return archive_error(std::string(kMember) + ": " + zip_file_strerror(member.get()));
  return text;
}

bool remark_on_unread(KubernetesReading& reading, json::JsonValue objects, std::vector<std::string>& remarks) {
  for (const auto& [key, remark] : kUnread) {
    json::JsonValue list;
    bool has_any = false;
    if (!reading.take(objects, key, list) || !reading.has_elements(list, has_any)) return false;
    if (has_any) remarks.push_back(std::to_string(list.size()) + " times: " + std::string(remark));
  }
  return true;
}

}  // namespace

Result<KaiSnapshot> kai_snapshot_objects(const std::string& file, std::size_t most_bytes) {
  static constexpr std::array<std::string_view, 3> kParts = {"config", "rawObjects", "schedulerParams"};
  Result<std::string> text = unpack(file, most_bytes);
  if (!text) return text.error();
  json::JsonDocument document;
  if (auto error = document.parse(*text, {most_bytes, json::JsonLimits().max_depth})) return *std::move(error);
  KubernetesReading reading;
  std::array<json::JsonValue, 3> parts;
  KaiSnapshot snapshot;
  if (!reading.expect(document.root(), json::JsonKind::kObject) || !reading.take(document.root(), kParts, parts) ||
      !read_kai_configuration(reading, parts[0], parts[2], snapshot.configuration)) {
    return std::move(reading.error);
  }
  const json::JsonValue objects = parts[1];
  if (!objects) return InputError{ErrorCode::kUnsupportedFormat, "$", "rawObjects is missing"};
  if (!remark_on_unread(reading, objects, snapshot.configuration.remarks)) return std::move(reading.error);
  snapshot.objects = R"({"apiVersion":"v1","kind":"List","items":[)";
  json::JsonWriter writer(snapshot.objects);
  bool first = true;
  for (const RawList& raw : kLists) {
    json::JsonValue items;
    if (!reading.take(objects, raw.key, items)) return std::move(reading.error);
    if (!items) continue;
    writer.separate(first).raw(R"({"apiVersion":)").string(raw.api_version).raw(R"(,"kind":)").string(raw.kind);
    writer.raw(R"(,"items":)");
    write_json(writer, reading.numbers, items);
    writer.raw("}");
  }
  writer.raw("]}");
  return snapshot;
}

}  // namespace muster::kubernetes
