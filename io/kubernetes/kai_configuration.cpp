#include "io/kubernetes/kai_configuration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "io/json/json_writer.h"

namespace muster::kubernetes {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kActions = {{{"allocate", "place"},
                                                                                    {"consolidation", "consolidate"},
                                                                                    {"reclaim", "reclaim"},
                                                                                    {"preempt", "preempt"},
                                                                                    {"stalegangeviction", "stale"}}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

void write_actions(std::string_view list, json::JsonWriter& json, std::vector<std::string>& remarks) {
  bool first = true;
  json.raw(R"("actions":[)");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto known = std::ranges::find(kActions, name, &std::pair<std::string_view, std::string_view>::first);
    if (known != kActions.end()) {
      json.separate(first).string(known->second);
    } else if (!name.empty()) {
      remarks.push_back("the action " + std::string(name) + " of the scheduler's configuration is ignored");
    }
  }
  json.raw("]");
}

// Arguments of plugins; empty: it has none.
struct PluginArguments {
  std::string_view gpu, cpu;  // of `nodeplacement`
  std::string_view k_value;   // of `proportion`
};

bool read_arguments(KubernetesReading& in, std::string_view plugin, json::JsonValue object, PluginArguments& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"gpu", "cpu", "kValue"};
  std::array<json::JsonValue, 3> found;
  if (plugin == "proportion") return in.take(object, kKeys, found) && in.text(found[2], out.k_value);
  if (plugin != "nodeplacement") return true;
  return in.take(object, kKeys, found) && in.text(found[0], out.gpu) && in.text(found[1], out.cpu);
}

bool read_plugins(KubernetesReading& in, json::JsonValue tiers, PluginArguments& out) {
  static constexpr std::array<std::string_view, 2> kPlugin = {"arguments", "name"};
  bool has_tiers = false;
  if (!in.has_elements(tiers, has_tiers)) return false;
  if (!has_tiers) return true;
  for (const json::JsonValue tier : tiers.elements()) {
    json::JsonValue plugins;
    bool has_plugins = false;
    if (!in.take(tier, "plugins", plugins) || !in.has_elements(plugins, has_plugins)) return false;
    if (!has_plugins) continue;
    for (const json::JsonValue plugin : plugins.elements()) {
      std::array<json::JsonValue, 2> found;
      std::string_view name;
      if (!in.take(plugin, kPlugin, found) || !in.text(found[1], name) || !read_arguments(in, name, found[0], out)) {
        return false;
      }
    }
  }
  return true;
}

// As KAI reads it: what is no number is its default, what is below 0 is 0.
std::optional<double> usage_factor_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return std::max(0.0, value);
}

bool read_parameters(KubernetesReading& in, json::JsonValue params, KaiConfiguration& out) {
  static constexpr std::array<std::string_view, 5> kKeys = {"globalDefaultStalenessGracePeriod",
                                                            "maxNumberConsolidationPreemptees", "partitionParams",
                                                            "queueLabelKey", "schedulerName"};
  std::array<json::JsonValue, 5> found;
  json::JsonValue pool;
  std::string_view pool_key, queue_label, scheduler;
  if (!in.take(params, kKeys, found) || !in.take(found[2], "NodePoolLabelKey", pool) || !in.text(pool, pool_key) ||
      !in.text(found[3], queue_label) || !in.text(found[4], scheduler)) {
    return false;
  }
  out.queue_label = queue_label;
  out.scheduler = scheduler;
  if (found[0]) {
    std::int64_t nanoseconds = 0;
    using Limits = std::numeric_limits<std::int64_t>;
    if (!in.read_integer(found[0], Limits::min(), Limits::max(), nanoseconds)) return false;
    out.grace_period = nanoseconds < 0 ? "never" : std::to_string(nanoseconds) + "ns";
  }
  if (found[1]) {
    out.remarks.emplace_back("maxNumberConsolidationPreemptees, a limit per attempt, is ignored: see maxMoves");
  }
  if (!pool_key.empty()) {
    out.remarks.push_back("the scheduler uses a pool of nodes (label " + std::string(pool_key) +
                          "); Muster uses all nodes of the archive");
  }
  return true;
}

}  // namespace

bool read_kai_configuration(KubernetesReading& in, json::JsonValue config, json::JsonValue params,
                            KaiConfiguration& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"actions", "tiers"};
  std::array<json::JsonValue, 2> found;
  std::string_view actions;
  PluginArguments arguments;
  if (!in.take(config, kKeys, found) || !in.text(found[0], actions) || !read_plugins(in, found[1], arguments)) {
    return false;
  }
  const std::string_view gpu = arguments.gpu.empty() ? "binpack" : arguments.gpu;
  const std::string_view cpu = arguments.cpu.empty() ? "binpack" : arguments.cpu;
  if (gpu != cpu) out.remarks.emplace_back("nodeplacement differs for cpu and gpu: Muster uses that of gpu for both");
  std::string policy;
  json::JsonWriter json(policy);
  bool first = true;
  if (!actions.empty()) write_actions(actions, json.separate(first), out.remarks);
  if (gpu == "spread") json.separate(first).raw(R"("placement":"spread")");
  if (const auto factor = usage_factor_of(arguments.k_value)) {
    json.separate(first).raw(R"("overTime":{"usageFactor":)").number(*factor).raw("}");
  }
  if (!policy.empty()) out.policy = "{" + policy + "}";
  return read_parameters(in, params, out);
}

}  // namespace muster::kubernetes
