#include "io/api_server/kind_sink.h"

namespace muster::api_server {

std::string_view watch_state_text(WatchState state) {
  switch (state) {
    case WatchState::kListing:
      return "listing";
    case WatchState::kWatching:
      return "watching";
    case WatchState::kRetrying:
      return "retrying";
    case WatchState::kForbidden:
      return "forbidden";
    case WatchState::kGone:
      return "gone";
  }
  return {};
}

}  // namespace muster::api_server
