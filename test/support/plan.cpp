#include "test/support/plan.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

namespace muster::test {
namespace {

Placement placement_of(const Case& of, const std::string& pod, std::istringstream& words) {
  std::string word, list;
  words >> word;
  Placement result{of.pod(pod), of.node(word), {}, {}};
  while (words >> word) {
    if (word == "gpus" || word == "after") {
      list = word;
    } else if (list == "gpus") {
      result.devices.push_back(std::stoi(word));
    } else {
      result.after.push_back(of.pod(word));
    }
  }
  return result;
}

Eviction eviction_of(const Case& of, const std::string& pod, std::istringstream& words) {
  std::string reason, gang;
  words >> reason;
  const auto* at = std::ranges::find(kEvictionReasons, reason, [](const auto& entry) { return entry.first; });
  if (at == kEvictionReasons.end()) throw std::runtime_error("not a reason: " + reason);
  Eviction result{of.pod(pod), at->second, {}};
  if (words >> gang) result.for_gang = of.gang(gang);
  return result;
}

std::string name_of(const Case& of, PodIndex pod) { return std::string(of.snapshot().pods[pod.value()].name); }
std::string name_of(const Case& of, NodeIndex node) { return std::string(of.snapshot().nodes[node.value()].name); }

NodeIndex node_index_of(const Plan& plan, PodIndex pod) {
  const auto at = std::ranges::find(plan.placements, pod, &Placement::pod);
  return at == plan.placements.end() ? NodeIndex::none() : at->node;
}

}  // namespace

Plan plan_of(const Case& of, const std::string& text) {
  Plan plan;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string verb, name;
    if (!(words >> verb >> name)) continue;
    if (verb == "place") plan.placements.push_back(placement_of(of, name, words));
    if (verb == "evict") plan.evictions.push_back(eviction_of(of, name, words));
    if (verb != "place" && verb != "evict") throw std::runtime_error("not a line of a plan: " + line);
  }
  normalise(plan);
  return plan;
}

std::string text_of(const Case& of, const Plan& plan) {
  std::string text;
  for (const Placement& placement : plan.placements) {
    text += "place " + name_of(of, placement.pod) + " " + name_of(of, placement.node);
    if (!placement.devices.empty()) text += " gpus";
    for (const std::int32_t device : placement.devices) text += " " + std::to_string(device);
    if (!placement.after.empty()) text += " after";
    for (const PodIndex pod : placement.after) text += " " + name_of(of, pod);
    text += "\n";
  }
  for (const Eviction& eviction : plan.evictions) {
    text += "evict " + name_of(of, eviction.pod) + " " + std::string(eviction_reason_name(eviction.reason));
    if (!eviction.for_gang.is_none()) text += " " + std::string(of->gangs[eviction.for_gang].name);
    text += "\n";
  }
  return text;
}

std::string text_of(const std::vector<referee::Violation>& violations) {
  std::string text;
  for (const referee::Violation& violation : violations) {
    text += std::string(referee::rule_name(violation.rule)) + ": ";
    text += violation.subject + ": " + violation.message + "\n";
  }
  return text;
}

void expect_legal(const Case& of, const Plan& plan) { EXPECT_EQ(text_of(of.check(plan)), ""); }

std::string node_of(const Case& of, const Plan& plan, std::string_view pod) {
  const NodeIndex node = node_index_of(plan, of.pod(pod));
  return node.is_none() ? "" : name_of(of, node);
}

std::string nodes_of(const Case& of, const Plan& plan, std::initializer_list<const char*> pods) {
  std::string text;
  for (const char* pod : pods) {
    const std::string node = node_of(of, plan, pod);
    text += (text.empty() ? "" : " ") + (node.empty() ? "-" : node);
  }
  return text;
}

std::set<std::string> placed_pods(const Case& of, const Plan& plan) {
  std::set<std::string> names;
  for (const Placement& placement : plan.placements) names.insert(name_of(of, placement.pod));
  return names;
}

int running_pods(const Case& of, const Plan& plan, std::string_view gang) {
  int count = 0;
  for (const PodIndex pod : of->gangs[of.gang(gang)].pods) {
    const bool is_evicted = std::ranges::find(plan.evictions, pod, &Eviction::pod) != plan.evictions.end();
    const bool stays = of->pods[pod].status == PodStatus::kRunning && !is_evicted;
    count += stays || !node_index_of(plan, pod).is_none() ? 1 : 0;
  }
  return count;
}

}  // namespace muster::test
