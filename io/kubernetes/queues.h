// Queue of KAI (scheduling.run.ai/v2) and of Volcano (scheduling.volcano.sh/v1beta1) -> queues[]
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "io/kubernetes/kueue/queues.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

class KubernetesQueues {
 public:
  // Errors: DuplicateName if the other system has a queue of that name; those of the values themselves.
  [[nodiscard]] bool import_kai(KubernetesReading& reading, const KubernetesObject& object, json::JsonWriter& writer);
  [[nodiscard]] bool import_volcano(KubernetesReading& reading, const KubernetesObject& object,
                                    json::JsonWriter& writer);

  // Whether a Queue of the list has no such parent; its name, else "".
  std::string_view without_parent() const;
  // The queue of objects that name none: `default`, or `kubernetes` if a Queue of the list is called so.
  const std::string& common_queue();
  // Keeps what the keys of a queue of any system mean that are not read.
  void heed(const KubernetesObject& queue);
  // The same for what is in a queue or in one below it: by its written name; by what pods of a namespace name.
  known::Effect hold_of(std::string_view queue) const;
  known::Effect hold_of_local(std::string_view namespace_name, std::string_view queue) const;
  bool is_closed(std::string_view queue) const { return closed_.contains(queue); }
  bool has(std::string_view queue) const { return systems_.contains(queue); }
  bool is_of_kai(std::string_view queue) const;
  bool empty() const { return systems_.empty() && kueue_.empty(); }
  // Kueue's, and their names next to those of the others, once all that pods name are known.
  KueueQueues& kueue() { return kueue_; }
  void settle_kueue_names() {
    kueue_.settle_names([this](std::string_view name) { return has(name); });
  }
  // Whether any object has used the common queue.
  bool uses_common_queue() const { return !common_.empty(); }

 private:
  enum class System : std::uint8_t { kKai, kVolcano };
  [[nodiscard]] bool add(KubernetesReading& reading, const KubernetesObject& object, System system,
                         std::string_view parent);

  std::unordered_map<std::string_view, System> systems_;  // by name of the queue
  std::vector<std::pair<std::string_view, std::string_view>> parents_;
  std::unordered_set<std::string_view> closed_;
  std::map<std::string, known::Effect, std::less<>> holds_;  // by full name
  std::string common_;
  KueueQueues kueue_;
};

}  // namespace muster::kubernetes
