#include "io/api_server/kind_sink.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "io/json/json_document.h"

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

namespace {

constexpr std::size_t kMostStatusBytes = std::size_t{1} << 20;
constexpr std::size_t kMostLineBytes = 200;

std::optional<std::chrono::seconds> seconds_of(json::JsonValue details) {
  if (!details.is(json::JsonKind::kObject)) return std::nullopt;
  for (const json::JsonMember member : details.members()) {
    if (member.key != "retryAfterSeconds" || !member.value.is(json::JsonKind::kInteger)) continue;
    const std::int64_t seconds = member.value.integer();
    if (seconds > 0) return std::chrono::seconds(std::min<std::int64_t>(seconds, INT32_MAX));
  }
  return std::nullopt;
}

}  // namespace

StatusText read_status(std::string_view body) {
  json::JsonDocument document;
  StatusText status;
  if (body.empty() || document.parse(body, {kMostStatusBytes})) return status;
  const json::JsonValue root = document.root();
  if (!root.is(json::JsonKind::kObject)) return status;
  bool is_status = false;
  for (const json::JsonMember member : root.members()) {
    const bool is_text = member.value.is(json::JsonKind::kString);
    if (member.key == "kind" && is_text) is_status = member.value.string() == "Status";
    if (member.key == "message" && is_text) status.message = member.value.string();
    if (member.key == "reason" && is_text) status.reason = member.value.string();
    if (member.key == "details") status.retry_after = seconds_of(member.value);
    if (member.key == "code" && member.value.is(json::JsonKind::kInteger))
      status.code = static_cast<unsigned>(std::clamp<std::int64_t>(member.value.integer(), 0, 999));
  }
  return is_status ? status : StatusText{};
}

std::string first_line(std::string_view body) {
  std::string line(body.substr(0, std::min(body.find('\n'), kMostLineBytes)));
  std::erase_if(line, [](char c) { return c < ' ' || c > '~'; });
  return line;
}

std::optional<std::chrono::seconds> read_seconds(std::string_view text) {
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace muster::api_server
