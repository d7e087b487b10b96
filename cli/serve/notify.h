// Service notifications for systemd, by its own protocol (sd_notify(3)): datagrams to the socket that NOTIFY_SOCKET
// names.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/serve/http_date.h"
#include "cli/serve/metrics.h"
#include "cli/serve/service.h"
#include "io/http/server.h"

namespace muster::cli {

class ServiceNotifier {
 public:
  // Reads NOTIFY_SOCKET and WATCHDOG_USEC; without the former nothing is sent.
  ServiceNotifier();
  ~ServiceNotifier();
  ServiceNotifier(const ServiceNotifier&) = delete;
  ServiceNotifier& operator=(const ServiceNotifier&) = delete;

  // "READY=1", "STOPPING=1", "RELOADING=1", "WATCHDOG=1"; several in one call with line feeds between. Never waits.
  void tell(std::string_view state) const;
  // The interval at which to send "WATCHDOG=1": half of systemd's timeout. None: not at all.
  std::optional<std::chrono::milliseconds> watchdog_interval() const { return watchdog_interval_; }

 private:
  int descriptor_ = -1;
  std::string address_;
  std::optional<std::chrono::milliseconds> watchdog_interval_;
};

// The endpoints for monitoring clients: GET /healthz, /readyz, /version, /metrics, and nothing else.
//
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
