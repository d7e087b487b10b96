// The endpoints for monitoring clients: GET /healthz, /readyz, /version, /metrics, and nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/serve/http_date.h"
#include "cli/serve/metrics.h"
#include "cli/serve/service.h"
#include "io/http/server.h"

namespace muster::cli {

// On the thread of its own server, so that probes are answered however many clients the main one has.
class ServeObserver final : public http::HttpService {
 public:
  // Both outlive it.
  ServeObserver(const ServeService& service, Metrics& metrics) : service_(service), metrics_(metrics) {}

  std::optional<http::HttpResponse> refuse(const http::HttpRequest& head) override;
  void serve(std::shared_ptr<http::HttpExchange> exchange) override;
  void gone(const std::shared_ptr<http::HttpExchange>&) override {}
  void answered(const http::HttpRequest&, unsigned, bool) override {}
  void dropped(std::string_view reason) override { metrics_.dropped(reason); }
  std::string date() override { return date_.now(); }

 private:
  const ServeService& service_;
  Metrics& metrics_;
  HttpDate date_;
};

}  // namespace muster::cli
