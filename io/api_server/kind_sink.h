// What takes the objects of one kind from a KindWatch.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/json/json_document.h"

namespace muster::api_server {

enum class WatchState : std::uint8_t {
  kListing,    // for the first time, or anew
  kWatching,   // the connection is open
  kRetrying,   // neither, after a failure; `error` says which
  kForbidden,  // 403: may not be listed or watched; tried again slowly
  kGone,       // 404: the server no longer has it, or not yet; tried again slowly
};
std::string_view watch_state_text(WatchState state);  // "listing", "watching", ...

class KindSink {
 public:
  virtual ~KindSink() = default;
  KindSink(const KindSink&) = delete;
  KindSink& operator=(const KindSink&) = delete;

  // A list begins, comes page by page, and ends with its resourceVersion: objects that were in no page do not exist any
  // more. One that does not end is followed by another that begins. Each object is valid during the call. False: it has
  // no name, or is no object.
  virtual void list_begins() = 0;
  virtual void list_ends(std::string_view resource_version) = 0;
  [[nodiscard]] virtual bool set(json::JsonValue object) = 0;
  [[nodiscard]] virtual bool remove(json::JsonValue object) = 0;
  // Everything up to this version has come.
  virtual void reached(std::string_view resource_version) = 0;
  // `error`: for people; empty: none.
  virtual void changed(WatchState state, const std::string& error) = 0;

 protected:
  KindSink() = default;
};

// What an answer of the API server says beside its status; internal to this folder.
//
// Of a Status object (meta/v1), as bodies of failures have it and ERROR events of watches.
struct StatusText {
  unsigned code = 0;  // 0: none
  std::string message, reason;
  std::optional<std::chrono::seconds> retry_after;
};

// All empty if the text is no Status.
StatusText read_status(std::string_view body);

// Of a body that is no Status: its first line, at most 200 characters, without what a terminal would not print.
std::string first_line(std::string_view body);

// Of a Retry-After field; none if it is no number of seconds.
std::optional<std::chrono::seconds> read_seconds(std::string_view text);

}  // namespace muster::api_server
