// Which of the kinds that the import reads (io/kubernetes/object/kinds.h) the API server has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/api_server/api_client.h"
#include "io/kubernetes/object/kinds.h"

namespace muster::api_server {

// One kind of known_kinds() that the server has, at the newest version that both know, which can be listed and watched.
struct ServedKind {
  const kubernetes::KnownKind* known = nullptr;
  std::string version;   // "v1beta2"
  std::string resource;  // "clusterqueues"
  bool has_namespace = false;

  // "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"; "/api/v1/pods"
  std::string path() const;
  // "v1"; "kueue.x-k8s.io/v1beta2"
  std::string api_version() const;
  // "clusterqueues.kueue.x-k8s.io"; "pods"
  std::string title() const;
  friend bool operator==(const ServedKind&, const ServedKind&) = default;
};

struct Discovered {
  std::vector<ServedKind> kinds;           // in the order of known_kinds(), each once
  bool has_crds = false;                   // the server has CustomResourceDefinitions (apiextensions.k8s.io/v1)
  std::vector<ServedKind> added, removed;  // since the last discovery; a kind whose version changed is in both
  std::string error;                       // not empty: it failed, and the rest is what was known before
};

// Asks by aggregated discovery (`APIGroupDiscoveryList`, Kubernetes 1.26), two requests; of a server that answers with
// another kind, group by group. If the server says of a group that it cannot know its kinds now (freshness: Stale),
// those that were known stay.
class Discovery {
 public:
  // The client outlives the discovery.
  explicit Discovery(ApiClient& client);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Asks again. A call while one is under way makes it begin anew; only the last handler is called.
  void ask(std::function<void(const Discovered&)> handler);
  // The last answer, without what had changed.
  const std::vector<ServedKind>& kinds() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::api_server
