#include "io/api_server/cluster_watch.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "io/api_server/timer.h"

namespace muster::api_server {

namespace {

constexpr std::string_view kCrdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
// Definitions hold schemas, which are long; their names suffice.
constexpr std::string_view kNamesOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
// Discoveries after a definition has changed: the server serves a new kind, and tells of it, some time later.
constexpr int kFollowUps = 2;
constexpr int kFollowUpDelay = 4;  // of the second one, times the first

// Tells that a definition came, changed or left.
class CrdSink final : public KindSink {
 public:
  CrdSink(std::function<void()> touched, std::function<void()> moved)
      : touched_(std::move(touched)), moved_(std::move(moved)) {}

  void list_begins() override { is_listing_ = true; }
  void list_ends(std::string_view) override {
    is_listing_ = false;
    if (std::exchange(is_listed_, true)) touched_();
  }
  bool set(json::JsonValue object) override { return touch(object); }
  bool remove(json::JsonValue object) override { return touch(object); }
  void reached(std::string_view) override {}
  void changed(WatchState state, const std::string&) override {
    const bool is_refused = state == WatchState::kForbidden || state == WatchState::kGone;
    if (!is_refused && state != WatchState::kWatching) return;  // an attempt says nothing
    if (std::exchange(is_allowed_, !is_refused) == is_refused) moved_();
  }
  bool is_allowed() const { return is_allowed_; }

 private:
  bool touch(json::JsonValue object) {
    if (!object.is(json::JsonKind::kObject)) return false;
    if (!is_listing_) touched_();
    return true;
  }

  std::function<void()> touched_, moved_;
  bool is_listing_ = false, is_listed_ = false, is_allowed_ = true;
};

// What was reported of a kind.
struct Told {
  WatchState state = WatchState::kListing;
  std::string error;
  bool is_failing() const { return !error.empty(); }
};

}  // namespace

class ClusterWatch::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(ApiClient& client, Clock clock, ClusterWatchOptions options, ClusterWatchHandlers handlers)
      : client_(client),
        options_(std::move(options)),
        handlers_(std::move(handlers)),
        seeds_(options_.seed),
        store_(std::move(clock), options_.kubernetes),
        discovery_(client),
        next_{Backoff(options_.watch.backoff, seeds_()), Timer(client.io())} {
    store_.on_change([this] { notify(); });
  }

  void discover();
  const ObjectStore& store() const { return store_; }
  bool is_discovered() const { return is_discovered_; }
  const std::string& error() const { return error_; }
  // No handler is called any more.
  void stop() { handlers_ = {}; }

 private:
  struct Watched {
    ServedKind kind;
    std::unique_ptr<KindWatch> watch;
    Told told = {};
  };
  using Watches = std::map<const kubernetes::KnownKind*, Watched>;

  void discovered(const Discovered& result);
  void add(const ServedKind& kind);
  Watches::iterator remove(Watches::iterator at);
  bool update(const std::vector<ServedKind>& kinds);
  void watch_crds(bool has_crds);
  void plan_discovery(bool is_soon);
  void touched();
  void notify();
  void turn();
  void report(Watched& watched, const KindReport& report);
  void say(const std::string& message, bool is_failure = false);

  ApiClient& client_;
  const ClusterWatchOptions options_;
  ClusterWatchHandlers handlers_;
  std::mt19937_64 seeds_;
  ObjectStore store_;
  json::JsonDocument scratch_;
  Discovery discovery_;
  struct Next {
    Backoff backoff;
    Timer timer;
    int follow_ups = 0;
  } next_;  // discovery
  struct Definitions {
    std::unique_ptr<CrdSink> sink;
    std::unique_ptr<KindWatch> watch;
  } crds_;
  Watches watches_;
  std::set<const kubernetes::KnownKind*> missing_;  // from the last discovery, but not from the one before
  std::string error_;
  bool is_discovered_ = false, is_turn_due_ = false;
};

void ClusterWatch::Implementation::say(const std::string& message, bool is_failure) {
  const auto keep = handlers_.on_message;
  if (keep) keep(message, is_failure);
}

void ClusterWatch::Implementation::discover() {
  next_.timer.cancel();
  discovery_.ask([this](const Discovered& result) { discovered(result); });
}

void ClusterWatch::Implementation::discovered(const Discovered& result) {
  if (!result.error.empty()) {
    if (error_ != result.error) say("discovery failed: " + result.error, true);
    error_ = result.error;
    notify();
    return next_.timer.after(next_.backoff.next(), [this] { discover(); });
  }
  if (!std::exchange(error_, {}).empty()) say("discovery works again");
  next_.backoff.reset();
  is_discovered_ = true;
  const bool has_doubts = update(result.kinds);
  watch_crds(result.has_crds);
  plan_discovery(has_doubts);
  notify();
}

// Whether a kind is missing that was there.
bool ClusterWatch::Implementation::update(const std::vector<ServedKind>& kinds) {
  std::set<const kubernetes::KnownKind*> missing;
  for (auto at = watches_.begin(); at != watches_.end();) {
    const auto found = std::ranges::find(kinds, at->first, &ServedKind::known);
    const bool is_missing = found == kinds.end();
    if (!is_missing && *found == at->second.kind) {
      ++at;
    } else if (!is_missing || missing_.contains(at->first) || at->second.told.state == WatchState::kGone) {
      at = remove(at);
    } else {
      missing.insert(at->first);
      ++at;
    }
  }
  missing_ = std::move(missing);
  for (const ServedKind& kind : kinds) {
    if (!watches_.contains(kind.known)) add(kind);
  }
  return !missing_.empty();
}

void ClusterWatch::Implementation::add(const ServedKind& kind) {
  KindSink& sink = store_.add_kind(kind);
  auto watch =
      std::make_unique<KindWatch>(client_, KindWatch::Target{kind.path()}, sink, scratch_, options_.watch, seeds_());
  const auto [place, is_new] = watches_.emplace(kind.known, Watched{kind, std::move(watch)});
  say("watching " + kind.title() + " (" + kind.api_version() + ")");
  place->second.watch->start();
}

ClusterWatch::Implementation::Watches::iterator ClusterWatch::Implementation::remove(Watches::iterator at) {
  say("the API server no longer has " + at->second.kind.title() + " (" + at->second.kind.api_version() + ")");
  const kubernetes::KnownKind& known = *at->first;
  const auto next = watches_.erase(at);  // before the sink that it uses
  store_.remove_kind(known);
  return next;
}

void ClusterWatch::Implementation::watch_crds(bool has_crds) {
  if (!has_crds) {
    crds_.watch.reset();  // before the sink that it uses
    crds_.sink.reset();
  } else if (!crds_.watch) {
    crds_.sink = std::make_unique<CrdSink>([this] { touched(); }, [this] { plan_discovery(false); });
    crds_.watch =
        std::make_unique<KindWatch>(client_, KindWatch::Target{std::string(kCrdPath), std::string(kNamesOnly)},
                                    *crds_.sink, scratch_, options_.watch, seeds_());
    crds_.watch->start();
  }
}

void ClusterWatch::Implementation::plan_discovery(bool is_soon) {
  auto time = crds_.sink && crds_.sink->is_allowed() ? options_.period : options_.period_without_crds;
  if (next_.follow_ups > 0) time = options_.settle * (next_.follow_ups-- == kFollowUps ? 1 : kFollowUpDelay);
  if (is_soon) time = options_.settle;
  next_.timer.after(time, [this] { discover(); });
}

// A definition changed. Several changes in a row are one.
void ClusterWatch::Implementation::touched() {
  next_.follow_ups = kFollowUps;
  plan_discovery(false);
}

void ClusterWatch::Implementation::notify() {
  if (std::exchange(is_turn_due_, true)) return;
  boost::asio::post(client_.io(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->turn();
  });
}

void ClusterWatch::Implementation::turn() {
  is_turn_due_ = false;
  for (const KindReport& kind : store_.reports()) {
    const auto found = watches_.find(kind.kind.known);
    if (found != watches_.end()) report(found->second, kind);
  }
  const auto keep = handlers_.on_change;
  if (keep) keep();
}

void ClusterWatch::Implementation::report(Watched& watched, const KindReport& report) {
  Told& told = watched.told;
  if (report.state == told.state && report.error == told.error) return;
  if (report.state == WatchState::kListing) return;  // not known yet how it ends
  const bool was_gone = told.state == WatchState::kGone, was_failing = told.is_failing();
  const bool is_told = told.error == report.error;
  told = {report.state, report.error};
  if (report.state == WatchState::kGone && !was_gone) plan_discovery(true);
  if (!told.is_failing()) {
    if (was_failing) say(watched.kind.title() + ": watched again");
  } else if (!is_told) {
    say(report.error, true);
  }
}

ClusterWatch::ClusterWatch(ApiClient& client, Clock clock, ClusterWatchOptions options, ClusterWatchHandlers handlers)
    : implementation_(
          std::make_shared<Implementation>(client, std::move(clock), std::move(options), std::move(handlers))) {}
ClusterWatch::~ClusterWatch() { implementation_->stop(); }

void ClusterWatch::start() { implementation_->discover(); }
void ClusterWatch::discover() { implementation_->discover(); }
const ObjectStore& ClusterWatch::objects() const { return implementation_->store(); }
bool ClusterWatch::is_complete() const {
  return implementation_->is_discovered() && implementation_->store().is_complete();
}
const std::string& ClusterWatch::discovery_error() const { return implementation_->error(); }

}  // namespace muster::api_server
