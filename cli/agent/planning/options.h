// The settings of `muster agent`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/line/line.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "io/api_server/api_request.h"
#include "io/http/listener.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

const CommandSyntax& agent_syntax();

// How plans are carried out; docs/agent.md.
enum class ApplyMode : std::uint8_t {
  kNone,      // not at all: Events, metrics and the report alone
  kGates,     // takes scheduling gates away and pins the node; the scheduler of the pod binds it
  kKai,       // BindRequests, for KAI's binder
  kBindings,  // Bindings: Muster is the scheduler
  kExtender   // answers kube-scheduler's HTTP extender
};
std::string_view apply_mode_name(ApplyMode mode);  // "none", "gates", "kai", "bindings", "extender"

// Whether the objects of groups say why their gangs wait.
enum class GroupMarking : std::uint8_t { kUnmarked, kMarked };

// How fast at most the cluster is changed.
struct PaceLimits {
  std::int64_t evictions_per_minute = 60;
  std::int64_t binds_per_second = 100;  // of any kind: gates taken away and BindRequests, too
};

struct AgentTimes {
  std::chrono::milliseconds period{1'000};     // between the beginnings of two plans, at least
  std::chrono::milliseconds idle{60'000};      // the same without a change, at most: time itself changes plans
  std::chrono::milliseconds patience{10'000};  // that a kind fails while pods are seen, until it is set aside
};

struct LeaseName {
  std::string namespace_name, name;
};

struct AgentOptions {
  api_server::ServerAddress address;
  ApplyMode mode = ApplyMode::kNone;
  bool dry_run = false;  // the API server checks every change and makes none
  bool are_events_written = true;
  GroupMarking marks = GroupMarking::kUnmarked;
  PaceLimits pace;
  AgentTimes times;
  http::ListenAddress listen;
  http::ListenAddress extender_listen;  // of the mode extender
  std::optional<LeaseName> lease;       // none: no other agent runs
  std::string identity;                 // of this agent, in the Lease
  muster_v1::ReaderOptions reader;
  LineOptions line;
  ConsoleOptions console;
};

// Of --conditions.
GroupMarking group_marking(const Settings& settings);
// Throws UsageError; also if it is not in a cluster and no URL is given, or a file of credentials cannot be read.
AgentOptions agent_options(const Settings& settings);

}  // namespace muster::cli
