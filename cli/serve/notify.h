// Service notifications for systemd, by its own protocol (sd_notify(3)): datagrams to the socket that NOTIFY_SOCKET
// names.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace muster::cli
