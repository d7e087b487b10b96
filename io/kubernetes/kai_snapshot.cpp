#include "io/kubernetes/kai_snapshot.h"

#include <array>
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
  KubernetesReading reading(document);
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
    write_json(writer, document, items);
    writer.raw("}");
  }
  writer.raw("]}");
  return snapshot;
}

}  // namespace muster::kubernetes
