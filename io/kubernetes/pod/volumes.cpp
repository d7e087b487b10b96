#include "io/kubernetes/pod/volumes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace muster::kubernetes {

namespace {

struct ClaimName {
  std::string full;  // namespace/name
  bool is_ephemeral = false;
};

// Which pods use a claim.
struct ClaimUsers {
  std::vector<const KubernetesPod*> on_nodes;  // that run or are on their way out
  const KubernetesPod* first_waiting = nullptr;
  std::size_t waiting = 0;
};

bool is_before(const KubernetesPod& a, const KubernetesPod& b) {
  const std::string_view first = a.state.created, second = b.state.created;
  if (first != second) return second.empty() || (!first.empty() && is_earlier(first, second));
  return a.name < b.name;
}

bool read_claim_names(KubernetesReading& in, const KubernetesPod& pod, std::vector<ClaimName>& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"ephemeral", "name", "persistentVolumeClaim"};
  for (const json::JsonValue volume : pod.volumes.list.elements()) {
    std::array<json::JsonValue, 3> found;
    json::JsonValue claim;
    std::string_view name;
    if (!in.expect(volume, json::JsonKind::kObject) || !in.take(volume, kKeys, found)) return false;
    if (!found[0] && !found[2]) continue;
    if (found[2]) {
      if (!in.take(found[2], "claimName", claim) || !in.text(claim, name)) return false;
      out.push_back({std::string(pod.namespace_name).append("/").append(name), false});
    } else {
      if (!in.text(found[1], name)) return false;
      out.push_back({pod.full_name().append("-").append(name), true});
    }
  }
  return true;
}

// The combined result of all claims of a pod.
struct Verdict {
  std::optional<NodeTerms> terms;  // none: every node
  std::string_view reason;         // why it must not be placed; empty: it may be

  void join(const NodeTerms& more) {
    if (terms && terms->size() > 1 && more.size() > 1 && terms->size() * more.size() > kMostNodeTerms) {
      reason = "its volumes have too many node affinity terms in total";
    } else {
      terms = terms ? both(*terms, more) : more;
    }
  }
};

class VolumeSettler {
 public:
  VolumeSettler(KubernetesReading& in, const KubernetesStorage& storage, std::vector<KubernetesPod>& pods)
      : in_(in), storage_(storage), pods_(pods), claims_(pods.size()) {}

  bool run(std::size_t made) {
    if (!read_all()) return false;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      KubernetesPod& pod = pods_[i];
      if (claims_[i].empty()) continue;
      if (!storage_.has_claims()) {
        in_.remarks.add(
            "the input has no volume claims, so Muster ignores where volumes can be "
            "attached: add persistentvolumes, persistentvolumeclaims and storageclasses to `kubectl get`",
            "Pod " + pod.full_name());
        continue;
      }
      settle(pod, claims_[i], i >= made);
      count_attachments(pod, claims_[i]);
    }
    return true;
  }

 private:
  static bool counts(const KubernetesPod& pod) {
    return pod.volumes.list && !pod.state.is_left_out && (pod.state.waits() || pod.state.is_on_node());
  }

  bool read_all() {
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      const KubernetesPod& pod = pods_[i];
      if (!counts(pod)) continue;
      if (!read_claim_names(in_, pod, claims_[i])) {
        in_.error.message = "Pod " + pod.full_name() + ": " + in_.error.message;
        return false;
      }
      for (const ClaimName& name : claims_[i]) note_user(name, pod);
    }
    return true;
  }

  void note_user(const ClaimName& name, const KubernetesPod& pod) {
    ClaimUsers& users = users_[name.full];
    if (pod.state.is_on_node()) {
      users.on_nodes.push_back(&pod);
      return;
    }
    ++users.waiting;
    if (users.first_waiting == nullptr || is_before(pod, *users.first_waiting)) users.first_waiting = &pod;
    const StorageClaim* claim = storage_.claim(name.full);
    if (claim != nullptr && !claim->is_bound) ++waiting_of_class_[claim->storage_class];
  }

  // Each volume of a driver counts once for a pod, and once on a node for its present pods.
  void count_attachments(KubernetesPod& pod, const std::vector<ClaimName>& names) {
    std::map<std::string_view, std::set<std::string>> volumes;  // by driver
    for (const ClaimName& name : names) {
      const StorageClaim* claim = storage_.claim(name.full);
      if (claim == nullptr) continue;
      const StorageVolume* volume = claim->is_bound ? storage_.volume(claim->volume) : nullptr;
      const StorageClassFacts* of_class = storage_.storage_class(claim->storage_class);
      if (volume != nullptr) {
        volumes[volume->driver].emplace(volume->handle);
      } else if (!claim->is_bound && of_class != nullptr) {
        volumes[of_class->provisioner].insert(name.full);
      }
    }
    const AttachLimits& limits = in_.attach_limits;
    for (auto& [driver, handles] : volumes) {
      if (driver.empty()) continue;
      if (!limits.is_known) remark_on_limits(pod);
      const auto limit = limits.of_driver.find(driver);
      if (limit == limits.of_driver.end()) continue;
      if (pod.state.is_on_node()) {
        std::erase_if(handles, [&](const std::string& handle) {
          return !attached_.emplace(pod.state.node, driver, handle).second;
        });
      }
      add_count(pod.requests, limit->second.resource, std::ssize(handles));
      pod.source.signature = nullptr;
    }
  }

  void remark_on_limits(const KubernetesPod& pod) {
    in_.remarks.add(
        "a pod has volumes of a CSI driver, but the input does not state how many can be attached to a node: add "
        "csinodes to `kubectl get`",
        "Pod " + pod.full_name());
  }

  // A running pod is not held because of its claims: it only may not move.
  void settle(KubernetesPod& pod, const std::vector<ClaimName>& names, bool is_made) {
    Verdict verdict;
    for (const ClaimName& name : names) {
      const StorageClaim* claim = storage_.claim(name.full);
      if (claim == nullptr && is_made) continue;
      std::optional<NodeTerms> asked;
      const std::string_view objection =
          claim == nullptr ? "a persistent volume claim that does not exist" : look_at(pod, name, *claim, asked);
      if (verdict.reason.empty()) verdict.reason = objection;
      if (asked) verdict.join(*asked);
    }
    if (pod.state.is_on_node()) {
      if (!verdict.reason.empty()) verdict.terms = {name_term({pod.state.node})};
      pod.volumes.has_unbound_claim = false;
    } else if (pod.held.empty()) {
      pod.held = verdict.reason;
    }
    pod.volumes.node_terms = std::move(verdict.terms);
  }

  // Why the claim keeps the pod from being placed; empty: it does not. `asked`: the nodes that it leaves.
  std::string_view look_at(KubernetesPod& pod, const ClaimName& name, const StorageClaim& claim,
                           std::optional<NodeTerms>& asked) {
    const bool is_own = claim.owner_kind == "Pod" && claim.owner_name == pod.name;
    if (name.is_ephemeral && !is_own) return "an ephemeral volume whose claim belongs to another object";
    if (claim.phase == "Lost") return "a persistent volume claim that has lost its volume";
    if (claim.is_deleted) return "a persistent volume claim that is being deleted";
    const std::string_view objection =
        claim.is_bound ? look_at_bound(claim, asked) : look_at_unbound(pod, name, claim, asked);
    if (!objection.empty()) return objection;
    return look_at_users(pod, name, claim, asked);
  }

  std::string_view look_at_bound(const StorageClaim& claim, std::optional<NodeTerms>& asked) {
    const StorageVolume* volume = storage_.volume(claim.volume);
    if (volume != nullptr) {
      asked = volume->node_terms;
    } else if (storage_.has_volumes()) {
      return "a persistent volume claim that is bound to a missing volume";
    } else {
      in_.remarks.add(
          "the input has no volumes, so Muster ignores where they can be attached: add "
          "persistentvolumes to `kubectl get`",
          "PersistentVolume " + std::string(claim.volume));
    }
    return {};
  }

  std::string_view look_at_unbound(KubernetesPod& pod, const ClaimName& name, const StorageClaim& claim,
                                   std::optional<NodeTerms>& asked) {
    const StorageClassFacts* of_class = storage_.storage_class(claim.storage_class);
    if (!claim.storage_class.empty() && of_class == nullptr) {
      return "an unbound persistent volume claim whose StorageClass is not in the input";
    }
    if (of_class == nullptr || !of_class->waits_for_consumer || !claim.volume.empty()) {
      return "pod has unbound immediate PersistentVolumeClaims";
    }
    pod.volumes.has_unbound_claim = true;
    if (!of_class->provisions) return look_at_volumes_of_class(name, claim, asked);
    asked = of_class->allowed;
    if (claim.selected_node.empty()) return {};
    const NodeTerms selected{name_term({claim.selected_node})};
    asked = asked ? both(*asked, selected) : selected;
    return {};
  }

  // Manually created volumes: each can be bound once, and which one is not known in advance.
  std::string_view look_at_volumes_of_class(const ClaimName& name, const StorageClaim& claim,
                                            std::optional<NodeTerms>& asked) {
    const auto waiting = waiting_of_class_.find(claim.storage_class);
    if (waiting != waiting_of_class_.end() && waiting->second > 1) {
      return "one of several unbound claims of a StorageClass without a provisioner";
    }
    asked.emplace();
    for (const StorageVolume& volume : storage_.volumes()) {
      if (!could_bind(volume, claim, name.full)) continue;
      if (!volume.node_terms) {
        asked.reset();
        return {};
      }
      asked->insert(asked->end(), volume.node_terms->begin(), volume.node_terms->end());
    }
    *asked = both(*asked, {{}});  // equal terms become one
    return {};
  }

  std::string_view look_at_users(const KubernetesPod& pod, const ClaimName& name, const StorageClaim& claim,
                                 std::optional<NodeTerms>& asked) {
    const ClaimUsers& users = users_.at(name.full);
    const auto is_other = [&](const KubernetesPod* user) { return user != &pod; };
    const bool is_on_node_of_others = std::ranges::any_of(users.on_nodes, is_other);
    if ((claim.modes & kReadWriteOncePod) != 0 &&
        (is_on_node_of_others || (pod.state.waits() && users.first_waiting != &pod))) {
      return "a ReadWriteOncePod persistent volume claim that another pod uses";
    }
    if (claim.modes != kReadWriteOnce) return {};
    // The pods that share it are sent to the node where it is attached now, so the pod that keeps it attached there
    // must not move.
    if (!pod.state.waits() && (is_on_node_of_others || users.waiting > 0)) {
      return "a ReadWriteOnce persistent volume claim that other pods use";
    }
    std::vector<std::string_view> nodes;
    for (const KubernetesPod* user : users.on_nodes) {
      if (user != &pod && user->state.status == PodStatus::kRunning) nodes.push_back(user->state.node);
    }
    if (nodes.empty()) return {};
    const NodeTerms there{name_term(std::move(nodes))};
    asked = asked ? both(*asked, there) : there;
    return {};
  }

  KubernetesReading& in_;
  const KubernetesStorage& storage_;
  std::vector<KubernetesPod>& pods_;
  std::vector<std::vector<ClaimName>> claims_;  // by pod
  std::unordered_map<std::string, ClaimUsers> users_;
  std::set<std::tuple<std::string_view, std::string_view, std::string>> attached_;  // node, driver, volume
  std::unordered_map<std::string_view, std::size_t> waiting_of_class_;  // pods with an unbound claim of the class
};

}  // namespace

bool settle_volumes(KubernetesReading& in, const KubernetesStorage& storage, std::vector<KubernetesPod>& pods,
                    std::size_t made) {
  return VolumeSettler(in, storage, pods).run(made);
}

}  // namespace muster::kubernetes
