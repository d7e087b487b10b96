// The settings of `muster serve`: from flags, the environment and the configuration file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/line/line.h"
#include "cli/serve/cluster_history.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "io/http/listener.h"
#include "io/http/server.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

const CommandSyntax& serve_syntax();

struct ServeOptions {
  http::ListenAddress address;
  bool is_insecure = false;
  http::HttpLimits limits;
  std::optional<http::ListenAddress> observe_address;  // for monitoring clients
  http::HttpLimits observe_limits;
  int solvers = 1;  // plans that are made concurrently
  std::size_t max_in_flight = 64;
  muster_v1::ReaderOptions reader;
  LineOptions line;
  ServeHistoryOptions histories;
  ConsoleOptions console;
};

// Throws UsageError.
ServeOptions serve_options(const Settings& settings);

}  // namespace muster::cli
