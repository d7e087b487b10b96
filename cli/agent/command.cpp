// `muster agent`: beside a scheduler, in a cluster.
#include "cli/agent/command.h"

#include <array>
#include <csignal>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/agent/planning/options.h"
#include "cli/agent/rbac.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

ApplyMode mode_to_print(const std::string& name) {
  for (const ApplyMode mode :
       {ApplyMode::kNone, ApplyMode::kGates, ApplyMode::kKai, ApplyMode::kBindings, ApplyMode::kExtender}) {
    if (name == apply_mode_name(mode)) return mode;
  }
  throw UsageError("--print-rbac: '" + name + "' is not one of none, gates, kai, bindings, extender");
}

}  // namespace

int run_agent(int argc, const char* const* argv) {
  const Settings settings(agent_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(agent_syntax()), kExitAnswered);
  if (const auto mode = settings.text("print-rbac"))
    return print(rbac_yaml(mode_to_print(*mode), group_marking(settings)), kExitAnswered);
  const AgentOptions options = agent_options(settings);
  std::signal(SIGPIPE, SIG_IGN);
  // Monitoring clients may connect from anywhere: they can read, and send nothing.
  const Result<int> listener = http::open_listener(options.listen, true);
  if (!listener) {
    write_all(STDERR_FILENO, fmt::format("muster agent: {}\n", escaped(listener.error().message)));
    return kExitCannotCreate;
  }
  Console console(options.console);
  const int code = Agent(options, console, kOwnProgram).run(*listener);
  http::remove_socket(options.listen);
  if (options.mode == ApplyMode::kExtender) http::remove_socket(options.extender_listen);
  return code;
}

}  // namespace muster::cli
