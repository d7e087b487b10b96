// The pods that objects have not made yet, and their gangs: made as objects, and read like those of a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/kubernetes/pod/pod.h"
#include "io/kubernetes/templates/made_objects.h"
#include "io/kubernetes/templates/owners.h"
#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

// Objects that templates refer to.
struct TemplateReferences {
  RuntimeClasses classes;
  std::map<OwnerKey, KubernetesObject> runtimes;  // of TrainJobs; without a namespace: of the whole cluster
};

class TemplateExpansion {
 public:
  // What the import does with a group that is made, whose object and kind these are. One that is known by its name
  // already is not added. `all_pods`: what all its pods ask for, if it waits for that; else empty.
  using AddGroup =
      std::function<bool(KubernetesKind kind, const KubernetesObject& group, const RequestedAmounts& all_pods)>;
  // All outlive the object. `titles`: of the objects that are to be expanded; empty: all.
  TemplateExpansion(KubernetesReading& reading, KubernetesOwners& owners, MadeObjects& made,
                    const TemplateReferences& references, const std::vector<std::string>& titles, AddGroup add_group)
      : in_(reading),
        owners_(owners),
        made_(made),
        references_(references),
        titles_(titles),
        add_group_(std::move(add_group)) {}

  // Appends the missing pods of all objects of `owners` that are to be expanded, once all existing pods have joined
  // those; pending, or gated if their object is suspended. What cannot be expanded is a remark. Errors: those of the
  // templates; TooLarge. Cost: O(pods that exist + pods that are made).
  [[nodiscard]] bool expand(std::vector<KubernetesPod>& pods);

 private:
  using Name = std::pair<std::string_view, std::string_view>;  // namespace, name
  struct NameHash {
    std::size_t operator()(const Name& name) const {
      return std::hash<std::string_view>()(name.first) * 31 + std::hash<std::string_view>()(name.second);
    }
  };
  // Pods of a role that are missing.
  struct Missing {
    const PodRole* role = nullptr;
    std::map<std::int64_t, std::int64_t> active;  // pods that exist, by set; of counted ones only
    std::int64_t count = 0;
    bool is_marked = false;  // they belong to the gang that is chosen
    KubernetesPod first;     // as read from the template
  };
  // The object that is being expanded.
  struct Making {
    const PodMaker& maker;
    const std::vector<std::size_t>& there;  // positions of its pods that exist
    GangChoice choice = {};
    std::vector<Missing> missing = {};
    std::map<std::string, std::size_t> members = {};  // a pod that exists of each gang that has one
  };

  bool is_expanded(const KubernetesObject& object) const;
  void find_existing();
  [[nodiscard]] bool expand_below(const OwnerKey& key, int depth);
  [[nodiscard]] bool expand_object(const KubernetesObject& object, bool& has_made);
  [[nodiscard]] bool expand_maker(const PodMaker& maker, const OwnerKey& source);
  void find_missing(Making& making) const;
  void count_active(const Making& making, Missing& missing) const;
  void find_members(Making& making) const;
  void add_member(Making& making, const PodRole& role, std::int64_t set, std::size_t pod) const;
  bool has_groups_of_sets(const Making& making) const;
  [[nodiscard]] bool read_firsts(Making& making);
  [[nodiscard]] bool read_first(const Making& making, Missing& missing);
  [[nodiscard]] bool read_template(const PodMaker& maker, const PodRole& role, const PodAdditions& additions,
                                   KubernetesPod& out);
  void hold(const PodMaker& maker, const PodRole& role, KubernetesPod& pod);
  [[nodiscard]] bool make_pods(const Making& making);
  void make_set(const Making& making, const Missing& missing, std::int64_t set);
  void make(const Making& making, const Missing& missing, PodPlace place, std::string name);
  [[nodiscard]] bool add_groups(const Making& making);
  RequestedAmounts all_amounts(const Making& making) const;
  std::string_view keep(std::string text) { return made_.keep(std::move(text)); }

  KubernetesReading& in_;
  KubernetesOwners& owners_;
  MadeObjects& made_;
  const TemplateReferences& references_;
  const std::vector<std::string>& titles_;
  AddGroup add_group_;
  std::vector<KubernetesPod>* pods_ = nullptr;
  std::size_t there_ = 0;  // pods before any was made
  std::unordered_map<Name, std::size_t, NameHash> names_;
  std::map<OwnerKey, std::vector<std::size_t>> existing_;  // pods by the object that makes them
};

}  // namespace muster::kubernetes
