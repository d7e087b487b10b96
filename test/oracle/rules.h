// The state after a plan, and rule Not in vain. Of by_the_text.cpp.
#pragma once

#include "test/oracle/cluster.h"

namespace {

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

}  // namespace
