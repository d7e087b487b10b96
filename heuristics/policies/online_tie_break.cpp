#include "heuristics/policies/online_tie_break.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/tuning.h"

namespace muster::policies {

namespace {

constexpr double kTolerance = 1e-9;
constexpr double kLeastCpu = 1e-3;   // cores, the smallest amount; a pod without a request is never short of them
constexpr double kLostCopies = 0.5;  // the mean of what rounding down takes away

// P(X >= n) for a Poisson variable of this mean.
double chance_of(double mean, std::int32_t n) {
  if (n <= 0) return 1;
  if (n > mean + 10 * std::sqrt(mean) + 20) return 0;
  double term = std::exp(-mean), below = 0;
  if (mean > 600) return n > mean ? 0 : 1;
  for (std::int32_t i = 0; i < n; ++i) {
    below += term;
    term *= mean / (i + 1);
  }
  return std::max(0.0, 1 - below);
}

}  // namespace

OnlineUsable::OnlineUsable(const std::vector<OnlineClass>& classes, const std::vector<double>& counts,
                           std::size_t types)
    : of_type_(types) {
  const double total = std::max(1e-9, std::accumulate(counts.begin(), counts.end(), 0.0));
  std::vector<std::size_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return classes[j].cpu; });
  for (std::size_t t = 0; t < types; ++t) {
    std::vector<Shape>& shapes = of_type_[t].shapes;
    for (const std::size_t j : order) {
      const OnlineClass& pod = classes[j];
      if (pod.devices == 0 || !pod.accepts_type(t)) continue;
      const auto alike = [&](const Shape& shape) { return shape.devices == pod.devices && shape.level == pod.level; };
      auto shape = std::ranges::find_if(shapes, alike);
      if (shape == shapes.end()) shape = shapes.insert(shapes.end(), {pod.devices, pod.level, 0, 0, {}, {0}, {0}});
      const double share = counts[j] / total;
      shape->cpu.push_back(pod.cpu);
      shape->share.push_back(shape->share.back() + share);
      shape->share_by_cpu.push_back(shape->share_by_cpu.back() + share / std::max(pod.cpu, kLeastCpu));
      shape->most_cpu = pod.cpu;
      shape->all = shape->share.back();
    }
    tabulate(of_type_[t]);
  }
}

void OnlineUsable::tabulate(Shapes& of) {
  of.lanes = (of.shapes.size() + kLane - 1) / kLane;
  of.pieces.resize((kDeviceLevels + 1) * of.lanes);
  of.usable.resize(of.pieces.size());
  for (std::int32_t level = 0; level <= kDeviceLevels; ++level) {
    const std::size_t first = static_cast<std::size_t>(level) * of.lanes;
    for (std::size_t i = 0; i < of.shapes.size(); ++i) {
      const std::int32_t wanted = of.shapes[i].level;
      of.pieces[first + i / kLane][i % kLane] = static_cast<std::int16_t>(level / wanted);
      of.usable[first + i / kLane][i % kLane] = static_cast<std::int16_t>(level >= wanted ? level : 0);
    }
  }
}

// The share of pods of the shape that this many copies could be: all those that ask for little cpu, and of the others
// as many as the cpu allows. Capacity that whole copies leave is of use to smaller ones: they count in fractions, minus
// the half copy that rounding down costs on average.
double OnlineUsable::served(const Shape& shape, std::int32_t copies, double cpu) {
  if (shape.most_cpu * copies <= cpu + kTolerance) return shape.all;
  const auto asking_at_most = [&](double most) {
    return static_cast<std::size_t>(std::ranges::upper_bound(shape.cpu, most + kTolerance) - shape.cpu.begin());
  };
  const std::size_t all = asking_at_most(cpu / copies), some = asking_at_most(cpu);
  return shape.share[all] + (cpu * (shape.share_by_cpu[some] - shape.share_by_cpu[all]) -
                             kLostCopies * (shape.share[some] - shape.share[all])) /
                                copies;
}

double OnlineUsable::of(const OnlineCapacity& room) const {
  const Shapes& all = of_type_[room.type];
  double sum = 0;
  for (std::size_t lane = 0; lane < all.lanes; ++lane) {
    Lane pieces{}, usable{};
    for (const std::uint8_t level : room.levels) {
      const Lane &more = all.pieces[level * all.lanes + lane], &part = all.usable[level * all.lanes + lane];
      for (std::size_t i = 0; i < kLane; ++i) pieces[i] = static_cast<std::int16_t>(pieces[i] + more[i]);
      for (std::size_t i = 0; i < kLane; ++i) usable[i] = static_cast<std::int16_t>(usable[i] + part[i]);
    }
    const std::size_t count = std::min(kLane, all.shapes.size() - lane * kLane);
    for (std::size_t i = 0; i < count; ++i) {
      const Shape& shape = all.shapes[lane * kLane + i];
      const std::int32_t copies = shape.devices == 1 ? pieces[i] : pieces[i] / shape.devices;
      if (copies > 0) sum += served(shape, copies, room.cpu) * usable[i];
    }
  }
  return sum / kDeviceLevels;
}

OnlineHosts::OnlineHosts(const std::vector<OnlineType>& types, const std::vector<OnlineClass>& classes,
                         const std::vector<double>& counts) {
  double work = 0;
  for (std::size_t j = 0; j < classes.size(); ++j) {
    const OnlineClass& pod = classes[j];
    work += counts[j] * pod.work();
    if (pod.devices < 2) continue;
    std::uint64_t hosts = 0;
    for (std::size_t t = 0; t < types.size(); ++t) {
      const bool fits = pod.accepts_type(t) && pod.devices <= types[t].devices && pod.cpu <= types[t].cpu &&
                        pod.memory <= types[t].memory;
      hosts |= fits ? std::uint64_t{1} << t : 0;
    }
    if (hosts == 0) continue;
    auto kind =
        std::ranges::find_if(kinds_, [&](const Kind& k) { return k.devices == pod.devices && k.types == hosts; });
    if (kind == kinds_.end()) {
      if (kinds_.size() == kMostKinds) continue;
      kind = kinds_.insert(kinds_.end(), {pod.devices, hosts, 0, 0, 0});
    }
    kind->cpu = std::max(kind->cpu, pod.cpu);
    kind->memory = std::max(kind->memory, pod.memory);
    kind->per_device += counts[j];
  }
  for (Kind& kind : kinds_) kind.per_device /= std::max(work, 1e-9);
  premiums_.assign(kinds_.size(), 0);
}

OnlineHosts::Kinds OnlineHosts::hosted(std::size_t type, double cpu, double memory, std::int32_t whole) const {
  Kinds result = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Kind& kind = kinds_[i];
    const bool fits = kind.devices <= whole && (kind.types >> type & 1) != 0 && kind.cpu <= cpu + kTolerance &&
                      kind.memory <= memory + kTolerance;
    result |= fits ? Kinds{1} << i : 0;
  }
  return result;
}

void OnlineHosts::price(const std::vector<std::int32_t>& hosts, double coming) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    double wanted = 0;
    for (std::size_t q = 0; q < kinds_.size(); ++q) {
      if (hosts[q] > hosts[i]) continue;
      wanted +=
          kinds_[q].per_device * coming * std::min(1.0, kinds_[q].devices / static_cast<double>(kinds_[i].devices));
    }
    premiums_[i] = static_cast<float>(kTuning.online.premium * kinds_[i].devices * chance_of(wanted, hosts[i]));
  }
}

}  // namespace muster::policies
