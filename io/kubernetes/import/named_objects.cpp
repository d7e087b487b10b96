#include "io/kubernetes/import/named_objects.h"

#include <utility>

#include "io/kubernetes/import/snapshot_pods.h"
#include "io/kubernetes/object/slim.h"
#include "model/base/require.h"

namespace muster::kubernetes {

KeptObject::KeptObject(const json::JsonBuilder& slim, SharedOptions options)
    : json_(slim), options_(std::move(options)), collected_(collect_object(json_.root())) {
  MUSTER_REQUIRE(options_ != nullptr);
  if (collected_ && collected_->meaning == KubernetesKind::kPod) read_as_pod();
}

// Kept if nothing is to be said about it.
void KeptObject::read_as_pod() {
  KubernetesReading in;
  configure(*options_, in);
  in.has_namespaces = true;
  in.with_paths = false;
  auto pod = std::make_unique<KubernetesPod>();
  if (!read_pod(in, collected_->object, *pod)) return;
  if (!in.remarks.sentences().empty() || !in.warnings.empty()) return;
  add_own(signature_, in, *pod);
  pod->source.signature = &signature_;
  pod_ = std::move(pod);
  collected_->object.as_pod = pod_.get();
}

std::string KeptObject::text() const {
  std::string text;
  json::JsonWriter writer(text);
  json::NumberCursor numbers;
  write_json(writer, numbers, value());
  return text;
}

std::size_t KeptObject::bytes() const {
  return sizeof *this + json_.bytes() + signature_.text().capacity() +
         (pod_ ? sizeof *pod_ + pod_->requests.capacity() * sizeof(RequestedAmount) : 0);
}

std::string text_of(const KeptObjects& objects) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const auto& object : objects) {
    if (text.back() != '[') text += ',';
    text += object->text();
  }
  return text += "]}";
}

bool collect_kept(KubernetesReading& in, const KeptObjects& objects, KubernetesItems& out) {
  for (const auto& object : objects) {
    if (const auto& collected = object->collected()) {
      KubernetesObject& one = out.by_kind[static_cast<std::size_t>(collected->meaning)].emplace_back(collected->object);
      if (!collected->unread.empty()) one.hold = in.unread.add(one.kind, one.full_name(), collected->unread);
    } else if (!collect_item(in, object->value(), out)) {
      return false;
    }
  }
  return true;
}

ObjectKeeper::ObjectKeeper(SharedOptions options) : options_(std::move(options)) {
  MUSTER_REQUIRE(options_ != nullptr);
}

const json::JsonBuilder& ObjectKeeper::slim(json::JsonValue object, std::string_view api_version,
                                            std::string_view kind) {
  MUSTER_REQUIRE(object.is(json::JsonKind::kObject));
  slim_object(object, {api_version, kind, options_->duration_annotation}, slim_);
  return slim_;
}

std::shared_ptr<const KeptObject> ObjectKeeper::keep(const json::JsonBuilder& slim) {
  MUSTER_REQUIRE(&slim == &slim_);
  return std::make_shared<const KeptObject>(slim, options_);
}

}  // namespace muster::kubernetes
