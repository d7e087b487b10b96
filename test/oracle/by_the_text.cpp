// The search of by_the_text.py: all plans of a tiny snapshot, by the text of docs/semantics.md alone.
//
// Reads one JSON document per line: {"snapshot":{...},"plans":[...],"search":bool}. Writes one per line:
// the rules that each plan breaks, the values of its levels, and the best values of all allowed plans.
// Shares no code with the program. Covers the part of the format that by_the_text.py generates.
#include <functional>
#include <iostream>

#include "test/oracle/levels.h"

namespace {

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
