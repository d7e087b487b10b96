#include "cli/agent/leadership.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "io/api_server/api_client.h"
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
  Implementation(Surroundings surroundings, LeaseName lease, std::string identity, Handlers handlers, LeaseTimes times)
      : surroundings_(std::move(surroundings)),
        lease_(std::move(lease)),
        identity_(std::move(identity)),
        handlers_(std::move(handlers)),
        times_(times) {}

  void attempt() {
    if (is_ended_) return;
    send({"GET", path()}, [this](const api_server::ApiResponse& response) { found(response); });
  }

  bool leads() const { return !is_ended_ && renewed_at_ && now() < *renewed_at_ + times_.deadline; }
  const std::string& holder() const { return record_.holder; }

  std::string why_not() const {
    if (leads()) return "";
    if (record_.holder.empty()) return "no agent holds the Lease yet";
    return record_.holder == identity_ ? "its Lease has not been renewed in time" : record_.holder + " leads";
  }

  void release(std::function<void()> done) {
    const bool is_holder = !is_ended_ && renewed_at_.has_value();
    is_ended_ = true;
    if (!is_holder) return done();
    api_server::ApiRequest request{"PUT", path()};
    request.timeout = times_.retry;  // another agent has the Lease after its duration in any case
    request.content_type = "application/json";
    request.body = body_of("", record_.transitions, record_.acquired);
    surroundings_.send(std::move(request), [done = std::move(done)](const api_server::ApiResponse&) { done(); });
  }

  void forget() noexcept { is_ended_ = true; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  Time now() const { return surroundings_.clock(); }

  std::string path() const {
    return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}",
                       api_server::percent_encoded(lease_.namespace_name), api_server::percent_encoded(lease_.name));
  }

  void send(api_server::ApiRequest request, api_server::ApiHandler handler) {
    request.timeout = times_.deadline;
    surroundings_.send(std::move(request), [weak = weak_from_this(),
                                            handler = std::move(handler)](const api_server::ApiResponse& response) {
      const auto self = weak.lock();
      if (self && !self->is_ended_) handler(response);
    });
  }

  void found(const api_server::ApiResponse& response) {
    if (response.status == 404) return create();
    const auto record = response.is_ok() ? read_lease(response.body) : std::nullopt;
    if (!record) return failed(response.is_ok() ? "it cannot be read" : response.error);
    if (record->holder != record_.holder || record->renewed != record_.renewed) changed_at_ = now();
    record_ = *record;
    const bool is_free = record_.holder.empty() || now() - changed_at_ >= times_.duration;
    if (record_.holder != identity_ && !is_free) {
      renewed_at_.reset();
      last_error_.clear();
      tell();
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
    const Time begun = now();
    const bool is_mine = record_.holder == identity_;
    request.content_type = "application/json";
    request.body = body_of(identity_, transitions, is_mine ? record_.acquired : surroundings_.now());
    send(std::move(request), [this, begun](const api_server::ApiResponse& response) {
      const auto record = response.is_ok() ? read_lease(response.body) : std::nullopt;
      if (!record) return failed(response.status == 409 ? "" : response.error);
      if (!leads()) told_ = false;  // it may have been asked since it expired
      record_ = *record;
      changed_at_ = begun;
      renewed_at_ = begun;
      last_error_.clear();
      tell();
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
    json.raw(R"(,"renewTime":)").string(surroundings_.now());
    json.raw(R"(,"leaseTransitions":)").integer(transitions).raw("}}");
    return body;
  }

  // `error` empty: another agent was faster.
  void failed(const std::string& error) {
    if (!error.empty() && error != last_error_)
      handlers_.on_message(fmt::format("the Lease {}/{}: {}", lease_.namespace_name, lease_.name, error), true);
    last_error_ = error;
    tell();
    later();
  }

  // Called wherever leads() may have changed: after each answer, and when a renewal expires.
  void tell() {
    const bool leads_now = leads();
    if (leads_now && !std::exchange(is_expiry_awaited_, true)) {
      const auto left = *renewed_at_ + times_.deadline - now();
      after(std::chrono::ceil<std::chrono::milliseconds>(left), [this] {
        is_expiry_awaited_ = false;
        tell();
      });
    }
    if (std::exchange(told_, leads_now) == leads_now) return;
    const bool is_late = !leads_now && record_.holder == identity_;
    handlers_.on_message(
        leads_now ? fmt::format("{} leads: it holds the Lease {}/{}", identity_, lease_.namespace_name, lease_.name)
                  : fmt::format("{} follows: {}", identity_, why_not()),
        is_late);
    handlers_.on_change();
  }

  void later() {
    after(times_.retry, [this] { attempt(); });
  }

  void after(std::chrono::milliseconds delay, std::function<void()> task) {
    surroundings_.call_after(delay, [weak = weak_from_this(), task = std::move(task)] {
      const auto self = weak.lock();
      if (self && !self->is_ended_) task();
    });
  }

  const Surroundings surroundings_;
  const LeaseName lease_;
  const std::string identity_;
  const Handlers handlers_;
  const LeaseTimes times_;
  LeaseRecord record_;
  Time changed_at_{};
  std::optional<Time> renewed_at_;  // when the last write that succeeded was begun; none: another agent holds it
  bool told_ = false, is_expiry_awaited_ = false, is_ended_ = false;
  std::string last_error_;
};

Leadership::Leadership(Surroundings surroundings, LeaseName lease, std::string identity, Handlers handlers,
                       LeaseTimes times)
    : implementation_(std::make_shared<Implementation>(std::move(surroundings), std::move(lease), std::move(identity),
                                                       std::move(handlers), times)) {}

// Its timers end with it.
Leadership::~Leadership() { implementation_->forget(); }

void Leadership::start() { implementation_->attempt(); }
bool Leadership::leads() const { return implementation_->leads(); }
const std::string& Leadership::holder() const { return implementation_->holder(); }
std::string Leadership::why_not() const { return implementation_->why_not(); }
void Leadership::release(std::function<void()> done) { implementation_->release(std::move(done)); }

Leadership::Surroundings leadership_surroundings(api_server::ApiClient& client, api_server::Clock clock,
                                                 std::function<std::string()> now) {
  return {[&client](api_server::ApiRequest request, api_server::ApiHandler handler) {
            client.send(std::move(request), std::move(handler));
          },
          [&io = client.io()](std::chrono::milliseconds delay, std::function<void()> task) {
            const auto timer = std::make_shared<boost::asio::steady_timer>(io, delay);
            timer->async_wait([timer, task = std::move(task)](boost::system::error_code error) {
              if (!error) task();
            });
          },
          std::move(clock), std::move(now)};
}

}  // namespace muster::cli
