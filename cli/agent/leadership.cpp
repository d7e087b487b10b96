#include "cli/agent/leadership.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"

namespace muster::cli {

// What this agent reads of a Lease.
struct LeaseRecord {
  std::string resource_version, holder, renewed, acquired;
  std::int64_t transitions = 0;
};

namespace {

json::JsonValue member(json::JsonValue object, std::string_view key) {
  if (!object || !object.is(json::JsonKind::kObject)) return {};
  for (const json::JsonMember one : object.members()) {
    if (one.key == key) return one.value;
  }
  return {};
}

std::string text_member(json::JsonValue object, std::string_view key) {
  const json::JsonValue value = member(object, key);
  return value && value.is(json::JsonKind::kString) ? std::string(value.string()) : "";
}

std::optional<LeaseRecord> read_lease(const std::string& body) {
  json::JsonDocument document;
  if (document.parse(body, {})) return std::nullopt;
  const json::JsonValue metadata = member(document.root(), "metadata"), spec = member(document.root(), "spec");
  LeaseRecord record{text_member(metadata, "resourceVersion"), text_member(spec, "holderIdentity"),
                     text_member(spec, "renewTime"), text_member(spec, "acquireTime"), 0};
  const json::JsonValue transitions = member(spec, "leaseTransitions");
  if (transitions && transitions.is(json::JsonKind::kInteger)) record.transitions = transitions.integer();
  return record;
}

}  // namespace

class Leadership::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(api_server::ApiClient& client, LeaseName lease, std::string identity, api_server::Clock clock,
                 Handlers handlers, LeaseTimes times)
      : client_(client),
        lease_(std::move(lease)),
        identity_(std::move(identity)),
        clock_(std::move(clock)),
        handlers_(std::move(handlers)),
        times_(times),
        timer_(client.io()) {}

  void attempt() {
    if (is_ended_) return;
    send({"GET", path()}, [this](const api_server::ApiResponse& response) { found(response); });
  }

  bool leads() const { return is_leading_ && clock_() - renewed_at_ < times_.deadline; }
  const std::string& holder() const { return record_.holder; }

  void release(std::function<void()> done) {
    end();
    if (!std::exchange(is_leading_, false)) return done();
    api_server::ApiRequest request{"PUT", path()};
    request.timeout = times_.retry;  // another agent has the Lease after its duration in any case
    request.content_type = "application/json";
    request.body = body_of("", record_.transitions, record_.acquired);
    client_.send(std::move(request), [done = std::move(done)](const api_server::ApiResponse&) { done(); });
  }

  void forget() noexcept { is_ended_ = true; }

  void end() {
    is_ended_ = true;
    timer_.cancel();
  }

 private:
  using Handler = std::function<void(const api_server::ApiResponse&)>;

  std::string path() const {
    return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}",
                       api_server::percent_encoded(lease_.namespace_name), api_server::percent_encoded(lease_.name));
  }

  void send(api_server::ApiRequest request, Handler handler) {
    request.timeout = times_.deadline;
    client_.send(std::move(request),
                 [weak = weak_from_this(), handler = std::move(handler)](const api_server::ApiResponse& response) {
                   const auto self = weak.lock();
                   if (self && !self->is_ended_) handler(response);
                 });
  }

  void found(const api_server::ApiResponse& response) {
    if (response.status == 404) return create();
    const auto record = response.is_ok() ? read_lease(response.body) : std::nullopt;
    if (!record) return failed(response.is_ok() ? "the Lease cannot be read" : response.error);
    if (record->holder != record_.holder || record->renewed != record_.renewed) changed_at_ = clock_();
    record_ = *record;
    const bool is_free = record_.holder.empty() || clock_() - changed_at_ >= times_.duration;
    if (record_.holder != identity_ && !is_free) {
      settle(false);
      return later();
    }
    take();
  }

  void create() {
    record_ = {};
    api_server::ApiRequest request{"POST", fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases",
                                                       api_server::percent_encoded(lease_.namespace_name))};
    write(std::move(request), 0);
  }

  void take() {
    const bool is_mine = record_.holder == identity_;
    write({"PUT", path()}, record_.transitions + (is_mine ? 0 : 1));
  }

  void write(api_server::ApiRequest request, std::int64_t transitions) {
    const auto begun = clock_();
    const bool is_mine = record_.holder == identity_;
    request.content_type = "application/json";
    request.body = body_of(identity_, transitions, is_mine ? record_.acquired : handlers_.now());
    send(std::move(request), [this, begun](const api_server::ApiResponse& response) {
      const auto record = response.is_ok() ? read_lease(response.body) : std::nullopt;
      if (!record) return failed(response.status == 409 ? "" : response.error);
      record_ = *record;
      renewed_at_ = changed_at_ = begun;
      last_error_.clear();
      settle(true);
      later();
    });
  }

  std::string body_of(const std::string& holder, std::int64_t transitions, const std::string& acquired) const {
    std::string body;
    json::JsonWriter json(body);
    json.raw(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":)").string(lease_.name);
    json.raw(R"(,"namespace":)").string(lease_.namespace_name);
    if (!record_.resource_version.empty()) json.raw(R"(,"resourceVersion":)").string(record_.resource_version);
    json.raw(R"(},"spec":{"holderIdentity":)").string(holder);
    json.raw(R"(,"leaseDurationSeconds":)").integer(std::max<std::int64_t>(1, times_.duration.count() / 1000));
    json.raw(R"(,"acquireTime":)").string(acquired);
    json.raw(R"(,"renewTime":)").string(handlers_.now());
    json.raw(R"(,"leaseTransitions":)").integer(transitions).raw("}}");
    return body;
  }

  // `error` empty: another agent was faster.
  void failed(const std::string& error) {
    if (!error.empty() && error != last_error_) handlers_.on_message("the Lease: " + error);
    last_error_ = error;
    if (!leads()) settle(false);
    later();
  }

  void settle(bool is_leading) {
    const bool was_leading = std::exchange(is_leading_, is_leading);
    if (was_leading == is_leading) return;
    if (is_leading) {
      handlers_.on_message(
          fmt::format("{} leads: it holds the Lease {}/{}", identity_, lease_.namespace_name, lease_.name));
    } else if (record_.holder == identity_) {
      handlers_.on_message(identity_ + " follows: it could not renew the Lease in time");
    } else {
      handlers_.on_message(fmt::format("{} follows: {} holds the Lease", identity_,
                                       record_.holder.empty() ? "no agent" : record_.holder));
    }
    handlers_.on_change();
  }

  void later() {
    timer_.expires_after(times_.retry);
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      const auto self = weak.lock();
      if (self && !error) self->attempt();
    });
  }

  api_server::ApiClient& client_;
  const LeaseName lease_;
  const std::string identity_;
  const api_server::Clock clock_;
  const Handlers handlers_;
  const LeaseTimes times_;
  boost::asio::steady_timer timer_;
  LeaseRecord record_;
  std::chrono::steady_clock::time_point changed_at_, renewed_at_;
  bool is_leading_ = false, is_ended_ = false;
  std::string last_error_;
};

Leadership::Leadership(api_server::ApiClient& client, LeaseName lease, std::string identity, api_server::Clock clock,
                       Handlers handlers, LeaseTimes times)
    : implementation_(std::make_shared<Implementation>(client, std::move(lease), std::move(identity), std::move(clock),
                                                       std::move(handlers), times)) {}

// Its timer ends with it.
Leadership::~Leadership() { implementation_->forget(); }

void Leadership::start() { implementation_->attempt(); }
bool Leadership::leads() const { return implementation_->leads(); }
const std::string& Leadership::holder() const { return implementation_->holder(); }
void Leadership::release(std::function<void()> done) { implementation_->release(std::move(done)); }

}  // namespace muster::cli
