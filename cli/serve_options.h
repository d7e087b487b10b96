// What `muster serve` was told: by flags, the environment and the configuration file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/line.h"
#include "cli/options.h"
#include "io/http_listener.h"
#include "io/http_server.h"
#include "io/snapshot_reader.h"

namespace muster {

const CommandSyntax& serve_syntax();

struct ServeOptions {
  ListenAddress address;
  bool is_insecure = false;
  HttpLimits limits;
  std::optional<ListenAddress> observe_address;  // of those who watch
  HttpLimits observe_limits;
  int solvers = 1;  // plans that are made at once
  std::size_t max_in_flight = 64;
  ReaderOptions reader;
  LineOptions line;
  ConsoleOptions console;
};

// Throws UsageError.
ServeOptions serve_options(const Settings& settings);

}  // namespace muster
