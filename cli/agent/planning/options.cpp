#include "cli/agent/planning/options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/line/line_options.h"
#include "io/kubernetes/object/object.h"
#include "model/base/tuning.h"

namespace muster::cli {

namespace {

constexpr const char *kDefaultListen = "tcp:127.0.0.1:7078", *kDefaultExtender = "tcp:127.0.0.1:7079";
constexpr const char* kDefaultLease = "muster-agent";
constexpr std::string_view kDefaultGate = "muster/planned", kDefaultSchedulerName = "muster";
constexpr std::array<std::string_view, 5> kModes = {"none", "gates", "kai", "bindings", "extender"};

ApplyMode mode_of(const Settings& settings) {
  const std::string name = settings.choice("apply");
  return static_cast<ApplyMode>(std::ranges::find(kModes, name) - kModes.begin());
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

api_server::ServerAddress address_of(const Settings& settings) {
  const std::string ca = settings.text("ca").value_or(""), token = settings.text("token-file").value_or("");
  const auto url = settings.text("kube-api");
  if (!url && (!ca.empty() || !token.empty())) throw UsageError("--ca and --token-file belong to --kube-api");
  const auto address = url ? api_server::address_of_url(*url, ca, token)
                           : api_server::address_in_cluster(environment("KUBERNETES_SERVICE_HOST"),
                                                            environment("KUBERNETES_SERVICE_PORT"));
  if (address) return *address;
  throw UsageError(url ? "--kube-api: " + address.error().message
                       : address.error().message + "; outside a cluster, give --kube-api URL");
}

// `off`, NAME or NAMESPACE/NAME.
std::optional<LeaseName> lease_of(const Settings& settings, const api_server::ServerAddress& address) {
  const std::string text = settings.text("lease").value_or(kDefaultLease);
  if (text == "off") return std::nullopt;
  const std::size_t slash = text.find('/');
  const std::string own = address.namespace_name.empty() ? "default" : address.namespace_name;
  LeaseName lease =
      slash == std::string::npos ? LeaseName{own, text} : LeaseName{text.substr(0, slash), text.substr(slash + 1)};
  if (lease.name.empty() || lease.namespace_name.empty() || lease.name.find('/') != std::string::npos)
    throw UsageError("--lease: the form is NAMESPACE/NAME, NAME or off");
  return lease;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "muster";
}

std::chrono::milliseconds milliseconds(const Settings& settings, std::string_view name,
                                       std::chrono::milliseconds otherwise) {
  const auto duration = settings.duration(name);
  return duration ? std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(*duration)) : otherwise;
}

http::ListenAddress listen_address(const Settings& settings, const std::string& option, const char* otherwise) {
  const auto address = http::parse_listen_address(settings.text(option).value_or(otherwise));
  if (!address) throw UsageError("--" + option + ": '" + address.error().path + "' " + address.error().message);
  return *address;
}

// Which pods are planned. `gates` needs a gate, `bindings` and `extender` a scheduler's name: with any other pods, two
// would act, or none.
void settle_pods(AgentOptions& options) {
  std::string& gate = options.reader.kubernetes.planned_gate;
  auto& schedulers = options.reader.policy.schedulers;
  if (options.mode == ApplyMode::kGates && gate.empty()) gate = kDefaultGate;
  if (options.mode == ApplyMode::kBindings && schedulers.empty()) schedulers = {std::string(kDefaultSchedulerName)};
  if (options.mode == ApplyMode::kExtender && schedulers.empty()) schedulers = {std::string(kDefaultScheduler)};
}

}  // namespace

std::string_view apply_mode_name(ApplyMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

const CommandSyntax& agent_syntax() {
  static const CommandSyntax syntax{
      "muster agent [OPTION...]",
      "Watches a cluster's API server, plans when something has changed, and says why pods wait: by Events, metrics "
      "and\n"
      "a page. With --apply, it carries its plans out, too. In a pod, it uses the pod's service account; elsewhere,\n"
      "--kube-api says where the API server is (`kubectl proxy` serves http://127.0.0.1:8001).",
      with_policy_options(
          {{"kube-api", "URL", "the API server (default: that of the cluster in which the agent runs)"},
           {"ca", "FILE", "certificates of authorities that may sign the API server's, PEM (default: the system's)"},
           {"token-file", "FILE", "the bearer token; read again as it changes"},
           {"apply", "MODE",
            "how plans are carried out: none, gates (of --planned-gate, by default muster/planned), kai, bindings or "
            "extender (default none)",
            kNoLetter, "none gates kai bindings extender"},
           {"dry-run", "", "let the API server check every change, but make none"},
           {"no-events", "", "write no Events about gangs that wait"},
           {"conditions", "",
            "say why a gang waits on its PodGroup, too: by the condition muster/Placed or the annotation muster/waits"},
           {"max-evictions-per-minute", "N", "evict at most so many pods a minute (default 60)"},
           {"max-binds-per-second", "N", "start at most so many pods a second (default 100)"},
           {"period", "DURATION", "time between the beginnings of two plans, at least (default 1s)"},
           {"idle-period", "DURATION", "plan after this time even if nothing has changed (default 60s)"},
           {"lease", "NAME",
            "the Lease by which several agents decide which one acts: NAME, NAMESPACE/NAME, or off "
            "(default muster-agent)"},
           {"listen", "ADDRESS",
            "serve GET /healthz, /readyz, /metrics, /report, /v1/plan, /v1/snapshot and /v1/status "
            "here: unix:PATH or tcp:HOST:PORT (default tcp:127.0.0.1:7078)"},
           {"extender-listen", "ADDRESS",
            "with --apply extender: serve kube-scheduler here, POST /extender/filter, /prioritize, /preempt and /bind "
            "(default tcp:127.0.0.1:7079)"},
           {"print-rbac", "MODE", "print the roles that this mode needs, as YAML, and exit"},
           {"budget", "DURATION", "time budget of a plan if its policy does not set one (default: half the period)"},
           {"engine", "NAME", "solver engine: auto, greedy or milp (default auto)", kNoLetter, kEngines},
           {"threads", "N", "number of solver threads (default: the available cores)"},
           {"seed", "N", "random seed (default 1)"},
           remedies_row(),
           {"gap", "FRACTION", "stop once the plan is proven to be within this gap of the best (default 0)"},
           duration_annotation_row(),
           {"log-format", "NAME", "format of the log: json or text (default json)", kNoLetter, "json text"},
           {"quiet", "", "print only errors on stderr"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})};
  return syntax;
}

GroupMarking group_marking(const Settings& settings) {
  return settings.is_on("conditions") ? GroupMarking::kMarked : GroupMarking::kUnmarked;
}

AgentOptions agent_options(const Settings& settings) {
  AgentOptions options;
  options.address = address_of(settings);
  options.mode = mode_of(settings);
  options.dry_run = settings.is_on("dry-run");
  options.are_events_written = !settings.is_on("no-events");
  options.marks = group_marking(settings);
  constexpr std::int64_t kMostPace = 1'000'000;
  options.pace.evictions_per_minute =
      settings.integer("max-evictions-per-minute", 0, kMostPace).value_or(options.pace.evictions_per_minute);
  options.pace.binds_per_second =
      settings.integer("max-binds-per-second", 1, kMostPace).value_or(options.pace.binds_per_second);
  options.times.period = milliseconds(settings, "period", options.times.period);
  options.times.idle = std::max(options.times.period, milliseconds(settings, "idle-period", options.times.idle));
  options.listen = listen_address(settings, "listen", kDefaultListen);
  options.extender_listen = listen_address(settings, "extender-listen", kDefaultExtender);
  options.lease = lease_of(settings, options.address);
  options.identity = fmt::format("{}_{:08x}", host_name(), std::random_device()());
  options.reader = reader_options(settings);
  options.reader.kubernetes.awaits_groups = true;
  options.line = line_options(settings);
  if (!settings.text("budget")) options.line.budget = std::chrono::nanoseconds(options.times.period).count() / 2;
  options.line.least_share = kTuning.online.agent.least_share;
  options.reader.threads = options.line.solve.threads;
  settle_pods(options);
  const bool is_json = settings.choice("log-format") == "json";
  options.console = {is_json ? LogFormat::kJson : LogFormat::kText, settings.is_on("quiet"), false, true};
  return options;
}

}  // namespace muster::cli
