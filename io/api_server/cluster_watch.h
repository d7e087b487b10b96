// All that the import reads of a cluster, kept up to date: discovery, a watch for each kind, one store.
//
//   ApiClient client(io, address, std::chrono::steady_clock::now);
//   ClusterWatch cluster(client, std::chrono::steady_clock::now, {.seed = 1}, {.on_change = [&] { ... }});
//   cluster.start();
//   io.run();
//
// Discovery is repeated when a CustomResourceDefinition changes, and periodically. A kind that is missing from one
// discovery is kept until a second one, or a 404, confirms that: an API server that starts does not know all its kinds
// at first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/api_server/api_client.h"
#include "io/api_server/kind_watch.h"
#include "io/api_server/object_store.h"
#include "io/api_server/timer.h"

namespace muster::api_server {

struct ClusterWatchOptions {
  WatchOptions watch = {};
  kubernetes::KubernetesOptions kubernetes = {};  // with which the objects will be imported, but for the time
  std::uint64_t seed = 0;                         // of all jitter
  // After a change of a CustomResourceDefinition, and to confirm what is missing: the server's discovery is a little
  // behind its objects.
  std::chrono::milliseconds settle{2'000};
  std::chrono::milliseconds period_without_crds{60'000};  // of discovery, if these definitions cannot be watched
  std::chrono::milliseconds period{600'000};              // if they can
};

struct ClusterWatchHandlers {
  // The store's revision, the state of a kind, or is_complete() changed. Called on its own turn of the io_context, once
  // for all changes of the turns before.
  std::function<void()> on_change = {};
  // A sentence for the log: a kind came, went, is forbidden, failed or recovered; each once until it changes.
  std::function<void(const std::string& sentence, bool is_failure)> on_message = {};
};

class ClusterWatch {
 public:
  // The client outlives the watch.
  ClusterWatch(ApiClient& client, Clock clock, ClusterWatchOptions options, ClusterWatchHandlers handlers);
  ~ClusterWatch();
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  void start();
  // Asks for discovery now.
  void discover();

  const ObjectStore& objects() const;
  // Discovery has succeeded once, and ObjectStore::is_complete().
  bool is_complete() const;
  // Why discovery failed the last time; empty: it did not.
  const std::string& discovery_error() const;

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace muster::api_server
