// A tiny snapshot as docs/format.md describes it, and the fair shares of its queues. Of by_the_text.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;
using Int = std::int64_t;
using Wide = __int128;

namespace {

constexpr Int kMicro = 1'000'000;  // one GPU, in millionths
constexpr Int kNone = INT64_MAX / 4;

enum Resource { Gpu, Cpu, Memory, Resources };
const char* const kResourceNames[] = {"gpu", "cpu", "memory"};
enum class Status { Pending, Running, Releasing, Gated, Succeeded };
enum class Reason { None, Preempt, Reclaim, Consolidate, Stale };

struct Node {
  std::string name, model;
  int devices = 0;
  Int cpu = 0, memory = 0;
  bool cordoned = false, nominated = false;
  int softTaints = 0;
  std::map<std::string, std::string> labels;
};

struct Queue {
  std::string name;
  int parent = -1;
  Int priority = 100;
  Int quota[Resources], limit[Resources], weight[Resources], pastUsage[Resources];
  Int preemptMinRuntime = -1, reclaimMinRuntime = -1;
  bool leaf = true;
  // Before the plan.
  Int usage[Resources] = {}, demand[Resources] = {}, fair[Resources] = {}, guarded[Resources] = {};
  std::vector<int> children;
};

struct Gang {
  std::string name;
  int queue = 0;
  Int priority = 0;
  bool preemptible = true, never = false;
  Int minimum = 0;
  Int created = 0, timeout = kNone, grace = 60, staleSince = 0, checkpointed = INT64_MIN;
  double weight = 1;
  std::string required;  // topology level
  std::vector<int> pods;
  bool asks[Resources] = {};
  bool started = false;
  Int needs[Resources] = {};  // minResources
  bool timedOut = false, stale = false;
  Int minimumWork = 0;  // without weight
  Int waited = 0;
};

struct Pod {
  std::string name, ns;
  int gang = -1;
  Status status = Status::Pending;
  int node = -1;
  std::vector<int> devices;
  int count = 0;      // devices it uses
  Int part = kMicro;  // of each, in millionths
  Int ask[Resources] = {};
  Int started = 0;
  Int work = 0, weighted = 0;
  Int seconds = 0;  // it has run, at least 1
  std::map<std::string, std::string> labels, selector;
  std::vector<bool> mayUse;
  int nominated = -1;
  bool frozen = false;  // protected: never evicted
  int kind = 0;         // equal kinds of one gang are interchangeable while they wait
};

struct Budget {
  std::vector<int> pods;
  Int allowed = 0;
  bool exclusive = false;
};

struct Plan {
  std::vector<int> node;                  // of placed pods, else -1
  std::vector<std::vector<int>> devices;  // of placed pods
  std::vector<Reason> reason;             // of pods that are evicted or moved
  std::vector<int> claimant;              // "for", or -1
  std::vector<std::vector<int>> after;
};

struct Level {
  std::string name;
  Int priority = 0;
  bool hasPriority = false;
  bool maximise = true;
  double value = 0;
};

Int quantity(const Json& j, Int scale) {
  if (j.is_string()) {
    auto s = j.get<std::string>();
    if (s == "unlimited") return kNone;
    if (!s.empty() && s.back() == 'm') return std::stoll(s.substr(0, s.size() - 1)) * scale / 1000;
    return static_cast<Int>(std::llround(std::stod(s) * static_cast<double>(scale)));
  }
  return static_cast<Int>(std::llround(j.get<double>() * static_cast<double>(scale)));
}

Int scaleOf(int r) { return r == Gpu ? kMicro : r == Cpu ? 1000 : 1; }

struct Snapshot {
  std::vector<Node> nodes;
  std::vector<Queue> queues;
  std::vector<Gang> gangs;
  std::vector<Pod> pods;
  std::vector<Budget> budgets;
  std::set<std::string> actions{"place", "consolidate", "reclaim", "preempt", "stale"};
  bool spread = false, wholeNodes = true, guardQuota = true;
  Int maxMoves = kNone;
  double price = -1;
  Int usageFactor = kMicro;
  Int time = 0;
  Int total[Resources] = {};
  Int gpuThousandths = 0;           // of the cluster; one GPU if it has none
  std::vector<std::string> levels;  // of the one topology
  std::map<std::string, int> nodeIndex, podIndex, gangIndex, queueIndex;
  std::vector<Int> priorities;  // effective, highest first
  std::set<Int> preemptedLevels, beyondLevels;
  std::vector<char> withinBefore;  // by queue: with all above
  std::vector<char> isBeyond;      // by gang: its running pods are beyond the shares
  bool may(const char* action) const { return actions.count(action) > 0; }
};

// ---------------------------------------------------------------- fair share

void divide(Snapshot& s, const std::vector<int>& queues, Int amount, int r) {
  if (queues.empty()) return;
  std::vector<Int> request, share, cut(queues.size(), 0);
  Int remaining = amount;
  Int usageSum = 0;
  bool anyUsage = false;
  for (int q : queues) {
    const Queue& x = s.queues[q];
    request.push_back(std::min(x.limit[r], x.usage[r] + x.demand[r]));
    Int quota = x.quota[r] >= kNone ? amount : x.quota[r];
    share.push_back(std::min(quota, request.back()));
    remaining -= share.back();
    if (x.pastUsage[r] >= 0) {
      anyUsage = true;
      usageSum += x.pastUsage[r];
    }
  }
  const Int unit = r == Gpu ? kMicro : 1;
  std::vector<Int> priorities;
  for (int q : queues) priorities.push_back(s.queues[q].priority);
  std::sort(priorities.rbegin(), priorities.rend());
  priorities.erase(std::unique(priorities.begin(), priorities.end()), priorities.end());
  for (Int p : priorities) {
    while (remaining > 0) {
      std::vector<std::size_t> part;
      Wide sum = 0;
      for (std::size_t i = 0; i < queues.size(); ++i) {
        const Queue& x = s.queues[queues[i]];
        if (x.priority == p && request[i] > share[i] && x.weight[r] > 0) {
          part.push_back(i);
          sum += x.weight[r];
        }
      }
      if (part.empty()) break;
      std::vector<Wide> weight;
      Wide weightSum = 0;
      for (std::size_t i : part) {
        const Queue& x = s.queues[queues[i]];
        Wide w = x.weight[r];
        if (anyUsage && x.pastUsage[r] > 0) {
          Wide over = std::max<Int>(amount, usageSum);
          // k/(1 + k) x U is cut to six decimals, and so is what is taken off.
          Wide cutUsage = Wide(s.usageFactor) * x.pastUsage[r] * kMicro / ((Wide(kMicro) + s.usageFactor) * over);
          w -= cutUsage * sum / kMicro;
          if (w < 0) w = 0;
        }
        weight.push_back(w);
        weightSum += w;
      }
      if (weightSum == 0) break;
      bool again = false;
      Int start = remaining;
      for (std::size_t k = 0; k < part.size(); ++k) {
        std::size_t i = part[k];
        Wide lack = request[i] - share[i];
        Wide offer = Wide(start) * weight[k];  // over weightSum
        Int got;
        cut[i] = 0;
        if (lack * weightSum <= offer) {
          got = static_cast<Int>(lack);
          if (lack * weightSum < offer) again = true;
        } else {
          got = static_cast<Int>(offer / (weightSum * unit)) * unit;
          cut[i] = static_cast<Int>((offer - Wide(got) * weightSum) * 1000000 / weightSum);
        }
        share[i] += got;
        remaining -= got;
      }
      if (!again) break;
    }
  }
  for (Int p : priorities) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < queues.size(); ++i)
      if (s.queues[queues[i]].priority == p && s.queues[queues[i]].weight[r] > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cut[a] > cut[b]; });
    bool gave = true;
    while (remaining > 0 && gave) {
      gave = false;
      for (std::size_t i : order) {
        if (request[i] <= share[i]) continue;
        Int give = std::min(unit, remaining);
        if (give <= 0) continue;
        share[i] += give;
        remaining -= give;
        gave = true;
      }
    }
  }
  for (std::size_t i = 0; i < queues.size(); ++i) {
    s.queues[queues[i]].fair[r] = share[i];
    divide(s, s.queues[queues[i]].children, share[i], r);
  }
}

// ---------------------------------------------------------------- reading

Snapshot read(const Json& j) {
  Snapshot s;
  s.time = j.value("time", Int(0));
  if (j.contains("topology")) s.levels = j["topology"].get<std::vector<std::string>>();
  std::vector<std::pair<std::string, std::string>> protect;
  bool hasProtect = false;
  Int aging = 0;
  if (j.contains("policy")) {
    const Json& p = j["policy"];
    if (p.contains("actions")) {
      s.actions.clear();
      for (auto& a : p["actions"]) s.actions.insert(a.get<std::string>());
    }
    s.spread = p.value("placement", std::string("binpack")) == "spread";
    s.wholeNodes = p.value("wholeNodes", true);
    s.guardQuota = p.value("nonPreemptibleWithinQuota", true);
    s.maxMoves = p.value("maxMoves", kNone);
    aging = p.value("agingInterval", Int(0));
    if (p.contains("overTime")) {
      s.price = p["overTime"].value("evictionPrice", -1.0);
      if (p["overTime"].contains("usageFactor")) s.usageFactor = quantity(p["overTime"]["usageFactor"], kMicro);
    }
    if (p.contains("protect")) {
      hasProtect = true;
      for (auto& [k, v] : p["protect"]["matchLabels"].items()) protect.emplace_back(k, v.get<std::string>());
    }
  }
  for (auto& n : j.value("nodes", Json::array())) {
    Node x;
    x.name = n["name"];
    if (n.contains("gpus")) {
      x.devices = n["gpus"].value("count", 0);
      x.model = n["gpus"].value("model", std::string());
    }
    if (n.contains("resources")) {
      if (n["resources"].contains("cpu")) x.cpu = quantity(n["resources"]["cpu"], 1000);
      if (n["resources"].contains("memory")) x.memory = quantity(n["resources"]["memory"], 1);
    }
    x.cordoned = n.value("unschedulable", false);
    x.softTaints = static_cast<int>(n.value("taints", Json::array()).size());
    if (n.contains("labels"))
      for (auto& [k, v] : n["labels"].items()) x.labels[k] = v.get<std::string>();
    s.nodeIndex[x.name] = static_cast<int>(s.nodes.size());
    s.nodes.push_back(x);
  }
  Json queues = j.value("queues", Json::array());
  if (queues.empty()) queues.push_back({{"name", "default"}});
  for (auto& q : queues) s.queueIndex[q["name"]] = static_cast<int>(s.queueIndex.size());
  for (auto& q : queues) {
    Queue x;
    x.name = q["name"];
    if (q.contains("parent")) x.parent = s.queueIndex.at(q["parent"]);
    x.priority = q.value("priority", Int(100));
    for (int r = 0; r < Resources; ++r) {
      x.quota[r] = x.limit[r] = kNone;
      x.weight[r] = kMicro;
      x.pastUsage[r] = -1;
      if (!q.contains(kResourceNames[r])) continue;
      const Json& b = q[kResourceNames[r]];
      if (b.contains("quota")) x.quota[r] = quantity(b["quota"], scaleOf(r));
      if (b.contains("limit")) x.limit[r] = quantity(b["limit"], scaleOf(r));
      if (b.contains("weight")) x.weight[r] = quantity(b["weight"], kMicro);
      if (b.contains("usage")) x.pastUsage[r] = quantity(b["usage"], scaleOf(r));
    }
    x.preemptMinRuntime = q.value("preemptMinRuntime", Int(-1));
    x.reclaimMinRuntime = q.value("reclaimMinRuntime", Int(-1));
    s.queues.push_back(x);
  }
  for (std::size_t i = 0; i < s.queues.size(); ++i)
    if (int p = s.queues[i].parent; p >= 0) {
      s.queues[p].leaf = false;
      s.queues[p].children.push_back(static_cast<int>(i));
    }
  std::function<Int(int, Int Queue::*)> inherited = [&](int q, Int Queue::*field) -> Int {
    if (s.queues[q].*field >= 0) return s.queues[q].*field;
    return s.queues[q].parent < 0 ? 0 : inherited(s.queues[q].parent, field);
  };
  std::vector<Int> preemptTimes, reclaimTimes;
  for (std::size_t i = 0; i < s.queues.size(); ++i) {
    preemptTimes.push_back(inherited(static_cast<int>(i), &Queue::preemptMinRuntime));
    reclaimTimes.push_back(inherited(static_cast<int>(i), &Queue::reclaimMinRuntime));
  }
  for (std::size_t i = 0; i < s.queues.size(); ++i) {
    s.queues[i].preemptMinRuntime = preemptTimes[i];
    s.queues[i].reclaimMinRuntime = reclaimTimes[i];
  }
  auto readGang = [&](const Json& g) {
    Gang x;
    x.name = g["name"];
    x.queue = s.queueIndex.at(g.value("queue", std::string("default")));
    x.priority = g.value("priority", Int(0));
    x.preemptible = g.value("preemptible", x.priority < 100);
    x.never = g.value("preemptionPolicy", std::string("PreemptLowerPriority")) == "Never";
    x.minimum = g.value("minMember", Int(-1));
    x.created = g.value("created", s.time);
    x.timeout = g.value("timeout", kNone);
    if (g.contains("stalenessGracePeriod"))
      x.grace = g["stalenessGracePeriod"].is_string() ? kNone : g["stalenessGracePeriod"].get<Int>();
    x.staleSince = g.value("staleSince", s.time);
    x.checkpointed = g.value("checkpointed", Int(INT64_MIN));
    x.weight = g.value("weight", 1.0);
    if (g.contains("topology")) x.required = g["topology"].value("required", std::string());
    if (g.contains("minResources"))
      for (int r = 0; r < Resources; ++r)
        if (g["minResources"].contains(kResourceNames[r]))
          x.needs[r] = quantity(g["minResources"][kResourceNames[r]], scaleOf(r));
    x.waited = std::max<Int>(0, s.time - x.created);
    if (aging > 0) x.priority += x.waited / aging;
    s.gangIndex[x.name] = static_cast<int>(s.gangs.size());
    s.gangs.push_back(x);
  };
  for (auto& g : j.value("gangs", Json::array())) readGang(g);
  for (auto& p : j.value("pods", Json::array())) {
    Pod x;
    x.name = p["name"];
    auto slash = x.name.find('/');
    x.ns = slash == std::string::npos ? "default" : x.name.substr(0, slash);
    if (p.contains("gang")) {
      x.gang = s.gangIndex.at(p["gang"]);
    } else {
      Json own = p;
      own["minMember"] = 1;
      readGang(own);
      x.gang = static_cast<int>(s.gangs.size()) - 1;
    }
    std::string status = p.value("status", std::string(p.contains("node") ? "running" : "pending"));
    x.status = status == "running"     ? Status::Running
               : status == "releasing" ? Status::Releasing
               : status == "gated"     ? Status::Gated
               : status == "succeeded" ? Status::Succeeded
                                       : Status::Pending;
    if (p.contains("node")) x.node = s.nodeIndex.at(p["node"]);
    if (p.contains("gpus")) x.devices = p["gpus"].get<std::vector<int>>();
    if (p.contains("gpu")) {
      const Json& g = p["gpu"];
      if (g.contains("count")) {
        x.count = g["count"];
      } else {
        x.part = quantity(g["fraction"], kMicro);
        x.count = g.value("devices", 1);
      }
    }
    x.ask[Gpu] = x.count * x.part;
    if (p.contains("resources")) {
      if (p["resources"].contains("cpu")) x.ask[Cpu] = quantity(p["resources"]["cpu"], 1000);
      if (p["resources"].contains("memory")) x.ask[Memory] = quantity(p["resources"]["memory"], 1);
    }
    x.started = p.value("started", s.time);
    x.seconds = std::max<Int>(1, s.time - x.started);
    if (p.contains("labels"))
      for (auto& [k, v] : p["labels"].items()) x.labels[k] = v.get<std::string>();
    if (p.contains("nodeSelector"))
      for (auto& [k, v] : p["nodeSelector"].items()) x.selector[k] = v.get<std::string>();
    for (auto& n : s.nodes) {
      bool ok = !n.cordoned;
      for (auto& [k, v] : x.selector) {
        auto it = n.labels.find(k);
        if (it == n.labels.end() || it->second != v) ok = false;
      }
      x.mayUse.push_back(ok);
    }
    if (hasProtect) {
      bool all = true;
      for (auto& [k, v] : protect) {
        auto it = x.labels.find(k);
        all = all && it != x.labels.end() && it->second == v;
      }
      x.frozen = all;
    }
    if (p.contains("nominatedNode")) {
      x.nominated = s.nodeIndex.at(p["nominatedNode"]);
      if (x.status == Status::Pending) s.nodes[x.nominated].nominated = true;
    }
    int index = static_cast<int>(s.pods.size());
    s.podIndex[x.name] = index;
    s.gangs[x.gang].pods.push_back(index);
    for (int r = 0; r < Resources; ++r)
      if (x.ask[r] > 0) s.gangs[x.gang].asks[r] = true;
    s.pods.push_back(x);
  }
  // Interchangeable pods that wait.
  for (auto& g : s.gangs)
    for (std::size_t a = 0; a < g.pods.size(); ++a) {
      Pod& x = s.pods[g.pods[a]];
      x.kind = g.pods[a];
      for (std::size_t b = 0; b < a; ++b) {
        Pod& y = s.pods[g.pods[b]];
        if (y.status == Status::Pending && x.status == Status::Pending && y.count == x.count && y.part == x.part &&
            std::equal(x.ask, x.ask + Resources, y.ask) && x.selector == y.selector && x.nominated == y.nominated) {
          x.kind = y.kind;
          break;
        }
      }
    }
  for (auto& b : j.value("disruptionBudgets", Json::array())) {
    Budget x;
    x.allowed = b["allowed"];
    x.exclusive = b.value("exclusive", false);
    std::string ns = b.value("namespace", std::string("default"));
    if (b.contains("selector"))
      for (std::size_t i = 0; i < s.pods.size(); ++i) {
        if (s.pods[i].ns != ns || s.pods[i].status != Status::Running) continue;
        bool all = true;
        if (b["selector"].contains("matchLabels"))
          for (auto& [k, v] : b["selector"]["matchLabels"].items()) {
            auto it = s.pods[i].labels.find(k);
            all = all && it != s.pods[i].labels.end() && it->second == v.get<std::string>();
          }
        if (all) x.pods.push_back(static_cast<int>(i));
      }
    s.budgets.push_back(x);
  }
  for (auto& b : s.budgets)
    if (b.exclusive)
      for (int p : b.pods)
        for (auto& other : s.budgets)
          if (&other != &b && std::count(other.pods.begin(), other.pods.end(), p)) s.pods[p].frozen = true;
  // The cluster's total.
  for (auto& n : s.nodes)
    if (!n.cordoned) {
      s.total[Gpu] += n.devices * kMicro;
      s.total[Cpu] += n.cpu;
      s.total[Memory] += n.memory;
    }
  for (auto& p : s.pods)
    if (p.status == Status::Running && s.nodes[p.node].cordoned)
      for (int r = 0; r < Resources; ++r) s.total[r] += p.ask[r];
  s.gpuThousandths = s.total[Gpu] > 0 ? s.total[Gpu] / 1000 : 1000;
  for (auto& p : s.pods) {
    if (p.count > 0) {
      p.work = (p.part * p.count + 500) / 1000;
    } else {
      for (int r : {int(Cpu), int(Memory)})
        if (s.total[r] > 0) p.work = std::max(p.work, static_cast<Int>(Wide(p.ask[r]) * s.gpuThousandths / s.total[r]));
    }
    p.work = std::max<Int>(1, p.work);
    p.weighted = std::max<Int>(1, std::llround(static_cast<double>(p.work) * s.gangs[p.gang].weight));
  }
  for (auto& g : s.gangs) {
    Int running = 0, pending = 0, gated = 0, all = 0;
    std::vector<Int> works;
    for (int p : g.pods) {
      Status x = s.pods[p].status;
      if (x == Status::Running || x == Status::Succeeded) ++running;
      g.started = g.started || x == Status::Running || x == Status::Succeeded;
      if (x == Status::Pending) ++pending;
      if (x == Status::Gated) ++gated;
      if (x != Status::Releasing) {
        ++all;
        works.push_back(s.pods[p].work);
      }
    }
    if (g.minimum < 0) g.minimum = all;
    std::sort(works.begin(), works.end());
    for (std::size_t i = 0; i < works.size() && static_cast<Int>(i) < g.minimum; ++i) g.minimumWork += works[i];
    bool runs = false;
    for (int p : g.pods) runs = runs || s.pods[p].status == Status::Running;
    bool waits = pending > 0 || (!runs && gated > 0);
    g.timedOut = waits && g.waited >= g.timeout;
    g.stale = runs && running < g.minimum && g.grace < kNone && s.time - g.staleSince >= g.grace;
    for (int p : g.pods) {
      const Pod& x = s.pods[p];
      for (int q = g.queue; q >= 0; q = s.queues[q].parent)
        for (int r = 0; r < Resources; ++r) {
          if (x.status == Status::Running) s.queues[q].usage[r] += x.ask[r];
          if (x.status == Status::Running && !g.preemptible) s.queues[q].guarded[r] += x.ask[r];
          if (x.status == Status::Pending) s.queues[q].demand[r] += x.ask[r];
        }
    }
  }
  std::vector<int> top;
  for (std::size_t i = 0; i < s.queues.size(); ++i)
    if (s.queues[i].parent < 0) top.push_back(static_cast<int>(i));
  for (int r = 0; r < Resources; ++r) divide(s, top, s.total[r], r);
  for (std::size_t i = 0; i < s.queues.size(); ++i) {
    bool within = true;
    for (int q = static_cast<int>(i); q >= 0; q = s.queues[q].parent)
      for (int r = 0; r < Resources; ++r) within = within && s.queues[q].usage[r] <= s.queues[q].fair[r];
    s.withinBefore.push_back(within);
  }
  // Beyond the shares: by what runs of their priority or a higher one, and what waits of a higher one.
  for (const Gang& v : s.gangs) {
    bool beyond = !s.withinBefore[v.queue];
    for (int r = 0; r < Resources; ++r) {
      Int sum = 0;
      for (const Pod& x : s.pods) {
        const Gang& g = s.gangs[x.gang];
        if (g.queue != v.queue) continue;
        if (x.status == Status::Running && g.priority >= v.priority) sum += x.ask[r];
        if (x.status == Status::Pending && g.priority > v.priority) sum += x.ask[r];
      }
      beyond = beyond || sum > s.queues[v.queue].fair[r];
    }
    s.isBeyond.push_back(beyond);
  }
  // Stale gangs that budgets keep.
  {
    std::vector<int> order;
    for (std::size_t g = 0; g < s.gangs.size(); ++g)
      if (s.gangs[g].stale) order.push_back(static_cast<int>(g));
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::tie(s.gangs[a].staleSince, s.gangs[a].name) < std::tie(s.gangs[b].staleSince, s.gangs[b].name);
    });
    std::vector<Int> left;
    for (auto& b : s.budgets) left.push_back(b.allowed);
    for (int g : order) {
      auto now = left;
      bool fits = true;
      for (int p : s.gangs[g].pods) {
        if (s.pods[p].status != Status::Running) continue;
        if (s.pods[p].frozen) fits = false;
        for (std::size_t b = 0; b < s.budgets.size(); ++b)
          if (std::count(s.budgets[b].pods.begin(), s.budgets[b].pods.end(), p) && --now[b] < 0) fits = false;
      }
      if (fits) {
        left = now;
      } else {
        s.gangs[g].stale = false;
      }
    }
  }
  std::set<Int> priorities;
  for (auto& g : s.gangs)
    for (int p : g.pods)
      if (s.pods[p].status == Status::Pending || s.pods[p].status == Status::Running) priorities.insert(g.priority);
  s.priorities.assign(priorities.rbegin(), priorities.rend());
  for (auto& v : s.gangs) {
    bool runs = false;
    for (int p : v.pods) runs = runs || s.pods[p].status == Status::Running;
    if (!runs || !v.preemptible) continue;
    for (auto& g : s.gangs) {
      bool waits = false;
      for (int p : g.pods) waits = waits || s.pods[p].status == Status::Pending;
      if (!waits || g.never) continue;
      if (g.queue == v.queue && g.priority > v.priority && s.may("preempt")) {
        s.preemptedLevels.insert(v.priority);
        s.beyondLevels.insert(v.priority);
      }
      if (g.queue != v.queue && s.may("reclaim")) s.beyondLevels.insert(v.priority);
    }
  }
  return s;
}

}  // namespace
