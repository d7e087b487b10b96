// The values of the levels. Of by_the_text.cpp.
#pragma once

#include "test/oracle/rules.h"

namespace {

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
      if (beyond || s.isBeyond[x.gang]) {
        counts = beyond && s.isBeyond[x.gang];
      } else {
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

}  // namespace
