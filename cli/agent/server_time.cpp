#include "cli/agent/server_time.h"

#include <utility>

namespace muster::cli {

void ServerTime::start(std::function<void()> known) { ask(std::move(known)); }

void ServerTime::ask(std::function<void()> known) {
  api_server::ApiRequest request;
  request.target = "/version";
  client_.send(std::move(request), [this, known = std::move(known)](const api_server::ApiResponse& response) {
    clock_.learn(response.date, std::chrono::steady_clock::now());
    const bool is_known = now() != 0;
    if (!is_known) failed_(response.error.empty() ? "the API server's answers have no Date" : response.error);
    if (is_known && known) known();
    timer_.expires_after(is_known ? std::chrono::seconds(60) : std::chrono::seconds(1));
    timer_.async_wait([this, next = is_known ? nullptr : known](boost::system::error_code error) {
      if (!error) ask(next);
    });
  });
}

}  // namespace muster::cli
