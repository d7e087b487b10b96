#include "cli/agent/written.h"

#include <algorithm>

#include "cli/agent/nominations.h"
#include "io/kubernetes/object/object.h"
#include "model/base/require.h"

namespace muster::cli {
namespace {

bool has_request(const Act& act, const api_server::ObjectStore& objects) {
  return objects.find("scheduling.run.ai", "BindRequest", act.object.namespace_name, act.object.name) != nullptr;
}

}  // namespace

bool WrittenActs::are_seen(const api_server::ObjectStore& objects) {
  const auto now = clock_();
  std::erase_if(acts_, [&](const Written& written) { return now >= written.until || is_seen(written.act, objects); });
  return acts_.empty();
}

std::chrono::steady_clock::time_point WrittenActs::end() const {
  MUSTER_REQUIRE(!acts_.empty());
  return std::ranges::min(acts_, {}, &Written::until).until;
}

bool WrittenActs::is_seen(const Act& act, const api_server::ObjectStore& objects) const {
  const exporting::ExportedObject& object = act.object;
  if (act.kind == ActKind::kTakeBack) return !has_request(act, objects);
  const auto* pod = objects.find("", "Pod", object.namespace_name, object.name);
  if (pod == nullptr || (!object.uid.empty() && pod->uid != object.uid)) return true;
  const auto has = [&](std::string_view part, std::string_view key) {
    return static_cast<bool>(kubernetes::member_of(kubernetes::member_of(pod->kept->value(), part), key));
  };
  const bool is_bound = has("spec", "nodeName");
  if (act.kind == ActKind::kNominate) return is_bound || nominated_node(*pod) == object.node;
  if (act.kind == ActKind::kEvict) return has("metadata", "deletionTimestamp");
  switch (mode_) {
    case ApplyMode::kKai:
      return has_request(act, objects);
    case ApplyMode::kGates:
      return static_cast<bool>(kubernetes::member_of(
          kubernetes::member_of(kubernetes::member_of(pod->kept->value(), "metadata"), "annotations"),
          kubernetes::kNodeAnnotation));
    default:
      return is_bound;
  }
}

}  // namespace muster::cli
