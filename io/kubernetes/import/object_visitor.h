// Steps through the objects of a list, kind by kind, and decides what happens to one that cannot be read.
#pragma once

#include <string>
#include <utility>

#include "io/kubernetes/items.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// Refers to the reading and to the items, which must outlive it.
class ObjectVisitor {
 public:
  ObjectVisitor(KubernetesReading& reading, const KubernetesItems& items) : reading_(reading), items_(items) {}

  KubernetesReading& reading() const { return reading_; }
  const KubernetesItems& items() const { return items_; }

  // Calls `step` with each object of the kind. If it fails, the object is named, and left out unless the failure is an
  // error. Returns false after an error.
  template <class Step>
  [[nodiscard]] bool each(KubernetesKind kind, Step step) {
    for (const KubernetesObject& object : items_.of(kind)) {
      if (!step(object) && !leave_out(object)) return false;
    }
    return true;
  }

  // The same if `step` appends the object to `text`, a list without its brackets. If it fails, nothing of that stays.
  template <class Step>
  [[nodiscard]] bool each_written(KubernetesKind kind, std::string& text, Step step) {
    return each(kind, [&](const KubernetesObject& object) { return write_object(text, object, step); });
  }

  // Like each_written, but an object that fails is written by `write_unclear(object, why, writer)` instead of being
  // left out.
  template <class Step, class WriteUnclear>
  [[nodiscard]] bool each_kept(KubernetesKind kind, std::string& text, Step step, WriteUnclear write_unclear) {
    return each(kind, [&](const KubernetesObject& object) {
      if (write_object(text, object, step)) return true;
      if (reading_.strict) return false;
      const std::string why = reading_.take_reason(object);
      bool first = text.empty();
      json::JsonWriter writer(text);
      write_unclear(object, why, writer.separate(first));
      return true;
    });
  }

  // Names the object in the error. Returns false.
  bool fail(const std::string& title) {
    reading_.error.message = title + ": " + reading_.error.message;
    return false;
  }

 private:
  template <class Step>
  static bool write_object(std::string& text, const KubernetesObject& object, Step& step) {
    const std::size_t before = text.size();
    bool first = text.empty();
    json::JsonWriter writer(text);
    if (step(object, writer.separate(first))) return true;
    text.resize(before);
    return false;
  }

  bool leave_out(const KubernetesObject& object) {
    if (reading_.strict) return fail(object.title());
    reading_.warn(object, "it is ignored");
    return true;
  }

  KubernetesReading& reading_;
  const KubernetesItems& items_;
};

}  // namespace muster::kubernetes
