#include "io/api_server/kind_watch.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/api_server/kind_sink.h"
#include "io/api_server/timer.h"

namespace muster::api_server {

namespace {

using std::chrono::milliseconds;

// A watch that has been open for so long has worked, even if nothing happened.
constexpr milliseconds kProven{10'000};
// Lists whose pages expired before one without pages is asked for, as client-go's pager does at once.
constexpr int kExpiredLists = 2;

json::JsonValue value_at(json::JsonValue object, std::string_view key) {
  if (!object || !object.is(json::JsonKind::kObject)) return {};
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value;
  }
  return {};
}

std::string text_at(json::JsonValue object, std::string_view key) {
  const json::JsonValue value = value_at(object, key);
  return value && value.is(json::JsonKind::kString) ? std::string(value.string()) : std::string();
}

}  // namespace

class KindWatch::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(ApiClient& client, Target target, KindSink& sink, json::JsonDocument& scratch,
                 const WatchOptions& options, std::uint64_t seed)
      : client_(client),
        target_(std::move(target)),
        sink_(sink),
        scratch_(scratch),
        options_(options),
        backoff_{{options.backoff, seed},
                 {{options.backoff.first, options.slow_retry, options.backoff.most_retry_after}, seed + 1}},
        timer_(client.io()),
        lines_(options.max_object_bytes) {}

  void list();
  std::uint64_t lists() const { return lists_; }
  std::uint64_t watches() const { return watches_; }

 private:
  using Step = void (Implementation::*)();

  ApiRequest request(std::string query) const;
  void next_page();
  void take_page(const ApiResponse& response);
  void list_expired();
  void watch();
  void opened();
  void take_bytes(std::string_view bytes);
  bool take_line(std::string_view line);
  bool take_event(std::string_view type, json::JsonValue object);
  bool take_error(json::JsonValue status);
  bool progressed(std::string resource_version);
  bool make_no_sense(const std::string& why);
  void ended(const ApiResponse& response);
  void refused(const ApiResponse& response, Step again);
  void retry(const std::string& error, Step again, std::optional<std::chrono::seconds> retry_after = {});
  void after(milliseconds time, Step step);

  ApiClient& client_;
  const Target target_;
  KindSink& sink_;
  json::JsonDocument& scratch_;
  const WatchOptions options_;
  struct Backoffs {
    Backoff usual, refused;  // the latter after 403 and 404
    void reset() {
      usual.reset();
      refused.reset();
    }
  } backoff_;
  Timer timer_;
  std::unique_ptr<ApiStream> stream_;
  LineSplitter lines_;
  std::string resource_version_, continue_;
  std::uint64_t lists_ = 0, watches_ = 0;
  struct InARow {
    int expired = 0, senseless = 0;  // lists, and watches
  } in_a_row_;
  bool has_progressed_ = false;  // the watch that is open
};

ApiRequest KindWatch::Implementation::request(std::string query) const {
  ApiRequest request;
  request.target = target_.path + "?" + std::move(query);
  if (!target_.accept.empty()) request.accept = target_.accept;
  return request;
}

void KindWatch::Implementation::list() {
  ++lists_;
  continue_.clear();
  stream_.reset();
  sink_.list_begins();
  sink_.changed(WatchState::kListing, {});
  next_page();
}

void KindWatch::Implementation::next_page() {
  std::string query = in_a_row_.expired < kExpiredLists ? fmt::format("limit={}", options_.page_objects) : "";
  if (!continue_.empty()) query += "&continue=" + percent_encoded(continue_);
  client_.send(request(std::move(query)), [weak = weak_from_this()](const ApiResponse& response) {
    if (const auto self = weak.lock()) self->take_page(response);
  });
}

void KindWatch::Implementation::take_page(const ApiResponse& response) {
  if (response.status == 410) return list_expired();
  if (!response.is_ok()) return refused(response, &Implementation::list);
  const std::string name = "GET " + target_.path + ": ";
  if (const auto error = scratch_.parse(response.body, {response.body.size(), options_.max_depth}))
    return retry(name + "the list is not what it should be: " + error->message, &Implementation::list);
  const json::JsonValue root = scratch_.root();
  const json::JsonValue items = value_at(root, "items"), metadata = value_at(root, "metadata");
  const std::string version = text_at(metadata, "resourceVersion");
  if (version.empty() || !items) return retry(name + "the answer is no list", &Implementation::list);
  if (items.is(json::JsonKind::kArray)) {  // null: there is none
    for (const json::JsonValue item : items.elements()) {
      if (!sink_.set(item)) return retry(name + "the list holds what is no object", &Implementation::list);
    }
  }
  continue_ = text_at(metadata, "continue");
  if (!continue_.empty()) return next_page();
  in_a_row_.expired = 0;
  resource_version_ = version;
  sink_.list_ends(version);
  watch();
}

void KindWatch::Implementation::list_expired() {
  ++in_a_row_.expired;
  after(backoff_.usual.next(), &Implementation::list);
}

void KindWatch::Implementation::watch() {
  ++watches_;
  has_progressed_ = false;
  lines_.clear();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      backoff_.usual.between(options_.least_watch, options_.most_watch));
  const auto weak = weak_from_this();
  StreamHandlers handlers;
  handlers.open = [weak](const ApiResponse&) {
    if (const auto self = weak.lock()) self->opened();
  };
  handlers.bytes = [weak](std::string_view bytes) {
    if (const auto self = weak.lock()) self->take_bytes(bytes);
  };
  handlers.end = [weak](const ApiResponse& response) {
    if (const auto self = weak.lock()) self->ended(response);
  };
  stream_ = client_.open(request(fmt::format("watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                                             percent_encoded(resource_version_), seconds.count())),
                         options_.silence, std::move(handlers));
}

void KindWatch::Implementation::opened() {
  sink_.changed(WatchState::kWatching, {});
  timer_.after(kProven, [this] {
    has_progressed_ = true;
    backoff_.reset();
  });
}

void KindWatch::Implementation::take_bytes(std::string_view bytes) {
  if (lines_.add(bytes, [this](std::string_view line) { return take_line(line); })) return;
  make_no_sense(fmt::format("an object is longer than {} bytes", options_.max_object_bytes));
}

// False: the watch has ended.
bool KindWatch::Implementation::take_line(std::string_view line) {
  if (line.find_first_not_of(" \r") == std::string_view::npos) return true;
  if (const auto error = scratch_.parse(line, {line.size(), options_.max_depth}))
    return make_no_sense("an event is not what it should be: " + error->message);
  const std::string type = text_at(scratch_.root(), "type");
  const json::JsonValue object = value_at(scratch_.root(), "object");
  if (type.empty() || !object) return make_no_sense("a line is no event");
  return take_event(type, object);
}

bool KindWatch::Implementation::take_event(std::string_view type, json::JsonValue object) {
  if (type == "ERROR") return take_error(object);
  std::string version = text_at(value_at(object, "metadata"), "resourceVersion");
  if (version.empty()) return make_no_sense("an event has no resourceVersion");
  bool is_taken = false;
  if (type == "BOOKMARK") {
    is_taken = true;
  } else if (type == "ADDED" || type == "MODIFIED") {
    is_taken = sink_.set(object);
  } else if (type == "DELETED") {
    is_taken = sink_.remove(object);
  }
  return is_taken ? progressed(std::move(version)) : make_no_sense("an event has no object, or is of an unknown type");
}

bool KindWatch::Implementation::progressed(std::string resource_version) {
  resource_version_ = std::move(resource_version);
  has_progressed_ = true;
  in_a_row_.senseless = 0;
  backoff_.reset();
  sink_.reached(resource_version_);
  return true;
}

bool KindWatch::Implementation::take_error(json::JsonValue status) {
  const json::JsonValue code = value_at(status, "code");
  if (code && code.is(json::JsonKind::kInteger) && code.integer() == 410) {
    stream_.reset();
    after(backoff_.usual.next(), &Implementation::list);
    return false;
  }
  return make_no_sense("the server says: " + first_line(text_at(status, "message")));
}

bool KindWatch::Implementation::make_no_sense(const std::string& why) {
  stream_.reset();
  const bool lists = ++in_a_row_.senseless > 1;
  if (lists) in_a_row_.senseless = 0;
  retry("watch of " + target_.path + ": " + why, lists ? &Implementation::list : &Implementation::watch);
  return false;
}

void KindWatch::Implementation::ended(const ApiResponse& response) {
  stream_.reset();
  if (response.status == 410) return after(backoff_.usual.next(), &Implementation::list);
  if (response.status / 100 != 2) {
    const bool is_request_wrong = response.status / 100 == 4 && response.status != 401 && response.status != 429;
    return refused(response, is_request_wrong ? &Implementation::list : &Implementation::watch);
  }
  timer_.cancel();
  if (!response.error.empty()) return retry(response.error, &Implementation::watch);
  if (has_progressed_) return watch();
  after(backoff_.usual.next(), &Implementation::watch);
}

void KindWatch::Implementation::refused(const ApiResponse& response, Step again) {
  if (response.status != 403 && response.status != 404) return retry(response.error, again, response.retry_after);
  sink_.changed(response.status == 403 ? WatchState::kForbidden : WatchState::kGone, response.error);
  after(backoff_.refused.next(), &Implementation::list);
}

void KindWatch::Implementation::retry(const std::string& error, Step again,
                                      std::optional<std::chrono::seconds> retry_after) {
  sink_.changed(WatchState::kRetrying, error);
  after(backoff_.usual.next(retry_after), again);
}

void KindWatch::Implementation::after(milliseconds time, Step step) {
  timer_.after(time, [this, step] { (this->*step)(); });
}

KindWatch::KindWatch(ApiClient& client, Target target, KindSink& sink, json::JsonDocument& scratch,
                     const WatchOptions& options, std::uint64_t seed)
    : implementation_(std::make_shared<Implementation>(client, std::move(target), sink, scratch, options, seed)) {}
KindWatch::~KindWatch() = default;

void KindWatch::start() { implementation_->list(); }
std::uint64_t KindWatch::lists() const { return implementation_->lists(); }
std::uint64_t KindWatch::watches() const { return implementation_->watches(); }

}  // namespace muster::api_server
