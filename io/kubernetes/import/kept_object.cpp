#include "io/kubernetes/import/kept_object.h"

namespace muster::kubernetes {

KeptObject::KeptObject(const json::JsonDocument& parsed) : json_(parsed), collected_(collect_object(json_.root())) {}

std::string text_of(const KeptObjects& objects) {
  std::size_t bytes = 64;
  for (const auto& object : objects) bytes += object->text().size() + 1;
  std::string text;
  text.reserve(bytes);
  text += R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const auto& object : objects) {
    if (text.back() != '[') text += ',';
    text += object->text();
  }
  return text += "]}";
}

bool collect_kept(KubernetesReading& in, const KeptObjects& objects, KubernetesItems& out) {
  for (const auto& object : objects) {
    if (const auto& collected = object->collected()) {
      out.by_kind[static_cast<std::size_t>(collected->meaning)].push_back(collected->object);
    } else if (!collect_item(in, object->value(), out)) {
      return false;
    }
  }
  return true;
}

}  // namespace muster::kubernetes
