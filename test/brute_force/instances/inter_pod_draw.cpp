#include "test/brute_force/instances/inter_pod_draw.h"

#include <map>
#include <random>
#include <string>
#include <utility>

namespace muster::brute_force {
namespace {

using Json = nlohmann::ordered_json;

class InterPodDraw {
 public:
  InterPodDraw(Json& snapshot, std::uint64_t seed)
      : snapshot_(snapshot), random_(seed * 0x9E37'79B9'7F4A'7C15U + 1'234) {}

  void run() {
    if (below(4) != 0) return;
    snapshot_["namespaces"] =
        Json::parse(R"([{"name":"default","labels":{"team":"a"}},{"name":"other","labels":{"team":"b"}}])");
    for (Json& node : snapshot_["nodes"]) {
      if (below(10) != 0) node["labels"]["area"] = pick({"a", "a", "b", "c"});
    }
    const bool has_namespaces = below(3) == 0;
    for (Json& pod : snapshot_["pods"]) {
      const std::string group = pod.contains("gang") ? pod["gang"].get<std::string>() : "";
      const auto [common, is_new] = of_group_.try_emplace(group);
      if (is_new || group.empty() || below(6) == 0) common->second = draw_for(!group.empty(), has_namespaces);
      give(common->second, pod);
    }
  }

 private:
  struct Drawn {
    std::string app, name_space;
    Json rules = Json::object();
  };

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::string pick(std::initializer_list<const char*> list) { return list.begin()[below(list.size())]; }

  static void give(const Drawn& drawn, Json& pod) {
    pod["labels"]["app"] = drawn.app;
    if (!drawn.name_space.empty()) pod["namespace"] = drawn.name_space;
    for (const auto& [key, value] : drawn.rules.items()) {
      if (!pod.contains(key)) pod[key] = value;
    }
  }

  Drawn draw_for(bool has_gang, bool has_namespaces) {
    Drawn drawn{pick({"x", "x", "y"}), "", Json::object()};
    if (has_namespaces) drawn.name_space = pick({"default", "default", "other"});
    if (below(10) < 3) drawn.rules["podAffinity"] = terms(drawn.app, has_gang);
    if (below(10) < 2) drawn.rules["podAntiAffinity"] = terms(drawn.app, has_gang);
    if (below(10) < 4) {
      drawn.rules["topologySpread"] = Json::array({spread(drawn.app, "area")});
      if (below(4) == 0) drawn.rules["topologySpread"].push_back(spread(drawn.app, "host"));
    }
    return drawn;
  }

  Json selector(const std::string& app) {
    switch (below(6)) {
      case 0:
        return {{"matchLabels", {{"app", pick({"x", "y"})}}}};
      case 1:
        return {{"matchExpressions", Json::array({{{"key", "app"}, {"operator", pick({"In", "NotIn", "Exists"})}}})}};
      case 2:
        return Json::object();
      default:
        return {{"matchLabels", {{"app", app}}}};
    }
  }

  Json terms(const std::string& app, bool has_gang) {
    Json list = Json::array();
    for (std::uint64_t count = below(5) == 0 ? 2 : 1; count > 0; --count) {
      Json term{{"topologyKey", pick({"area", "area", "host"})}};
      if (has_gang && below(4) == 0) {
        term["matchGang"] = true;
      } else {
        term["labelSelector"] = completed(selector(app), app);
        const std::uint64_t spaces = below(8);
        if (spaces == 0) term["namespaces"] = {"other"};
        if (spaces == 1) term["namespaceSelector"] = Json::object();
        if (spaces == 2) term["namespaceSelector"] = {{"matchLabels", {{"team", pick({"a", "b"})}}}};
      }
      list.push_back(std::move(term));
    }
    return list;
  }

  Json spread(const std::string& app, const char* key) {
    Json constraint{{"maxSkew", 1 + below(2)},
                    {"topologyKey", key},
                    {"whenUnsatisfiable", "DoNotSchedule"},
                    {"labelSelector", completed(selector(app), app)}};
    if (below(5) == 0) constraint["minDomains"] = 1 + below(3);
    if (below(6) == 0) constraint["matchLabelKeys"] = {"app"};
    if (below(4) == 0) constraint["nodeTaintsPolicy"] = "Honor";
    if (below(4) == 0) constraint["nodeAffinityPolicy"] = "Ignore";
    return constraint;
  }

  // In and NotIn need values.
  static Json completed(Json selector, const std::string& app) {
    if (!selector.contains("matchExpressions")) return selector;
    Json& expression = selector["matchExpressions"][0];
    if (expression["operator"] != "Exists") expression["values"] = {app};
    return selector;
  }

  Json& snapshot_;
  std::mt19937_64 random_;
  std::map<std::string, Drawn> of_group_;
};

}  // namespace

void add_inter_pod(nlohmann::ordered_json& snapshot, std::uint64_t seed) { InterPodDraw(snapshot, seed).run(); }

}  // namespace muster::brute_force
