#include "cli/serve/options.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "cli/line/line_options.h"
#include "model/base/parallel.h"

namespace muster::cli {
namespace {

// Of the budget, for a request that has waited for all of it.
constexpr double kLeastShare = 0.05;
constexpr std::int64_t kMostSolvers = 64;
constexpr const char* kDefaultAddress = "unix:/run/muster/muster.sock";
constexpr std::size_t kObserverConnections = 64;

void set_bytes(const Settings& settings, std::string_view name, std::int64_t least, std::size_t& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (const auto bytes = settings.integer(name, least, kMost)) field = static_cast<std::size_t>(*bytes);
}

void set_duration(const Settings& settings, std::string_view name, std::chrono::milliseconds& field) {
  constexpr std::chrono::nanoseconds kMost = std::chrono::hours(24);
  const auto duration = settings.duration(name);
  if (!duration) return;
  field = std::chrono::ceil<std::chrono::milliseconds>(std::min(std::chrono::nanoseconds(*duration), kMost));
}

http::HttpLimits http_limits(const Settings& settings) {
  constexpr std::int64_t kLeastHeaderBytes = 256;
  http::HttpLimits limits;
  constexpr std::int64_t kMostHeaderBytes = std::int64_t{1} << 20;
  if (const auto bytes = settings.integer("max-header-bytes", kLeastHeaderBytes, kMostHeaderBytes)) {
    limits.max_header_bytes = static_cast<std::size_t>(*bytes);
  }
  set_bytes(settings, "max-body-bytes", 1, limits.max_body_bytes);
  set_bytes(settings, "max-buffered-bytes", 1, limits.max_buffered_bytes);
  set_duration(settings, "header-timeout", limits.header_timeout);
  set_duration(settings, "body-timeout", limits.body_timeout);
  set_duration(settings, "idle-timeout", limits.idle_timeout);
  set_duration(settings, "write-timeout", limits.write_timeout);
  const auto connections = settings.integer("max-connections", 1, 1'000'000);
  if (connections) limits.max_connections = static_cast<std::size_t>(*connections);
  return limits;
}

ServeHistoryOptions history_options(const Settings& settings) {
  ServeHistoryOptions options;
  options.kept.keeps_durations = settings.is_on("keep-durations");
  options.kept.usage_half_life = settings.duration("usage-half-life").value_or(0);
  options.file = settings.text("histories").value_or("");
  if (!options.file.empty() && !options.kept.is_on()) {
    throw UsageError("--histories: nothing to keep; give --keep-durations or --usage-half-life, too");
  }
  return options;
}

http::ListenAddress listen_address(const std::string& flag, const std::string& text) {
  const auto address = http::parse_listen_address(text);
  if (!address) throw UsageError("--" + flag + ": '" + address.error().path + "' " + address.error().message);
  return *address;
}

}  // namespace

const CommandSyntax& serve_syntax() {
  static const CommandSyntax syntax{
      "muster serve [OPTION...]",
      "Serves plans over HTTP, on a Unix or TCP socket: POST /v1/solve, /v1/verify, /v1/import, GET /healthz, "
      "/readyz,\n"
      "/version, /metrics. SIGTERM stops it after all requests are answered, SIGHUP reloads the configuration.",
      with_policy_options(
          {{"listen", "ADDRESS", "unix:PATH or tcp:HOST:PORT (default unix:/run/muster/muster.sock)"},
           {"observe", "ADDRESS",
            "serve only GET /healthz, /readyz, /version and /metrics on this address, too (default: off)"},
           {"insecure", "", "allow TCP addresses other than loopback: no encryption, no authentication"},
           {"budget", "DURATION", "time budget of a plan if neither the request nor its policy sets one (default 1s)"},
           {"engine", "NAME", "solver engine: auto, greedy or milp (default auto)", kNoLetter, kEngines},
           {"solvers", "N", "number of plans made in parallel (default 1)"},
           {"threads", "N", "number of solver threads per plan (default: the available cores divided by --solvers)"},
           {"seed", "N", "random seed (default 1)"},
           remedies_row(),
           {"gap", "FRACTION", "stop once the plan is proven to be within this gap of the best (default 0)"},
           {"lenient", "", "ignore keys that the format does not define"},
           {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
           duration_annotation_row(),
           {"keep-durations", "", "fill in policy.expectedDurations from gangs that were seen to finish"},
           {"usage-half-life", "DURATION",
            "fill in what queues have used on average; a use counts half after DURATION (default: off)"},
           {"histories", "FILE", "keep what the two options above have learned in FILE, over a restart"},
           {"max-body-bytes", "N", "maximum size of a request body (default 268435456)"},
           {"max-header-bytes", "N", "maximum size of a request header (default 16384)"},
           {"max-buffered-bytes", "N", "maximum size of the bodies of all requests in flight (default 1073741824)"},
           {"max-connections", "N", "maximum number of connections; more get 503 (default 1024)"},
           {"max-in-flight", "N", "maximum number of requests waiting or being solved; more get 429 (default 64)"},
           {"header-timeout", "DURATION", "time limit to receive a header (default 10s)"},
           {"body-timeout", "DURATION", "time limit to receive a body (default 60s)"},
           {"idle-timeout", "DURATION", "time limit between two requests of a connection (default 60s)"},
           {"write-timeout", "DURATION",
            "time limit for the client to take a response or one line of it (default 30s)"},
           {"log-format", "NAME", "format of the log: json or text (default json)", kNoLetter, "json text"},
           {"quiet", "", "print only errors on stderr"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})};
  return syntax;
}

ServeOptions serve_options(const Settings& settings) {
  ServeOptions options;
  options.address = listen_address("listen", settings.text("listen").value_or(kDefaultAddress));
  if (const auto observe = settings.text("observe")) options.observe_address = listen_address("observe", *observe);
  options.is_insecure = settings.is_on("insecure");
  options.limits = options.observe_limits = http_limits(settings);
  options.observe_limits.max_connections = kObserverConnections;
  options.max_in_flight = static_cast<std::size_t>(settings.integer("max-in-flight", 1, 1'000'000).value_or(64));
  options.solvers = static_cast<int>(settings.integer("solvers", 1, kMostSolvers).value_or(1));
  options.reader = reader_options(settings);
  options.reader.max_line_bytes = options.limits.max_body_bytes;
  options.line = line_options(settings);
  options.histories = history_options(settings);
  options.line.least_share = kLeastShare;
  if (!settings.text("threads")) options.line.solve.threads = std::max(1, usable_cores() / options.solvers);
  options.reader.threads = options.line.solve.threads;
  const bool is_json = settings.choice("log-format") == "json";
  options.console = {is_json ? LogFormat::kJson : LogFormat::kText, settings.is_on("quiet"), false, true};
  return options;
}

}  // namespace muster::cli
