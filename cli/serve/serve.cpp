#include "cli/serve/serve.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/serve/metrics.h"
#include "cli/serve/notify.h"
#include "cli/serve/options.h"
#include "cli/serve/queue.h"
#include "cli/serve/service.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kSaveEvery{60'000};

// The signals that the server handles, taken one by one. They are blocked in every thread that is started from now on.
class Signals {
 public:
  Signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, number);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    descriptor_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  }
  ~Signals() { close(descriptor_); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  int descriptor() const { return descriptor_; }
  // 0: none is there.
  int take() const {
    signalfd_siginfo signal{};
    return read(descriptor_, &signal, sizeof signal) == sizeof signal ? static_cast<int>(signal.ssi_signo) : 0;
  }

 private:
  int descriptor_;
};

// Readable once it has been signalled.
class Event {
 public:
  Event() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Event() { close(descriptor_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  int descriptor() const { return descriptor_; }
  void tell() const { eventfd_write(descriptor_, 1); }

 private:
  int descriptor_;
};

std::string monotonic_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return fmt::format("{}", now.tv_sec * 1'000'000 + now.tv_nsec / 1'000);
}

void remove_sockets(const ServeOptions& options) {
  http::remove_socket(options.address);
  if (options.observe_address) http::remove_socket(*options.observe_address);
}

// The server with all that belongs to it.
class Sidecar {
 public:
  Sidecar(const ServeOptions& options, ServeHistories& histories, int argc, const char* const* argv)
      : options_(options),
        histories_(histories),
        argc_(argc),
        argv_(argv),
        console_(options.console),
        queue_(kOwnProgram, options.solvers, histories,
               [this](const SolvedLine& line, portfolio::Clock::duration waited) { metrics_.solved(line, waited); }),
        service_(options, metrics_, console_, queue_) {}

  // `observed`: the listener for monitoring clients; none: -1.
  int run(int listener, int observed, const Signals& signals);

 private:
  void announce(int listener, int observed);
  void wait(http::HttpServer& server, const Signals& signals, const Event& finished);
  void attempt(const std::function<void()>& action);
  void act(int signal, http::HttpServer& server);
  void drain(int signal, http::HttpServer& server);
  void reload(http::HttpServer& server);
  void save(std::chrono::steady_clock::duration interval);

  ServeOptions options_;
  ServeHistories& histories_;
  const int argc_;
  const char* const* const argv_;
  Console console_;
  Metrics metrics_;
  ServiceNotifier notifier_;
  ServeQueue queue_;
  ServeService service_;
  ServeObserver observer_{service_, metrics_};
  bool is_draining_ = false;
};

// Answers monitoring clients, on a thread of its own, for as long as it lives.
class Observing {
 public:
  Observing(int listener, ServeObserver& observer, const http::HttpLimits& limits)
      : server_({listener}, observer, limits), thread_([this] { server_.run(); }) {}
  ~Observing() { server_.drain(); }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  http::HttpServer server_;
  std::jthread thread_;
};

struct Draining {
  http::HttpServer& server;
  ~Draining() { server.drain(); }
};

int Sidecar::run(int listener, int observed, const Signals& signals) {
  const Event finished;
  http::HttpServer server({listener}, service_, options_.limits);
  service_.attach([&server](const std::function<void()>& task) { server.post(task); },
                  [&server] { return server.connections(); });
  {
    std::optional<Observing> observing;
    if (observed >= 0) observing.emplace(observed, observer_, options_.observe_limits);
    const std::jthread serving([&] {
      server.run();
      finished.tell();
    });
    const Draining draining{server};  // however this ends, the thread above ends first
    attempt([&] { announce(listener, observed); });
    wait(server, signals, finished);
  }
  queue_.stop();
  save({});
  console_.say(Severity::kInformation, "all requests are answered");
  return kExitAnswered;
}

void Sidecar::announce(int listener, int observed) {
  console_.say(Severity::kInformation,
               fmt::format("listening on {}", escaped(http::name_of_listener(options_.address, listener))));
  if (observed >= 0) {
    console_.say(Severity::kInformation,
                 fmt::format("health checks and metrics on {}",
                             escaped(http::name_of_listener(*options_.observe_address, observed))));
  }
  notifier_.tell("READY=1");
}

// What fails next to the requests, such as a message for which there is no memory, does not end the server.
void Sidecar::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception&) {
    service_.dropped("defect");
  }
}

// Until everything is answered.
void Sidecar::wait(http::HttpServer& server, const Signals& signals, const Event& finished) {
  const auto interval = notifier_.watchdog_interval();
  int timeout = interval ? static_cast<int>(std::max<std::int64_t>(1, interval->count())) : -1;
  if (timeout < 0 && !options_.histories.file.empty()) timeout = static_cast<int>(kSaveEvery.count());
  while (true) {
    attempt([&] { save(kSaveEvery); });
    attempt([&] {
      if (interval && !queue_.is_stuck()) notifier_.tell("WATCHDOG=1");
    });
    std::array<pollfd, 2> ready = {{{signals.descriptor(), POLLIN, 0}, {finished.descriptor(), POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), timeout) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    for (int signal = signals.take(); signal != 0; signal = signals.take()) {
      const bool is_second = is_draining_ && signal != SIGHUP;
      attempt([&] { is_second ? remove_sockets(options_) : act(signal, server); });
      if (is_second) _exit(kExitSignalled + signal);  // whatever is being done
    }
  }
}

void Sidecar::save(std::chrono::steady_clock::duration interval) {
  const std::string fault = histories_.save(interval);
  if (!fault.empty()) console_.say(Severity::kError, escaped(fault));
}

void Sidecar::act(int signal, http::HttpServer& server) { signal == SIGHUP ? reload(server) : drain(signal, server); }

void Sidecar::drain(int signal, http::HttpServer& server) {
  is_draining_ = true;
  service_.set_draining();
  server.drain();
  notifier_.tell("STOPPING=1");
  console_.say(Severity::kInformation, fmt::format("{}: answering the accepted requests, then exiting",
                                                   signal == SIGINT ? "SIGINT" : "SIGTERM"));
}

void Sidecar::reload(http::HttpServer& server) {
  notifier_.tell("RELOADING=1\nMONOTONIC_USEC=" + monotonic_microseconds());
  try {
    const ServeOptions options = serve_options(Settings(serve_syntax(), argc_, argv_));
    const bool has_moved = options.address != options_.address || options.is_insecure != options_.is_insecure ||
                           options.solvers != options_.solvers || options.observe_address != options_.observe_address ||
                           !(options.histories == options_.histories);
    console_.set_options(options.console);
    server.set_limits(options.limits);
    server.post([this, options] { service_.set_options(options); });
    metrics_.reloaded(true);
    console_.say(Severity::kInformation, "configuration reloaded");
    if (has_moved)
      console_.say(Severity::kWarning,
                   "changes of --listen, --observe, --insecure, --solvers, --keep-durations, --usage-half-life and "
                   "--histories take effect at the next start");
  } catch (const std::exception& error) {
    metrics_.reloaded(false);
    console_.say(Severity::kError,
                 fmt::format("reload failed, the old configuration stays in effect: {}", escaped(error.what())));
  }
  notifier_.tell("READY=1");
}

// None: it cannot listen, and stderr reports why. Throws UsageError.
std::optional<int> listen_on(const std::string& flag, const http::ListenAddress& address, bool is_insecure) {
  const Result<int> listener = http::open_listener(address, is_insecure);
  if (listener) return *listener;
  if (listener.error().code == ErrorCode::kInsecure) throw UsageError(flag + ": " + listener.error().message);
  write_all(STDERR_FILENO, fmt::format("muster serve: {}\n", escaped(listener.error().message)));
  return std::nullopt;
}

}  // namespace

int run_serve(int argc, const char* const* argv) {
  const Settings settings(serve_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(serve_syntax()), kExitAnswered);
  const ServeOptions options = serve_options(settings);
  ServeHistories histories(options.histories);
  if (const auto error = histories.load()) {
    write_all(STDERR_FILENO,
              fmt::format("muster serve: --histories: {}: {}\n", escaped(error->path), escaped(error->message)));
    return kExitNoInput;
  }
  const Signals signals;
  const auto listener = listen_on("--listen", options.address, options.is_insecure);
  if (!listener) return kExitCannotCreate;
  std::optional<int> observed = -1;
  // Monitoring clients may connect from anywhere: they can read counters and send nothing.
  if (options.observe_address) observed = listen_on("--observe", *options.observe_address, true);
  const int exit_code =
      observed ? Sidecar(options, histories, argc, argv).run(*listener, *observed, signals) : kExitCannotCreate;
  remove_sockets(options);
  return exit_code;
}

}  // namespace muster::cli
