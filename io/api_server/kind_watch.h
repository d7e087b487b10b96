// Keeps a KindSink equal to the objects of one kind on the API server: a list, then a watch, for ever.
//
// The algorithm is that of client-go's reflector (tools/cache/reflector.go). It lists in pages of `page_objects`,
// consistently (no resourceVersion), then watches from the version of the list with bookmarks. A watch that ends goes
// on at the last version that came, after a backoff if it brought nothing. 410 Gone, in the list or the watch, lists
// anew; the objects known so far stay until that list ends. A watch whose input makes no sense goes on at the last
// version, too, and lists anew if it makes no sense at once again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/api_server/api_client.h"
#include "io/api_server/backoff.h"
#include "io/api_server/kind_sink.h"
#include "io/json/json_document.h"

namespace muster::api_server {

struct WatchOptions {
  int page_objects = 500;  // client-go: pager.go
  // The server ends a watch after a random time between these (client-go: minWatchTimeout, 5 to 10 min).
  std::chrono::seconds least_watch{300}, most_watch{600};
  // A watch on which no byte comes for this long is dead. The server sends a bookmark about each minute
  // (apiserver/pkg/storage/cacher: defaultBookmarkFrequency).
  std::chrono::milliseconds silence{180'000};
  // At most, after 403 and 404, which an API server that starts may answer for a moment.
  std::chrono::milliseconds slow_retry{60'000};
  std::size_t max_object_bytes = std::size_t{16} << 20;  // a line of a watch; etcd's limit is 1.5 MiB
  std::size_t max_depth = 64;                            // of JSON
  BackoffLimits backoff = {};
};

class KindWatch {
 public:
  // `path`: "/api/v1/pods". `accept`: empty: JSON. Nothing happens before start(). The client, the sink and the scratch
  // document, which several watches may share, outlive the watch; `seed` differs from watch to watch.
  struct Target {
    std::string path, accept = {};
  };
  KindWatch(ApiClient& client, Target target, KindSink& sink, json::JsonDocument& scratch, const WatchOptions& options,
            std::uint64_t seed);
  // Ends the watch; the sink keeps what it has.
  ~KindWatch();
  KindWatch(const KindWatch&) = delete;
  KindWatch& operator=(const KindWatch&) = delete;

  void start();
  // How many lists have begun, and how many watches.
  std::uint64_t lists() const;
  std::uint64_t watches() const;

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

// Lines of a stream that comes in pieces; internal to this folder.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls `take` with each whole line, without its end, until that returns false. False: a line is too long.
  template <class Take>
  bool add(std::string_view bytes, Take take) {
    while (true) {
      const std::size_t end = bytes.find('\n');
      const bool is_whole = end != std::string_view::npos;
      const std::string_view part = bytes.substr(0, end);
      if (begun_.size() + part.size() > max_bytes_) return false;
      if (!is_whole) {
        begun_ += part;
        return true;
      }
      bytes.remove_prefix(end + 1);
      if (begun_.empty()) {
        if (!take(part)) return true;
        continue;
      }
      begun_ += part;
      const std::string line = std::move(begun_);
      begun_.clear();
      if (!take(std::string_view(line))) return true;
    }
  }
  void clear() { begun_.clear(); }

 private:
  std::size_t max_bytes_;
  std::string begun_;
};

}  // namespace muster::api_server
