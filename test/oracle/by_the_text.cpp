// The search of by_the_text.py: all plans of a tiny snapshot, by the text of docs/semantics.md alone.
//
// Reads one JSON document per line: {"snapshot":{...},"plans":[...],"search":bool}. Writes one per line:
// the rules that each plan breaks, the values of its levels, and the best values of all allowed plans.
// Shares no code with the program. Covers the part of the format that by_the_text.py generates.

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
  std::vector<char> withinBefore, beyondBefore;  // by queue: with all above; itself or one above
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
    s.beyondBefore.push_back(!within);
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

// ---------------------------------------------------------------- the state after a plan

struct State {
  std::vector<char> present, placedNew, moved, gone;  // by pod; gone: evicted and not placed again
  std::vector<Int> usage, guarded;                    // by queue x resource
  std::vector<int> presentOf, lostOf, newOf, anyOf;  // by gang: present (with succeeded), evicted, newly placed, placed
};

State stateOf(const Snapshot& s, const Plan& plan) {
  State t;
  auto n = s.pods.size();
  t.present.assign(n, 0);
  t.placedNew.assign(n, 0);
  t.moved.assign(n, 0);
  t.gone.assign(n, 0);
  t.usage.assign(s.queues.size() * Resources, 0);
  t.guarded.assign(s.queues.size() * Resources, 0);
  t.presentOf.assign(s.gangs.size(), 0);
  t.lostOf = t.newOf = t.anyOf = t.presentOf;
  for (std::size_t i = 0; i < n; ++i) {
    const Pod& p = s.pods[i];
    bool leaves = plan.reason[i] != Reason::None, placed = plan.node[i] >= 0;
    if (p.status == Status::Succeeded) ++t.presentOf[p.gang];
    if (p.status == Status::Running) {
      t.moved[i] = leaves && placed;
      t.gone[i] = leaves && !placed;
      t.present[i] = !leaves || placed;
    } else if (placed) {
      t.present[i] = t.placedNew[i] = 1;
    }
    t.lostOf[p.gang] += t.gone[i];
    t.newOf[p.gang] += t.placedNew[i];
    t.anyOf[p.gang] += placed;
    if (!t.present[i]) continue;
    ++t.presentOf[p.gang];
    for (int q = s.gangs[p.gang].queue; q >= 0; q = s.queues[q].parent)
      for (int r = 0; r < Resources; ++r) {
        t.usage[q * Resources + r] += p.ask[r];
        if (!s.gangs[p.gang].preemptible) t.guarded[q * Resources + r] += p.ask[r];
      }
  }
  return t;
}

// The two sides of a reclaim.
std::pair<int, int> sides(const Snapshot& s, int claimant, int victim) {
  std::vector<int> a, b;
  for (int q = claimant; q >= 0; q = s.queues[q].parent) a.push_back(q);
  for (int q = victim; q >= 0; q = s.queues[q].parent) b.push_back(q);
  while (a.size() > 1 && b.size() > 1 && a.back() == b.back()) {
    a.pop_back();
    b.pop_back();
  }
  return {a.back(), b.back()};
}

bool hasMinimum(const Snapshot& s, const State& t, int gang) { return t.presentOf[gang] >= s.gangs[gang].minimum; }

// Points 1 and 2 of Reclaim do not depend on the victim but for its side.
bool claimantWithin(const Snapshot& s, const State& t, int g, int side) {
  const Gang& gang = s.gangs[g];
  for (int q = gang.queue;; q = s.queues[q].parent) {
    for (int r = 0; r < Resources; ++r) {
      if (!gang.asks[r]) continue;
      if (t.usage[q * Resources + r] > s.queues[q].fair[r]) return false;
      if (!gang.preemptible && t.guarded[q * Resources + r] > s.queues[q].quota[r]) return false;
    }
    if (q == side) return true;
  }
}

bool shareGround(const Snapshot& s, int g, int victimSide) {
  for (int r = 0; r < Resources; ++r)
    if (s.gangs[g].asks[r] && s.queues[victimSide].usage[r] > s.queues[victimSide].fair[r]) return true;
  return false;
}

bool quotaGround(const Snapshot& s, const State& t, int g, int side, int victimSide) {
  bool over = false;
  for (int r = 0; r < Resources; ++r) {
    if (!s.gangs[g].asks[r]) continue;
    if (s.queues[victimSide].usage[r] > s.queues[victimSide].quota[r]) over = true;
    if (t.usage[side * Resources + r] > s.queues[side].quota[r]) return false;
  }
  return over;
}

bool ranFor(const Snapshot& s, int pod, Int needed) { return s.time - s.pods[pod].started >= needed; }

// Surplus, or of a gang that goes whole and of which more ran than its minimum.
bool maybeSurplus(const Snapshot& s, const State& t, int gang) {
  Int ran = 0;
  for (int p : s.gangs[gang].pods) ran += s.pods[p].status == Status::Running;
  return hasMinimum(s, t, gang) || ran > s.gangs[gang].minimum;
}

std::string preemptBreaks(const Snapshot& s, const State& t, int g, int pod) {
  const Gang& v = s.gangs[s.pods[pod].gang];
  const Gang& c = s.gangs[g];
  if (!s.may("preempt")) return "actions";
  if (c.queue != v.queue) return "preempt: queue";
  if (c.priority <= v.priority) return "preempt: priority";
  if (c.never) return "preempt: never";
  if (t.newOf[g] == 0) return "preempt: no placement";
  bool surplus = maybeSurplus(s, t, s.pods[pod].gang);
  if (!surplus && !ranFor(s, pod, s.queues[v.queue].preemptMinRuntime)) return "preempt: run time";
  return "";
}

std::string reclaimBreaks(const Snapshot& s, const State& t, int g, int pod) {
  const Gang& v = s.gangs[s.pods[pod].gang];
  const Gang& c = s.gangs[g];
  if (!s.may("reclaim")) return "actions";
  if (c.queue == v.queue) return "reclaim: queue";
  if (c.never) return "reclaim: never";
  if (t.newOf[g] == 0) return "reclaim: no placement";
  auto [mine, theirs] = sides(s, c.queue, v.queue);
  if (!claimantWithin(s, t, g, mine)) return "reclaim: claimant beyond its share";
  if (!shareGround(s, g, theirs) && !quotaGround(s, t, g, mine, theirs)) return "reclaim: no grounds";
  bool surplus = maybeSurplus(s, t, s.pods[pod].gang);
  if (!surplus && !ranFor(s, pod, s.queues[theirs].reclaimMinRuntime)) return "reclaim: run time";
  return "";
}

// Of a gang that goes whole, at most as many pods leave too early as ran beyond its minimum.
std::string tooEarly(const Snapshot& s, const State& t, const Plan& plan) {
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    if (hasMinimum(s, t, static_cast<int>(g))) continue;
    Int ran = 0, early = 0;
    for (int p : s.gangs[g].pods) {
      ran += s.pods[p].status == Status::Running;
      if (plan.claimant[p] < 0) continue;
      Int needed = plan.reason[p] == Reason::Preempt ? s.queues[s.gangs[g].queue].preemptMinRuntime
                   : plan.reason[p] == Reason::Reclaim
                       ? s.queues[sides(s, s.gangs[plan.claimant[p]].queue, s.gangs[g].queue).second].reclaimMinRuntime
                       : 0;
      early += !ranFor(s, p, needed);
    }
    if (early > std::max<Int>(0, ran - s.gangs[g].minimum)) return "run time";
  }
  return "";
}

// Point 4 of Reclaim, for all reclaims of the plan together.
std::string lowerThanNeeded(const Snapshot& s, const State& t, const Plan& plan) {
  std::map<int, std::vector<Int>> largest;  // by side
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    if (plan.reason[i] != Reason::Reclaim) continue;
    int side = sides(s, s.gangs[plan.claimant[i]].queue, s.gangs[s.pods[i].gang].queue).second;
    auto& top = largest.try_emplace(side, Resources, 0).first->second;
    int gang = s.pods[i].gang;
    if (hasMinimum(s, t, gang)) {
      for (int r = 0; r < Resources; ++r) top[r] = std::max(top[r], s.pods[i].ask[r]);
    } else {
      // What ran of the minimum is one unit, each pod beyond it another.
      std::vector<int> ran;
      for (int p : s.gangs[gang].pods)
        if (s.pods[p].status == Status::Running) ran.push_back(p);
      std::stable_sort(ran.begin(), ran.end(), [&](int a, int b) { return s.pods[a].work < s.pods[b].work; });
      Int sum[Resources] = {};
      for (std::size_t k = 0; k < ran.size(); ++k)
        for (int r = 0; r < Resources; ++r) {
          if (static_cast<Int>(k) < s.gangs[gang].minimum)
            sum[r] += s.pods[ran[k]].ask[r];
          else
            top[r] = std::max(top[r], s.pods[ran[k]].ask[r]);
        }
      for (int r = 0; r < Resources; ++r) top[r] = std::max(top[r], sum[r]);
    }
  }
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    if (plan.reason[i] != Reason::Reclaim) continue;
    int g = plan.claimant[i];
    auto [mine, theirs] = sides(s, s.gangs[g].queue, s.gangs[s.pods[i].gang].queue);
    bool ok = false;
    bool share = shareGround(s, g, theirs), quota = quotaGround(s, t, g, mine, theirs);
    for (int r = 0; r < Resources; ++r) {
      if (!s.gangs[g].asks[r]) continue;
      Int sum = t.usage[theirs * Resources + r] + largest[theirs][r];
      if (share && sum > s.queues[theirs].fair[r]) ok = true;
      if (quota && sum > s.queues[theirs].quota[r]) ok = true;
    }
    if (!ok) return "reclaim: lower than needed";
  }
  return "";
}

// What the pods that leave for a gang lose, against what waiting has cost it.
bool priceKept(const Snapshot& s, const Plan& plan) {
  if (s.price < 0) return true;
  std::map<int, Int> loss;
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    if (plan.reason[i] == Reason::None || plan.claimant[i] < 0) continue;
    const Pod& p = s.pods[i];
    Int since = std::max(p.started, s.gangs[p.gang].checkpointed);
    loss[plan.claimant[i]] += p.work * std::max<Int>(1, s.time - since);
  }
  for (auto [g, l] : loss)
    if (static_cast<double>(l) >
        s.price * static_cast<double>(s.gangs[g].minimumWork) * static_cast<double>(s.gangs[g].waited))
      return false;
  return true;
}

// Rules that depend on which pods are placed, evicted and moved, and not on where or for which gang.
std::string setBreaks(const Snapshot& s, const State& t, const Plan& plan) {
  Int moves = 0;
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    const Pod& p = s.pods[i];
    const Gang& g = s.gangs[p.gang];
    if (plan.node[i] >= 0) {
      if (!s.may("place")) return "actions";
      if (p.status != Status::Pending && !t.moved[i]) return "placed: status";
      if (!s.queues[g.queue].leaf) return "placed: queue";
      if (g.timedOut) return "timeout";
    }
    if (plan.reason[i] == Reason::None) continue;
    if (p.status != Status::Running) return "who: does not run";
    if (p.frozen) return "budget";
    if (plan.reason[i] == Reason::Stale) {
      if (!s.may("stale")) return "actions";
      if (!g.stale) return "stale: within grace";
      if (t.moved[i]) return "stale: moved";
      if (hasMinimum(s, t, p.gang)) return "stale: has its minimum";
    } else if (!g.preemptible) {
      return "who: not preemptible";
    }
    if (t.moved[i] != (plan.reason[i] == Reason::Consolidate)) return "consolidate: reason";
    if (t.moved[i]) {
      ++moves;
      if (!s.may("consolidate")) return "actions";
    }
  }
  if (moves > s.maxMoves) return "maxMoves";
  for (auto& b : s.budgets) {
    Int n = 0;
    for (int p : b.pods) n += plan.reason[p] != Reason::None;
    if (n > b.allowed) return "budget";
  }
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    int i = static_cast<int>(g);
    if (t.anyOf[g] > 0 && !hasMinimum(s, t, i)) return "gang";
    int left = 0;
    for (int p : s.gangs[g].pods) left += t.present[p];
    if (t.lostOf[g] > 0 && left > 0 && !hasMinimum(s, t, i)) return "whole gangs";
    if (s.gangs[g].stale && s.may("stale") && !hasMinimum(s, t, i) && left > 0) return "stale: must go";
  }
  for (std::size_t q = 0; q < s.queues.size(); ++q)
    for (int r = 0; r < Resources; ++r) {
      Int after = t.usage[q * Resources + r], guarded = t.guarded[q * Resources + r];
      if (after > s.queues[q].limit[r] && after > s.queues[q].usage[r]) return "limit";
      if (s.guardQuota && guarded > s.queues[q].quota[r] && guarded > s.queues[q].guarded[r]) return "quota";
    }
  return "";
}

// Rules of one eviction that depend on its reason and its claimant.
std::string reasonBreaks(const Snapshot& s, const State& t, const Plan& plan, int i) {
  int g = plan.claimant[i];
  switch (plan.reason[i]) {
    case Reason::Preempt:
      return g < 0 ? "for" : preemptBreaks(s, t, g, i);
    case Reason::Reclaim:
      return g < 0 ? "for" : reclaimBreaks(s, t, g, i);
    case Reason::Consolidate:
      return g < 0 ? "for" : t.anyOf[g] == 0 ? "consolidate: no placement" : "";
    default:
      return "";
  }
}

// ---------------------------------------------------------------- not in vain

struct NodeResidual {
  Int cpu = 0, memory = 0;
  std::vector<Int> load;  // of each device, in millionths
};

bool take(NodeResidual& room, const Pod& p, const std::vector<int>& devices) {
  room.cpu -= p.ask[Cpu];
  room.memory -= p.ask[Memory];
  bool ok = room.cpu >= 0 && room.memory >= 0;
  for (int d : devices) {
    room.load[d] += p.part;
    ok = ok && room.load[d] <= kMicro;
  }
  return ok;
}

NodeResidual emptyRoom(const Node& n) { return {n.cpu, n.memory, std::vector<Int>(n.devices, 0)}; }

bool inOneDomain(const Snapshot& s, const std::string& level, const std::vector<int>& nodes) {
  std::vector<std::string> first;
  for (int n : nodes) {
    std::vector<std::string> domain;
    for (auto& l : s.levels) {
      auto it = s.nodes[n].labels.find(l);
      if (it == s.nodes[n].labels.end()) return false;
      domain.push_back(it->second);
      if (l == level) break;
    }
    if (first.empty()) first = domain;
    if (domain != first) return false;
  }
  return true;
}

// minResources: what is free on the nodes that the gang's pods could use, without newly placed pods.
bool roomCovers(const Snapshot& s, const Plan& plan, int g, const std::vector<char>& moves,
                const std::vector<int>& unit) {
  const Gang& gang = s.gangs[g];
  if (gang.started) return true;
  Int free[Resources] = {};
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    bool use = false;
    for (int p : gang.pods) use = use || (s.pods[p].status == Status::Pending && s.pods[p].mayUse[n]);
    if (!use) continue;
    free[Gpu] += s.nodes[n].devices * kMicro;
    free[Cpu] += s.nodes[n].cpu;
    free[Memory] += s.nodes[n].memory;
    for (std::size_t i = 0; i < s.pods.size(); ++i) {
      if (s.pods[i].status != Status::Running) continue;
      bool back = std::count(unit.begin(), unit.end(), static_cast<int>(i)) > 0;
      int at = plan.reason[i] == Reason::None || back ? s.pods[i].node : moves[i] ? plan.node[i] : -1;
      if (at == static_cast<int>(n))
        for (int r = 0; r < Resources; ++r) free[r] -= s.pods[i].ask[r];
    }
  }
  for (int r = 0; r < Resources; ++r)
    if (free[r] < gang.needs[r]) return false;
  return true;
}

// Whether the unit could have stayed next to all that stays and to the part by right.
bool couldHaveStayed(const Snapshot& s, const State& t, const Plan& plan, const std::vector<int>& unit,
                     const std::vector<char>& part) {
  std::set<int> nodes;
  for (int p : unit) nodes.insert(s.pods[p].node);
  for (int n : nodes) {
    NodeResidual base = emptyRoom(s.nodes[n]);
    for (std::size_t i = 0; i < s.pods.size(); ++i)
      if (s.pods[i].status == Status::Running && plan.reason[i] == Reason::None && s.pods[i].node == n)
        take(base, s.pods[i], s.pods[i].devices);
    for (int p : unit)
      if (s.pods[p].node == n && !take(base, s.pods[p], s.pods[p].devices)) return false;
    NodeResidual same = base;
    bool fits = true;
    std::vector<int> pods;
    for (std::size_t i = 0; i < s.pods.size(); ++i)
      if (part[i] && plan.node[i] == n) {
        pods.push_back(static_cast<int>(i));
        fits = take(same, s.pods[i], plan.devices[i]) && fits;
      }
    if (same.cpu < 0 || same.memory < 0) return false;
    if (fits) continue;
    std::stable_sort(pods.begin(), pods.end(), [&](int a, int b) { return s.pods[a].part > s.pods[b].part; });
    for (int i : pods) {
      std::vector<int> order;
      for (int d = 0; d < s.nodes[n].devices; ++d)
        if (base.load[d] + s.pods[i].part <= kMicro) order.push_back(d);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return base.load[a] > base.load[b]; });
      if (static_cast<int>(order.size()) < s.pods[i].count) return false;
      order.resize(s.pods[i].count);
      take(base, s.pods[i], order);
    }
  }
  int gang = s.pods[unit[0]].gang;
  // A required level of its gang: with what the plan places of the gang.
  if (!s.gangs[gang].required.empty()) {
    std::vector<int> placed;
    for (int p : s.gangs[gang].pods)
      if (part[p]) placed.push_back(plan.node[p]);
    for (int p : unit)
      for (int n : placed)
        if (!inOneDomain(s, s.gangs[gang].required, {s.pods[p].node, n})) return false;
  }
  // Limits and shares of the queues that the unit uses.
  std::map<int, std::vector<Int>> usage;
  for (int q = s.gangs[gang].queue; q >= 0; q = s.queues[q].parent) usage[q].assign(Resources, 0);
  auto add = [&](int i) {
    for (int q = s.gangs[s.pods[i].gang].queue; q >= 0; q = s.queues[q].parent)
      if (auto it = usage.find(q); it != usage.end())
        for (int r = 0; r < Resources; ++r) it->second[r] += s.pods[i].ask[r];
  };
  for (std::size_t i = 0; i < s.pods.size(); ++i)
    if (part[i] || (s.pods[i].status == Status::Running && plan.reason[i] == Reason::None)) add(static_cast<int>(i));
  for (int p : unit) add(p);
  for (auto& [q, u] : usage)
    for (int r = 0; r < Resources; ++r)
      if (u[r] > s.queues[q].limit[r] && u[r] > s.queues[q].usage[r]) return false;
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    if (plan.reason[i] != Reason::Reclaim) continue;
    int g = plan.claimant[i];
    auto [mine, theirs] = sides(s, s.gangs[g].queue, s.gangs[s.pods[i].gang].queue);
    for (int q = s.gangs[g].queue;; q = s.queues[q].parent) {
      if (auto it = usage.find(q); it != usage.end())
        for (int r = 0; r < Resources; ++r)
          if (s.gangs[g].asks[r] && it->second[r] > s.queues[q].fair[r]) return false;
      if (q == mine) break;
    }
    if (auto it = usage.find(mine); it != usage.end() && !shareGround(s, g, theirs))
      for (int r = 0; r < Resources; ++r)
        if (s.gangs[g].asks[r] && it->second[r] > s.queues[mine].quota[r]) return false;
  }
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    bool in = false;
    for (int p : s.gangs[g].pods) in = in || (part[p] && t.placedNew[p]);
    if (in && !roomCovers(s, plan, static_cast<int>(g), part, unit)) return false;
  }
  return true;
}

// The name of a pod of a unit that leaves in vain, or "".
std::string inVain(const Snapshot& s, const State& t, const Plan& plan) {
  auto n = s.pods.size();
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) any = any || (plan.reason[i] != Reason::None && plan.reason[i] != Reason::Stale);
  if (!any) return "";
  // For which gangs each pod is placed.
  std::vector<std::uint32_t> purpose(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (t.placedNew[i]) purpose[i] = 1U << s.pods[i].gang;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (!t.moved[i]) continue;
      std::uint32_t mask = purpose[i];
      for (std::size_t k = 0; k < n; ++k)
        if (k != i && plan.node[k] == s.pods[i].node && plan.node[k] >= 0) mask |= purpose[k];
      if (mask != purpose[i]) {
        purpose[i] = mask;
        changed = true;
      }
    }
  }
  auto closed = purpose;
  for (std::size_t i = 0; i < n; ++i)
    if (t.moved[i] && closed[i] == 0) purpose[i] = 1U << plan.claimant[i];
  std::vector<std::vector<int>> units;
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    std::vector<int> whole;
    for (int p : s.gangs[g].pods) {
      if (plan.reason[p] == Reason::None || plan.reason[p] == Reason::Stale) continue;
      if (t.moved[p] || hasMinimum(s, t, static_cast<int>(g)))
        units.push_back({p});
      else
        whole.push_back(p);
    }
    if (!whole.empty()) units.push_back(whole);
  }
  for (auto& unit : units) {
    std::vector<char> part(n, 0);
    if (t.moved[unit[0]]) {
      for (std::size_t i = 0; i < n; ++i) part[i] = plan.node[i] >= 0 && static_cast<int>(i) != unit[0];
    } else {
      std::uint32_t everywhere = 0;
      std::map<int, std::uint32_t> here;
      for (int p : unit) {
        std::uint32_t mask = 0;
        for (std::size_t g = 0; g < s.gangs.size(); ++g) {
          if (t.newOf[g] == 0) continue;
          int c = static_cast<int>(g);
          if (c == s.pods[p].gang || preemptBreaks(s, t, c, p).empty() || reclaimBreaks(s, t, c, p).empty())
            mask |= 1U << g;
        }
        everywhere |= mask;
        here[s.pods[p].node] |= mask;
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (plan.node[i] < 0) continue;
        auto it = here.find(plan.node[i]);
        part[i] = (purpose[i] & (it == here.end() ? everywhere : it->second)) != 0;
      }
    }
    if (couldHaveStayed(s, t, plan, unit, part)) return s.pods[unit[0]].name;
  }
  return "";
}

// ---------------------------------------------------------------- levels

Int partOf(Int amount, Int total, Int scale) { return total > 0 ? static_cast<Int>(Wide(amount) * scale / total) : 0; }

// Shares or quotas of a queue as work: of pods with GPUs, and of pods without.
std::pair<Int, Int> asWork(const Snapshot& s, const Queue& q, bool quota) {
  Int v[Resources];
  for (int r = 0; r < Resources; ++r)
    v[r] = quota ? std::min(q.quota[r], q.quota[r] >= kNone ? s.total[r] : kNone) : q.fair[r];
  return {v[Gpu] / 1000, std::max(partOf(v[Cpu], s.total[Cpu], s.gpuThousandths),
                                  partOf(v[Memory], s.total[Memory], s.gpuThousandths))};
}

Int mostThatFits(const std::vector<Int>& units, Int room) {
  Int all = 0;
  for (Int u : units) all += u;
  if (all <= room) return all;
  std::vector<Int> sums{0};
  for (Int u : units) {
    auto more = sums;
    for (Int x : sums)
      if (x + u <= room) more.push_back(x + u);
    std::sort(more.begin(), more.end());
    more.erase(std::unique(more.begin(), more.end()), more.end());
    sums = more;
  }
  return sums.back();
}

Int inTree(const Snapshot& s, int q, bool gpu, bool quota, const std::vector<Int>& leaf) {
  if (s.queues[q].leaf) return leaf[q];
  Int sum = 0;
  for (int c : s.queues[q].children) sum += inTree(s, c, gpu, quota, leaf);
  auto bound = asWork(s, s.queues[q], quota);
  return std::min(sum, gpu ? bound.first : bound.second);
}

std::vector<Level> upperLevels(const Snapshot& s, const State& t, const Plan& plan) {
  std::vector<Level> levels;
  auto evictions = [&](Int p, bool beyond) {
    Int sum = 0;
    for (std::size_t i = 0; i < s.pods.size(); ++i) {
      if (!t.gone[i] || plan.reason[i] == Reason::Stale) continue;
      const Pod& x = s.pods[i];
      const Gang& v = s.gangs[x.gang];
      if (v.priority < p) continue;
      bool counts = false;
      if (beyond) {
        counts = s.beyondBefore[v.queue];
      } else if (s.withinBefore[v.queue]) {
        for (std::size_t g = 0; g < s.gangs.size(); ++g)
          counts = counts || (t.newOf[g] > 0 && s.gangs[g].queue == v.queue && s.gangs[g].priority > v.priority &&
                              !s.gangs[g].never);
      }
      if (counts) sum += x.weighted * x.seconds;
    }
    return sum;
  };
  auto tree = [&](bool gpu, bool quota, const std::vector<Int>& leaf) {
    Int sum = 0;
    for (std::size_t q = 0; q < s.queues.size(); ++q)
      if (s.queues[q].parent < 0) sum += inTree(s, static_cast<int>(q), gpu, quota, leaf);
    return sum;
  };
  for (Int p : s.priorities) {
    if (s.preemptedLevels.count(p)) levels.push_back({"preempted", p, true, false, double(evictions(p, false))});
    Int value = 0;
    for (bool gpu : {true, false}) {
      std::vector<std::vector<Int>> units(s.queues.size());
      for (std::size_t g = 0; g < s.gangs.size(); ++g) {
        const Gang& gang = s.gangs[g];
        if (gang.priority < p || !hasMinimum(s, t, static_cast<int>(g))) continue;
        std::vector<int> pods;
        for (int i : gang.pods)
          if (t.present[i]) pods.push_back(i);
        std::stable_sort(pods.begin(), pods.end(), [&](int a, int b) { return s.pods[a].work < s.pods[b].work; });
        Int minimum = 0;
        for (std::size_t k = 0; k < pods.size(); ++k) {
          if ((s.pods[pods[k]].count > 0) != gpu) continue;
          if (static_cast<Int>(k) < gang.minimum)
            minimum += s.pods[pods[k]].work;
          else
            units[gang.queue].push_back(s.pods[pods[k]].work);
        }
        if (minimum > 0) units[gang.queue].push_back(minimum);
      }
      std::vector<Int> leaf(s.queues.size(), 0);
      for (std::size_t q = 0; q < s.queues.size(); ++q) {
        auto bound = asWork(s, s.queues[q], false);
        leaf[q] = mostThatFits(units[q], gpu ? bound.first : bound.second);
      }
      value += tree(gpu, false, leaf);
    }
    levels.push_back({"share", p, true, true, double(value)});
  }
  for (Int p : s.priorities) {
    Int value = 0;
    for (bool gpu : {true, false}) {
      std::vector<Int> leaf(s.queues.size(), 0);
      for (std::size_t i = 0; i < s.pods.size(); ++i)
        if (t.present[i] && (s.pods[i].count > 0) == gpu && s.gangs[s.pods[i].gang].priority >= p)
          leaf[s.gangs[s.pods[i].gang].queue] += s.pods[i].work;
      for (std::size_t q = 0; q < s.queues.size(); ++q) {
        auto bound = asWork(s, s.queues[q], true);
        leaf[q] = std::min(leaf[q], gpu ? bound.first : bound.second);
      }
      value += tree(gpu, true, leaf);
    }
    levels.push_back({"quota", p, true, true, double(value)});
  }
  for (Int p : s.priorities) {
    if (s.beyondLevels.count(p)) levels.push_back({"evictedBeyond", p, true, false, double(evictions(p, true))});
    Int value = 0;
    for (std::size_t i = 0; i < s.pods.size(); ++i)
      if (t.present[i] && s.gangs[s.pods[i].gang].priority >= p) value += s.pods[i].weighted;
    levels.push_back({"work", p, true, true, double(value)});
  }
  Int evicted = 0, moved = 0, seniority = 0;
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    const Pod& x = s.pods[i];
    if (t.gone[i] && plan.reason[i] != Reason::Stale) evicted += x.weighted * x.seconds;
    if (t.moved[i]) moved += x.weighted;
    if (t.placedNew[i]) seniority += x.weighted * s.gangs[x.gang].waited;
  }
  levels.push_back({"evicted", 0, false, false, double(evicted)});
  levels.push_back({"moved", 0, false, false, double(moved)});
  levels.push_back({"seniority", 0, false, true, double(seniority)});
  return levels;
}

struct Class {
  int count = 0;
  Int part = 0, cpu = 0, memory = 0;
  std::vector<bool> mayUse;
  double weight = 0;
};

std::vector<Class> expectedWorkload(const Snapshot& s) {
  std::vector<Class> classes;
  double all = 0;
  bool whole = false;
  auto selects = [&](const Pod& p) {
    std::vector<bool> v;
    for (auto& n : s.nodes) {
      bool ok = !n.cordoned;
      for (auto& [k, x] : p.selector) {
        auto it = n.labels.find(k);
        ok = ok && it != n.labels.end() && it->second == x;
      }
      v.push_back(ok);
    }
    return v;
  };
  for (auto& p : s.pods) {
    if (p.status == Status::Succeeded) continue;
    auto v = selects(p);
    classes.push_back({p.count, p.part, p.ask[Cpu], p.ask[Memory], v, 1});
    ++all;
    for (std::size_t n = 0; n < s.nodes.size(); ++n)
      if (v[n] && !s.nodes[n].cordoned && p.count > 0 && p.part == kMicro && p.count >= 2 &&
          p.count == s.nodes[n].devices)
        whole = true;
  }
  if (!whole) {
    std::set<std::pair<int, std::string>> kinds;
    for (auto& n : s.nodes)
      if (n.devices >= 2 && !n.cordoned) kinds.insert({n.devices, n.model});
    for (auto& k : kinds) {
      std::vector<bool> v;
      for (auto& n : s.nodes) v.push_back(n.devices == k.first && n.model == k.second);
      classes.push_back({k.first, kMicro, 0, 0, v, 1});
      ++all;
    }
  }
  // Equal pods are one class. Its weight has six decimals.
  std::vector<Class> merged;
  for (auto& c : classes) {
    auto same = std::find_if(merged.begin(), merged.end(), [&](const Class& m) {
      return m.count == c.count && m.part == c.part && m.cpu == c.cpu && m.memory == c.memory && m.mayUse == c.mayUse;
    });
    if (same == merged.end())
      merged.push_back(c);
    else
      same->weight += c.weight;
  }
  for (auto& c : merged) c.weight = std::round(c.weight * 1e6 / all) / 1e6;
  return merged;
}

std::vector<Level> lowerLevels(const Snapshot& s, const State& t, const Plan& plan, const std::vector<Class>& classes) {
  std::vector<Level> levels;
  auto nodeOf = [&](std::size_t i) { return plan.node[i] >= 0 ? plan.node[i] : s.pods[i].node; };
  bool gpus = false, anyDevice = s.total[Gpu] > 0;
  for (auto& n : s.nodes) gpus = gpus || (!n.cordoned && n.devices > 0);
  if (!s.spread && s.wholeNodes) {
    Int whole = 0, domains = 0;
    std::vector<int> state(s.nodes.size(), 0);  // 0: does not count, 1: not whole, 2: whole
    for (std::size_t n = 0; n < s.nodes.size(); ++n) {
      if (s.nodes[n].cordoned || s.nodes[n].nominated || (gpus && s.nodes[n].devices < 2)) continue;
      bool ok = true;
      for (std::size_t i = 0; i < s.pods.size(); ++i)
        if (t.present[i] && nodeOf(i) == static_cast<int>(n))
          ok = ok && gpus && s.pods[i].count == 0 && plan.node[i] < 0;
      state[n] = ok ? 2 : 1;
      whole += ok;
    }
    for (std::size_t l = 0; l < s.levels.size(); ++l) {
      std::map<std::vector<std::string>, bool> all;
      for (std::size_t n = 0; n < s.nodes.size(); ++n) {
        if (state[n] == 0) continue;
        std::vector<std::string> d;
        bool in = true;
        for (auto& label : s.levels) in = in && s.nodes[n].labels.count(label);
        if (!in) continue;
        for (std::size_t k = 0; k <= l; ++k) d.push_back(s.nodes[n].labels.at(s.levels[k]));
        all.try_emplace(d, true).first->second &= state[n] == 2;
      }
      for (auto& [d, ok] : all) domains += ok;
    }
    Int gangNodes = 0, gangDomains = 0, gangModels = 0, stray = 0;
    for (std::size_t g = 0; g < s.gangs.size(); ++g) {
      if (t.anyOf[g] == 0) continue;
      std::set<int> nodes;
      std::set<std::string> models;
      std::vector<std::set<std::vector<std::string>>> held(s.levels.size());
      for (int i : s.gangs[g].pods)
        if (t.present[i]) {
          int n = nodeOf(i);
          nodes.insert(n);
          if (s.pods[i].count > 0) models.insert(s.nodes[n].model);
          bool in = true;
          for (auto& label : s.levels) in = in && s.nodes[n].labels.count(label);
          for (std::size_t l = 0; l < s.levels.size(); ++l) {
            std::vector<std::string> d;
            if (in)
              for (std::size_t k = 0; k <= l; ++k) d.push_back(s.nodes[n].labels.at(s.levels[k]));
            held[l].insert(d);
          }
        }
      gangNodes += static_cast<Int>(nodes.size()) - 1;
      for (auto& h : held) gangDomains += static_cast<Int>(h.size()) - 1;
      if (!models.empty()) gangModels += static_cast<Int>(models.size()) - 1;
    }
    for (std::size_t i = 0; i < s.pods.size(); ++i) {
      if (plan.node[i] < 0 || s.pods[i].count > 0 || s.nodes[plan.node[i]].devices == 0) continue;
      bool other = false;
      for (std::size_t n = 0; n < s.nodes.size(); ++n)
        other = other || (s.pods[i].mayUse[n] && s.nodes[n].devices == 0);
      stray += other;
    }
    levels.push_back({"wholeNodes", 0, false, true, double(whole)});
    levels.push_back({"wholeDomains", 0, false, true, double(domains)});
    levels.push_back({"gangNodes", 0, false, false, double(gangNodes)});
    levels.push_back({"gangDomains", 0, false, false, double(gangDomains)});
    levels.push_back({"gangModels", 0, false, false, double(gangModels)});
    levels.push_back({"cpuOnGpuNodes", 0, false, false, double(stray)});
  }
  Int preference = 0;
  for (std::size_t i = 0; i < s.pods.size(); ++i)
    if (plan.node[i] >= 0)
      preference += s.pods[i].weighted * ((s.pods[i].nominated == plan.node[i]) - s.nodes[plan.node[i]].softTaints);
  levels.push_back({"preference", 0, false, true, double(preference)});
  double last = 0;
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    NodeResidual room = emptyRoom(s.nodes[n]);
    for (std::size_t i = 0; i < s.pods.size(); ++i)
      if (t.present[i] && nodeOf(i) == static_cast<int>(n))
        take(room, s.pods[i], plan.node[i] >= 0 ? plan.devices[i] : s.pods[i].devices);
    if (s.spread) {
      double used = 0;
      if (anyDevice)
        for (Int l : room.load) used += double(l) / 1000;
      else
        used = double(s.nodes[n].cpu - room.cpu);
      last += used * used;
      continue;
    }
    double idle = 0;
    for (Int l : room.load) idle += double(kMicro - l) / 1000;
    for (auto& c : classes) {
      int fit = 0;
      double usable = 0;
      for (Int l : room.load)
        if (c.count > 0 && kMicro - l >= c.part) {
          ++fit;
          usable += double(kMicro - l) / 1000;
        }
      bool can = c.mayUse[n] && !s.nodes[n].cordoned && c.count > 0 && fit >= c.count && room.cpu >= c.cpu &&
                 room.memory >= c.memory;
      last += c.weight * (can ? idle - usable : idle);
    }
  }
  levels.push_back({"fragmentation", 0, false, false, last});
  return levels;
}

// 1 if a is better than b, -1 if worse.
int compare(const std::vector<Level>& a, const std::vector<Level>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    double d = a[i].value - b[i].value;
    if (std::abs(d) < 1e-6 * std::max(1.0, std::abs(a[i].value))) continue;
    return (d > 0) == a[i].maximise ? 1 : -1;
  }
  return 0;
}

// ---------------------------------------------------------------- where

bool placesKept(const Snapshot& s, const State& t, const Plan& plan) {
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    if (t.newOf[g] > 0 && !roomCovers(s, plan, static_cast<int>(g), t.moved, {})) return false;
    if (s.gangs[g].required.empty() || t.anyOf[g] == 0) continue;
    std::vector<int> nodes;
    for (int p : s.gangs[g].pods)
      if (t.present[p]) nodes.push_back(plan.node[p] >= 0 ? plan.node[p] : s.pods[p].node);
    if (!inOneDomain(s, s.gangs[g].required, nodes)) return false;
  }
  return true;
}

// ---------------------------------------------------------------- checking a plan

Json levelsOf(const std::vector<Level>& levels) {
  Json out = Json::array();
  for (auto& l : levels) {
    Json x;
    x["level"] = l.name;
    if (l.hasPriority) x["priority"] = l.priority;
    x["value"] = l.value;
    out.push_back(x);
  }
  return out;
}

std::string phaseOf(const Snapshot& s, const State& t, const Plan& plan, int g) {
  const Gang& gang = s.gangs[g];
  bool stale = false, stays = false;
  int present = 0, evicted = 0, before = 0, now = 0, succeeded = 0, pendingLeft = 0, gated = 0, immediate = 0,
      ungated = 0;
  for (int p : gang.pods) {
    const Pod& x = s.pods[p];
    stale = stale || plan.reason[p] == Reason::Stale;
    succeeded += x.status == Status::Succeeded;
    before += x.status == Status::Running;
    gated += x.status == Status::Gated;
    pendingLeft += x.status == Status::Pending && !t.placedNew[p];
    evicted += t.gone[p];
    present += t.present[p];
    stays = stays || (x.status == Status::Running && t.present[p]);
    ungated += x.status == Status::Pending || x.status == Status::Running;
    if (t.present[p] && plan.after[p].empty()) ++immediate;
    (void)now;
  }
  if (stale) return "Stale";
  if (evicted > 0 && present == 0) return "Evicted";
  if (stays && present + succeeded >= gang.minimum && before + succeeded >= gang.minimum) return "Running";
  if (immediate > 0 && immediate + succeeded >= gang.minimum) return "Scheduled";
  if (present > 0 && present + succeeded >= gang.minimum) return "Waiting";
  if (gang.timedOut) return "TimedOut";
  if (gated > 0 &&
      (pendingLeft == 0 || (ungated + succeeded < gang.minimum && ungated + gated + succeeded >= gang.minimum)))
    return "Gated";
  return "Unschedulable";
}

Json check(const Snapshot& s, const Json& j, const std::vector<Class>& classes) {
  Json out;
  std::vector<std::string> broken;
  auto bad = [&](std::string why) {
    if (!why.empty() && !std::count(broken.begin(), broken.end(), why)) broken.push_back(why);
  };
  Plan plan;
  auto n = s.pods.size();
  plan.node.assign(n, -1);
  plan.devices.resize(n);
  plan.reason.assign(n, Reason::None);
  plan.claimant.assign(n, -1);
  plan.after.resize(n);
  std::vector<char> leaves(n, 0);
  for (std::size_t i = 0; i < n; ++i) leaves[i] = s.pods[i].status == Status::Releasing;
  for (auto& e : j["evictions"]) {
    int i = s.podIndex.at(e["pod"]);
    std::string reason = e["reason"];
    if (plan.reason[i] != Reason::None) bad("evicted twice");
    plan.reason[i] = reason == "preempt"   ? Reason::Preempt
                     : reason == "reclaim" ? Reason::Reclaim
                     : reason == "stale"   ? Reason::Stale
                                           : Reason::Consolidate;
    if (e.contains("for")) plan.claimant[i] = s.gangIndex.at(e["for"]);
    if (s.pods[i].node < 0 || s.nodes[s.pods[i].node].name != e["node"]) bad("eviction: node");
    leaves[i] = 1;
  }
  for (auto& p : j["placements"]) {
    int i = s.podIndex.at(p["pod"]);
    if (plan.node[i] >= 0) bad("placed twice");
    plan.node[i] = s.nodeIndex.at(p["node"]);
    const Pod& x = s.pods[i];
    if (!x.mayUse[plan.node[i]]) bad("node");
    if (p.contains("gpus"))
      for (auto& d : p["gpus"]) {
        int index = d["index"];
        if (index < 0 || index >= s.nodes[plan.node[i]].devices ||
            std::count(plan.devices[i].begin(), plan.devices[i].end(), index)) {
          bad("devices");
          continue;
        }
        plan.devices[i].push_back(index);
        if (std::abs(d["share"].get<double>() * 1e6 - double(x.part)) > 0.5) bad("devices");
      }
    if (static_cast<int>(plan.devices[i].size()) != x.count) bad("devices");
    if (p.contains("after"))
      for (auto& a : p["after"]) {
        int k = s.podIndex.at(a);
        if (!leaves[k]) bad("after: does not leave");
        plan.after[i].push_back(k);
      }
  }
  // A pod that gives up a place it never had, or one that is placed while it stays.
  for (std::size_t i = 0; i < n; ++i)
    if (plan.node[i] >= 0 && s.pods[i].status == Status::Running && plan.reason[i] == Reason::None) bad("placed: runs");
  State t = stateOf(s, plan);
  bad(setBreaks(s, t, plan));
  for (std::size_t i = 0; i < n; ++i)
    if (plan.reason[i] != Reason::None) bad(reasonBreaks(s, t, plan, static_cast<int>(i)));
  bool claims = true;
  for (std::size_t i = 0; i < n; ++i)
    claims = claims && (plan.reason[i] == Reason::None || plan.reason[i] == Reason::Stale || plan.claimant[i] >= 0);
  if (claims) {
    bad(lowerThanNeeded(s, t, plan));
    bad(tooEarly(s, t, plan));
    if (!priceKept(s, plan)) bad("price");
    if (auto v = inVain(s, t, plan); !v.empty()) bad("in vain: " + v);
  }
  if (!placesKept(s, t, plan)) bad("topology or minResources");
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    Int kept = 0;
    bool all = true;
    for (int p : s.gangs[g].pods) {
      if (s.pods[p].status == Status::Succeeded || t.moved[p] ||
          (s.pods[p].status == Status::Running && plan.reason[p] == Reason::None) ||
          (t.placedNew[p] && plan.after[p].empty()))
        ++kept;
      if (plan.node[p] >= 0 && plan.after[p].empty()) all = false;
    }
    if (t.anyOf[g] > 0 && kept < s.gangs[g].minimum && !all) bad("after: gang");
  }
  for (std::size_t m = 0; m < s.nodes.size(); ++m) {
    std::vector<int> going;
    for (std::size_t i = 0; i < n; ++i)
      if (leaves[i] && s.pods[i].node == static_cast<int>(m)) going.push_back(static_cast<int>(i));
    for (std::uint32_t mask = 0; mask < (1U << going.size()); ++mask) {
      NodeResidual room = emptyRoom(s.nodes[m]);
      bool ok = true;
      for (std::size_t i = 0; i < n; ++i) {
        const Pod& x = s.pods[i];
        if (x.node == static_cast<int>(m) && (x.status == Status::Running || x.status == Status::Releasing)) {
          auto it = std::find(going.begin(), going.end(), static_cast<int>(i));
          if (it == going.end() || !(mask >> (it - going.begin()) & 1U)) ok = take(room, x, x.devices) && ok;
        }
        if (plan.node[i] == static_cast<int>(m)) {
          // Its own old room is free for a pod that is moved: it starts once it is gone.
          auto self = std::find(going.begin(), going.end(), static_cast<int>(i));
          bool started = self == going.end() || (mask >> (self - going.begin()) & 1U);
          for (int a : plan.after[i]) {
            auto it = std::find(going.begin(), going.end(), a);
            if (it != going.end() && !(mask >> (it - going.begin()) & 1U)) started = false;
          }
          if (started) ok = take(room, x, plan.devices[i]) && ok;
        }
      }
      if (!ok) bad(mask + 1 == (1U << going.size()) ? "capacity: end" : "capacity: before the end");
    }
  }
  out["broken"] = broken;
  auto levels = upperLevels(s, t, plan);
  auto lower = lowerLevels(s, t, plan, classes);
  levels.insert(levels.end(), lower.begin(), lower.end());
  out["levels"] = levelsOf(levels);
  Json phases = Json::object();
  for (std::size_t g = 0; g < s.gangs.size(); ++g) {
    bool listed = t.anyOf[g] > 0 || t.lostOf[g] > 0;
    Int running = 0, left = 0;
    for (int p : s.gangs[g].pods) {
      bool waits = s.pods[p].status == Status::Pending || s.pods[p].status == Status::Gated;
      listed = listed || waits;
      running += s.pods[p].status == Status::Running && t.present[p];
      left += waits && !t.placedNew[p];
    }
    if (listed)
      phases[s.gangs[g].name] = {phaseOf(s, t, plan, static_cast<int>(g)), running, t.newOf[g], t.lostOf[g], left};
  }
  out["gangs"] = phases;
  Json queues = Json::object();
  for (std::size_t q = 0; q < s.queues.size(); ++q) {
    Json x;
    for (int r = 0; r < Resources; ++r)
      x[kResourceNames[r]] = {double(s.queues[q].fair[r]) / double(scaleOf(r)),
                              double(t.usage[q * Resources + r]) / double(scaleOf(r))};
    queues[s.queues[q].name] = x;
  }
  out["queues"] = queues;
  return out;
}

// ---------------------------------------------------------------- the search

struct Choice {
  Plan plan;  // which pods are placed (at node 0), evicted and moved
  State state;
  std::vector<Level> upper;
};

struct Search {
  const Snapshot& s;
  std::vector<Class> classes;
  std::vector<Choice> choices;
  Plan current;
  Int seen = 0, tooMany = 0;
  bool found = false;
  Plan best;
  std::vector<Level> bestUpper, bestLower;
  Int positions = 0;

  explicit Search(const Snapshot& snapshot) : s(snapshot), classes(expectedWorkload(snapshot)) {
    auto n = s.pods.size();
    current.node.assign(n, -1);
    current.devices.resize(n);
    current.reason.assign(n, Reason::None);
    current.claimant.assign(n, -1);
    current.after.resize(n);
  }

  // One gang after another: what it loses, moves and gets. Reason::Preempt stands for any eviction that is not stale.
  void gangs(std::size_t g) {
    if (g == s.gangs.size()) {
      finish();
      return;
    }
    pods(g, 0);
  }

  void pods(std::size_t g, std::size_t k) {
    const Gang& gang = s.gangs[g];
    if (k == gang.pods.size()) {
      if (gangAllowed(g)) gangs(g + 1);
      return;
    }
    int i = gang.pods[k];
    const Pod& p = s.pods[i];
    pods(g, k + 1);
    if (p.status == Status::Pending && s.may("place") && !gang.timedOut) {
      // Of equal pods, the first ones are placed.
      for (std::size_t b = 0; b < k; ++b)
        if (s.pods[gang.pods[b]].kind == p.kind && current.node[gang.pods[b]] < 0) return;
      current.node[i] = 0;
      pods(g, k + 1);
      current.node[i] = -1;
    } else if (p.status == Status::Running && !p.frozen) {
      if (gang.stale && s.may("stale")) {
        current.reason[i] = Reason::Stale;
        pods(g, k + 1);
        current.reason[i] = Reason::None;
      }
      if (gang.preemptible && s.may("place") && (s.may("preempt") || s.may("reclaim"))) {
        current.reason[i] = Reason::Preempt;
        pods(g, k + 1);
        current.reason[i] = Reason::None;
      }
      if (gang.preemptible && s.may("consolidate") && s.may("place") && s.maxMoves > 0 && !gang.timedOut) {
        current.reason[i] = Reason::Consolidate;
        current.node[i] = 0;
        pods(g, k + 1);
        current.node[i] = -1;
        current.reason[i] = Reason::None;
      }
    }
  }

  bool gangAllowed(std::size_t g) const {
    const Gang& gang = s.gangs[g];
    Int present = 0, left = 0, lost = 0, placed = 0;
    for (int i : gang.pods) {
      bool running = s.pods[i].status == Status::Running;
      bool here = (running && current.reason[i] == Reason::None) || current.node[i] >= 0;
      left += here;
      present += here || s.pods[i].status == Status::Succeeded;
      lost += running && !here;
      placed += current.node[i] >= 0;
    }
    if (placed > 0 && present < gang.minimum) return false;
    if (lost > 0 && left > 0 && present < gang.minimum) return false;
    if (gang.stale && s.may("stale") && present < gang.minimum && left > 0) return false;
    return true;
  }

  void finish() {
    ++seen;
    Choice c{current, stateOf(s, current), {}};
    // More than the cluster has.
    Int sum[Resources] = {}, have[Resources] = {};
    bool leaving = false;
    for (std::size_t i = 0; i < s.pods.size(); ++i) {
      leaving = leaving || (current.reason[i] != Reason::None && current.reason[i] != Reason::Stale);
      if (c.state.present[i])
        for (int r = 0; r < Resources; ++r) sum[r] += s.pods[i].ask[r];
    }
    for (auto& m : s.nodes) {
      have[Gpu] += m.devices * kMicro;
      have[Cpu] += m.cpu;
      have[Memory] += m.memory;
    }
    for (int r = 0; r < Resources; ++r)
      if (sum[r] > have[r]) return;
    if (!setBreaks(s, c.state, c.plan).empty()) return;
    if (leaving) {
      // Each needs some claimant.
      for (std::size_t i = 0; i < s.pods.size(); ++i)
        if (current.reason[i] == Reason::Preempt && claimants(c.state, static_cast<int>(i)).empty()) return;
    }
    c.upper = upperLevels(s, c.state, c.plan);
    choices.push_back(std::move(c));
  }

  std::vector<std::pair<Reason, int>> claimants(const State& t, int i) const {
    std::vector<std::pair<Reason, int>> v;
    for (std::size_t g = 0; g < s.gangs.size(); ++g) {
      int c = static_cast<int>(g);
      if (preemptBreaks(s, t, c, i).empty()) v.emplace_back(Reason::Preempt, c);
      if (reclaimBreaks(s, t, c, i).empty()) v.emplace_back(Reason::Reclaim, c);
    }
    return v;
  }

  // All ways to give the pods that leave a reason and a claimant.
  std::vector<Plan> reasons(const Choice& c) {
    std::vector<Plan> out;
    Plan plan = c.plan;
    std::function<void(std::size_t)> walk = [&](std::size_t i) {
      if (out.size() > 20000) {
        ++tooMany;
        return;
      }
      if (i == s.pods.size()) {
        if (lowerThanNeeded(s, c.state, plan).empty() && tooEarly(s, c.state, plan).empty() && priceKept(s, plan))
          out.push_back(plan);
        return;
      }
      if (c.plan.reason[i] == Reason::Preempt) {
        for (auto [reason, g] : claimants(c.state, static_cast<int>(i))) {
          plan.reason[i] = reason;
          plan.claimant[i] = g;
          walk(i + 1);
        }
      } else if (c.plan.reason[i] == Reason::Consolidate) {
        for (std::size_t g = 0; g < s.gangs.size(); ++g)
          if (c.state.anyOf[g] > 0) {
            plan.claimant[i] = static_cast<int>(g);
            walk(i + 1);
          }
      } else {
        walk(i + 1);
      }
    };
    walk(0);
    return out;
  }

  void run() {
    gangs(0);
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return compare(a.upper, b.upper) > 0; });
    for (auto& c : choices) {
      if (found && compare(bestUpper, c.upper) > 0) break;
      auto ways = reasons(c);
      if (ways.empty()) continue;
      where(c, ways);
    }
  }

  void where(Choice& c, const std::vector<Plan>& ways) {
    std::vector<NodeResidual> rooms;
    for (auto& m : s.nodes) rooms.push_back(emptyRoom(m));
    std::vector<int> placed;
    for (std::size_t i = 0; i < s.pods.size(); ++i) {
      const Pod& p = s.pods[i];
      if (c.plan.node[i] >= 0)
        placed.push_back(static_cast<int>(i));
      else if (c.state.present[i])
        take(rooms[p.node], p, p.devices);
    }
    std::stable_sort(placed.begin(), placed.end(), [&](int a, int b) {
      return std::make_tuple(-s.pods[a].ask[Gpu], s.pods[a].kind) <
             std::make_tuple(-s.pods[b].ask[Gpu], s.pods[b].kind);
    });
    bool fractions = false;
    for (auto& p : s.pods) fractions = fractions || p.part < kMicro;
    Plan plan = c.plan;
    std::function<void(std::size_t)> walk = [&](std::size_t k) {
      if (k == placed.size()) {
        ++positions;
        if (!placesKept(s, c.state, plan)) return;
        auto lower = lowerLevels(s, c.state, plan, classes);
        if (found && compare(lower, bestLower) <= 0) return;
        for (auto& way : ways) {
          plan.reason = way.reason;
          plan.claimant = way.claimant;
          if (!inVain(s, c.state, plan).empty()) continue;
          found = true;
          best = plan;
          bestUpper = c.upper;
          bestLower = lower;
          break;
        }
        return;
      }
      int i = placed[k];
      const Pod& p = s.pods[i];
      bool same = k > 0 && s.pods[placed[k - 1]].kind == p.kind && !c.state.moved[i];
      int from = same ? plan.node[placed[k - 1]] : 0;
      for (int m = from; m < static_cast<int>(s.nodes.size()); ++m) {
        if (!p.mayUse[m] || rooms[m].cpu < p.ask[Cpu] || rooms[m].memory < p.ask[Memory]) continue;
        std::vector<int> free;
        for (int d = 0; d < s.nodes[m].devices; ++d)
          if (rooms[m].load[d] + p.part <= kMicro) free.push_back(d);
        if (static_cast<int>(free.size()) < p.count) continue;
        NodeResidual before = rooms[m];
        plan.node[i] = m;
        if (!fractions || p.count == 0) {
          free.resize(p.count);
          plan.devices[i] = free;
          take(rooms[m], p, free);
          walk(k + 1);
          rooms[m] = before;
        } else {
          std::vector<int> pick;
          std::function<void(std::size_t)> choose = [&](std::size_t f) {
            if (static_cast<int>(pick.size()) == p.count) {
              plan.devices[i] = pick;
              take(rooms[m], p, pick);
              walk(k + 1);
              rooms[m] = before;
              return;
            }
            for (std::size_t x = f; x < free.size(); ++x) {
              // Devices that are equal before and after the plan so far: only the first of them.
              bool twin = false;
              for (std::size_t y = f; y < x && !twin; ++y) twin = alike(plan, placed, k, m, free[x], free[y]);
              if (twin) continue;
              pick.push_back(free[x]);
              choose(x + 1);
              pick.pop_back();
            }
          };
          choose(0);
        }
        plan.node[i] = 0;
      }
    };
    walk(0);
  }

  bool alike(const Plan& plan, const std::vector<int>& placed, std::size_t k, int m, int a, int b) const {
    for (auto& p : s.pods)
      if (p.node == m &&
          (std::count(p.devices.begin(), p.devices.end(), a) || std::count(p.devices.begin(), p.devices.end(), b)))
        return false;
    for (std::size_t x = 0; x < k; ++x) {
      if (plan.node[placed[x]] != m) continue;
      auto& d = plan.devices[placed[x]];
      if (std::count(d.begin(), d.end(), a) || std::count(d.begin(), d.end(), b)) return false;
    }
    return true;
  }
};

Json describe(const Snapshot& s, const Plan& plan) {
  Json out;
  out["placements"] = Json::array();
  out["evictions"] = Json::array();
  const char* names[] = {"", "preempt", "reclaim", "consolidate", "stale"};
  std::vector<std::string> going(s.nodes.size());
  for (std::size_t i = 0; i < s.pods.size(); ++i) {
    if (plan.node[i] >= 0) {
      Json x{{"pod", s.pods[i].name}, {"node", s.nodes[plan.node[i]].name}};
      Json gpus = Json::array();
      for (int d : plan.devices[i]) gpus.push_back({{"index", d}, {"share", double(s.pods[i].part) / 1e6}});
      x["gpus"] = gpus;
      // Waits for all that leaves.
      Json after = Json::array();
      for (std::size_t k = 0; k < s.pods.size(); ++k)
        if (plan.reason[k] != Reason::None || s.pods[k].status == Status::Releasing) after.push_back(s.pods[k].name);
      if (!after.empty()) x["after"] = after;
      out["placements"].push_back(x);
    }
    if (plan.reason[i] != Reason::None) {
      Json x{{"pod", s.pods[i].name}, {"node", s.nodes[s.pods[i].node].name}, {"reason", names[int(plan.reason[i])]}};
      if (plan.claimant[i] >= 0) x["for"] = s.gangs[plan.claimant[i]].name;
      out["evictions"].push_back(x);
    }
  }
  return out;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    Json in = Json::parse(line);
    Json out;
    Snapshot s = read(in["snapshot"]);
    auto classes = expectedWorkload(s);
    out["plans"] = Json::array();
    for (auto& p : in["plans"]) out["plans"].push_back(check(s, p, classes));
    if (in.value("search", true)) {
      Search search(s);
      search.run();
      out["found"] = search.found;
      if (search.found) {
        auto levels = search.bestUpper;
        levels.insert(levels.end(), search.bestLower.begin(), search.bestLower.end());
        out["best"] = levelsOf(levels);
        out["plan"] = describe(s, search.best);
        auto again = check(s, out["plan"], classes);
        out["own"] = again["broken"];
      }
      out["choices"] = search.seen;
      out["positions"] = search.positions;
      out["tooMany"] = search.tooMany;
    }
    std::cout << out.dump() << "\n" << std::flush;
  }
}
