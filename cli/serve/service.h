// The server's endpoints: what each path does, and its answers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/serve/http_date.h"
#include "cli/serve/metrics.h"
#include "cli/serve/options.h"
#include "cli/serve/queue.h"
#include "cli/terminal/console.h"
#include "io/http/server.h"
#include "io/http/service.h"

namespace muster::cli {

// On the server's thread, except the constructor. Work is done in the queue; its answers come back by `post`.
class ServeService final : public http::HttpService {
 public:
  using Post = std::function<void(std::function<void()>)>;  // runs on the server's thread

  ServeService(const ServeOptions& options, Metrics& metrics, Console& console, ServeQueue& queue);

  // Before the server runs.
  void attach(Post post, std::function<std::size_t()> connections);
  void set_options(const ServeOptions& options);
  // From any thread:
  void set_draining() { is_draining_ = true; }
  // 404 if the path is not served, 405 if the method is not.
  static std::optional<http::HttpResponse> refuse_route(const http::HttpRequest& head);
  // The answer to a GET that refuse_route() lets pass.
  http::HttpResponse look_up(const http::HttpRequest& request) const;

  std::optional<http::HttpResponse> refuse(const http::HttpRequest& head) override;
  void serve(std::shared_ptr<http::HttpExchange> exchange) override;
  void gone(const std::shared_ptr<http::HttpExchange>& exchange) override;
  void answered(const http::HttpRequest& request, unsigned status, bool is_whole) override;
  void dropped(std::string_view reason) override;
  std::string date() override { return date_.now(); }

 private:
  class LineStream;
  struct Started {
    portfolio::Clock::time_point at;
    bool is_in_flight = false;
  };

  void serve_document(WorkKind kind, const std::shared_ptr<http::HttpExchange>& exchange);
  void answer_document(const std::shared_ptr<http::HttpExchange>& exchange, ServeAnswer answer);
  void tell(const http::HttpRequest& request, const ServeAnswer& answer);
  // Takes a step of an answer; an exception ends the answer and its connection.
  template <class Step>
  void attempt(const std::shared_ptr<http::HttpExchange>& exchange, const Step& step) {
    try {
      step();
    } catch (const std::exception&) {
      exchange->abandon();
    }
  }
  void release(const http::HttpRequest& request);
  std::shared_ptr<const WorkOptions> work_options(const http::HttpRequest& request) const;

  Metrics& metrics_;
  Console& console_;
  ServeQueue& queue_;
  Post post_;
  std::function<std::size_t()> connections_;
  std::size_t max_in_flight_ = 0;
  std::atomic<std::size_t> in_flight_{0};
  std::shared_ptr<const WorkOptions> options_;
  std::unordered_map<const http::HttpRequest*, Started> started_;
  std::atomic<bool> is_draining_{false};
  HttpDate date_;
};

}  // namespace muster::cli
