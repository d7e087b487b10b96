#include "io/api_server/api_client.h"

#include <utility>
#include <vector>

#include "io/api_server/call.h"
#include "model/base/require.h"

namespace muster::api_server {

namespace {

// Cancels its call at its end.
class OpenStream final : public ApiStream {
 public:
  explicit OpenStream(std::weak_ptr<Call> call, std::function<void(Call&)> forget)
      : call_(std::move(call)), forget_(std::move(forget)) {}
  ~OpenStream() override {  // NOLINT(bugprone-exception-escape): only memory that runs out throws, and ends the program
    const auto call = call_.lock();
    if (!call) return;
    call->cancel();
    forget_(*call);
  }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

 private:
  std::weak_ptr<Call> call_;
  std::function<void(Call&)> forget_;
};

}  // namespace

struct ApiClient::Implementation : std::enable_shared_from_this<Implementation> {
  Implementation(boost::asio::io_context& io, ServerAddress address, Clock clock, const ApiLimits& limits)
      : context{io,
                std::move(address),
                limits,
                Credentials({}, clock, limits.token_period),
                IdleConnections(io, limits.idle_timeout),
                [this](Call& call) { forget(call); }} {
    context.credentials = Credentials(context.address.token_file, std::move(clock), limits.token_period);
  }

  // Starts what has its turn, later: a handler of the caller must not be called from within its own call.
  void start_waiting() {
    while (!waiting.empty() && requests < context.limits.max_connections) {
      const std::shared_ptr<Call> call = std::move(waiting.front());
      waiting.pop_front();
      ++requests;
      calls.insert(call);
      call->start();
    }
  }

  void forget(Call& call) {
    if (calls.erase(call.shared_from_this()) == 0) return;
    if (call.is_stream()) return;
    --requests;
    if (!is_closed) start_waiting();
  }

  void close() {
    is_closed = true;
    waiting.clear();
    for (const auto& call : std::exchange(calls, {})) call->cancel();
    context.idle.close_all();
  }

  CallContext context;
  std::deque<std::shared_ptr<Call>> waiting;
  std::set<std::shared_ptr<Call>> calls;  // on their way, streams included
  std::size_t requests = 0;               // of them
  bool is_closed = false;
};

ApiClient::ApiClient(boost::asio::io_context& io, ServerAddress address, Clock clock, const ApiLimits& limits)
    : implementation_(std::make_shared<Implementation>(io, std::move(address), std::move(clock), limits)) {
  MUSTER_REQUIRE(limits.max_connections > 0);
}

ApiClient::~ApiClient() { implementation_->close(); }  // NOLINT(bugprone-exception-escape): as above

void ApiClient::send(ApiRequest request, Handler handler) {
  MUSTER_REQUIRE(handler != nullptr);
  implementation_->waiting.push_back(
      std::make_shared<Call>(implementation_->context, std::move(request), CallHandlers{std::move(handler)}));
  implementation_->start_waiting();
}

std::unique_ptr<ApiStream> ApiClient::open(ApiRequest request, std::chrono::milliseconds silence,
                                           StreamHandlers handlers) {
  const auto call = std::make_shared<Call>(implementation_->context, std::move(request),
                                           CallHandlers{{}, std::move(handlers), silence});
  implementation_->calls.insert(call);
  call->start();
  return std::make_unique<OpenStream>(call, [client = std::weak_ptr(implementation_)](Call& cancelled) {
    if (const auto implementation = client.lock()) implementation->calls.erase(cancelled.shared_from_this());
  });
}

const ServerAddress& ApiClient::address() const { return implementation_->context.address; }
boost::asio::io_context& ApiClient::io() const { return implementation_->context.io; }
std::size_t ApiClient::connections() const {
  return implementation_->calls.size() + implementation_->context.idle.size();
}
std::size_t ApiClient::waiting() const { return implementation_->waiting.size(); }
std::weak_ptr<const void> ApiClient::lifetime() const { return implementation_; }

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= 'a' && byte <= 'z') || std::string_view("-._~").find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

}  // namespace muster::api_server
