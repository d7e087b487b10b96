#include "cli/serve/notify.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/http/service.h"

namespace muster::cli {

namespace {

// A number of the environment; 0: there is none.
std::int64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

}  // namespace

ServiceNotifier::ServiceNotifier() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  if (address == nullptr || (*address != '/' && *address != '@')) return;
  address_ = address;
  if (address_.size() >= sizeof(sockaddr_un::sun_path)) return;
  descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const std::int64_t process = number_in("WATCHDOG_PID");
  const std::int64_t microseconds = number_in("WATCHDOG_USEC");
  if (microseconds > 0 && (process == 0 || process == getpid())) {
    watchdog_interval_ =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(microseconds / 2));
  }
}

ServiceNotifier::~ServiceNotifier() {
  if (descriptor_ >= 0) close(descriptor_);
}

void ServiceNotifier::tell(std::string_view state) const {
  if (descriptor_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(to.sun_path), address_.data(), address_.size());
  if (address_.front() == '@') to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // The service manager has to do without the message if this fails.
  [[maybe_unused]] const ssize_t sent =
      sendto(descriptor_, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
}

std::optional<http::HttpResponse> ServeObserver::refuse(const http::HttpRequest& head) {
  if (!head.path.starts_with("/v1/")) return ServeService::refuse_route(head);
  return http::problem_response(
      {404, http::HttpFault::kNotFound, "unknown path; known paths: /healthz, /readyz, /version, /metrics", {}},
      head.id);
}

void ServeObserver::serve(std::shared_ptr<http::HttpExchange> exchange) {
  exchange->respond(service_.look_up(exchange->request));
}

}  // namespace muster::cli
