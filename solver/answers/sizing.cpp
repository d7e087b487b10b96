#include "solver/answers/sizing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/build/build_problem.h"
#include "model/explain/remaining_capacity.h"
#include "solver/answers/loss.h"
#include "solver/answers/node_patterns.h"

namespace muster::answers {
namespace {

using portfolio::Engine;
using Failure = std::optional<InputError>;
using Counts = std::vector<std::int64_t>;  // of nodes, by kind

constexpr double kPriceUnit = 1'000'000;

// The gangs of which no pod runs, in one queue without limits.
void keep_workload(const SizingQuestion& question, Snapshot& snapshot) {
  std::set<std::string_view> running;
  for (const SnapshotPod& pod : snapshot.pods) {
    if (pod.status == PodStatus::kRunning) running.insert(pod.gang.empty() ? pod.name : pod.gang);
  }
  if (!question.uses_present) {
    snapshot.pods.erase_if([&](const SnapshotPod& pod) {
      return pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing ||
             running.contains(pod.gang.empty() ? pod.name : pod.gang);
    });
    std::set<std::string_view> copied;
    for (const NodeKind& kind : question.kinds) {
      if (const auto* like = std::get_if<std::string>(&kind.of)) copied.insert(*like);
    }
    std::erase_if(snapshot.nodes, [&](const SnapshotNode& node) { return !copied.contains(node.name); });
    for (SnapshotPod& pod : snapshot.pods) pod.nominated_node = {};
  }
  const auto free_terms = [](GangTerms& terms) {
    terms.queue = "default";
    terms.timeout.reset();
  };
  for (SnapshotGang& gang : snapshot.gangs) free_terms(gang.terms);
  for (GangTerms& terms : snapshot.own_gang_terms) free_terms(terms);
  snapshot.queues.clear();
  snapshot.policy.actions = {true, false, false, false, false};
  snapshot.policy.over_time.reserve_after = kNever;
}

class Searching {
 public:
  Searching(const Snapshot& cluster, portfolio::Portfolio& portfolio, cbc::Backend& backend,
            const ExperimentOptions& options, const SizingQuestion& question)
      : base_(cluster), portfolio_(portfolio), backend_(backend), time_(options), question_(question) {
    keep_workload(question, base_);
  }

  Result<Sizing> run() {
    if (Failure failure = measure()) return *std::move(failure);
    if (!sizing_.impossible.empty()) return std::move(sizing_);
    NodePatterns patterns(input_, backend_);
    set_bound(patterns.bound(time_.part(kTuning.answers.base)));
    if (sizing_.is_impossible) return std::move(sizing_);
    if (Failure failure = find_nodes(patterns)) return *std::move(failure);
    if (Failure failure = save_nodes()) return *std::move(failure);
    return std::move(sizing_);
  }

 private:
  std::vector<change::Change> changes_for(const Counts& nodes) const {
    std::vector<change::Change> changes;
    std::set<std::string> copied;
    for (std::size_t kind = 0; kind < nodes.size(); ++kind) {
      const auto* like = std::get_if<std::string>(&question_.kinds[kind].of);
      if (like) copied.insert(*like);
      if (nodes[kind] == 0) continue;
      if (like) {
        changes.emplace_back(change::AddNodes{*like, nodes[kind]});
      } else {
        const std::string prefix = "kind" + std::to_string(kind + 1);
        changes.emplace_back(
            change::AddShapedNodes{std::get<change::NodeShape>(question_.kinds[kind].of), nodes[kind], prefix});
      }
    }
    if (question_.uses_present) return changes;
    for (const std::string& node : copied) changes.emplace_back(change::RemoveNode{node});
    return changes;
  }

  // ---- what there is to run, and what a node takes of it ----

  Failure measure() {
    Snapshot snapshot(base_);
    const Counts one(question_.kinds.size(), 1);
    if (Failure failure = change::apply(changes_for(one), snapshot)) return failure;
    Result<Problem> built = build_problem(snapshot, time_.threads());
    if (!built) return built.error();
    const Problem& problem = *built;
    std::map<PodClassIndex, std::int64_t> pods;
    std::set<GangIndex> gangs;
    for (const Pod& pod : problem.pods) {
      if (pod.status != PodStatus::kPending) continue;
      ++pods[pod.pod_class];
      ++sizing_.pods;
      gangs.insert(pod.gang);
    }
    sizing_.gangs = static_cast<std::int64_t>(gangs.size());
    if (pods.empty()) return InputError{ErrorCode::kInvalidValue, "$", "no pod of the workload is pending"};
    fill_input(problem, pods);
    for (const GangIndex gang : gangs) {
      const auto fits_nowhere = [&](PodIndex pod) {
        return problem.pods[pod].status == PodStatus::kPending && homeless_.contains(problem.pods[pod].pod_class);
      };
      if (std::ranges::any_of(problem.gangs[gang].pods, fits_nowhere))
        sizing_.impossible.emplace_back(problem.gangs[gang].name);
    }
    return {};
  }

  struct Room {
    const Problem& problem;
    const explain::RemainingCapacity& room;
    std::span<const NodeIndex> nodes;
  };

  // All that the nodes have is 1 for each resource, for devices, and for devices that are shared by no two of these
  // pods.
  static void add_class(const Room& at, PodClassIndex index, PatternCapacity& out) {
    const PodClass& pod_class = at.problem.pod_classes[index];
    const std::size_t resources = at.problem.resource_count;
    std::vector<double> total(resources + 2, 0), load(resources + 2, 0);
    std::int64_t most = 0;
    double part = pod_class.gpu.kind == GpuRequestKind::kNone ? 0 : 1;  // of a device, the least on any of the nodes
    for (const NodeIndex node : at.nodes) {
      for (std::size_t r = 0; r < resources; ++r)
        total[r] += static_cast<double>(std::max<std::int64_t>(0, at.room.free(node)[r]));
      const DeviceUnits whole = at.problem.device_capacity(node);
      for (const DeviceUnits units : at.room.devices(node)) {
        total[resources] += static_cast<double>(std::max<DeviceUnits>(0, units)) / static_cast<double>(whole);
        total[resources + 1] += 2 * units > whole ? 1 : 0;
      }
      if (!pod_class.allowed[at.problem.nodes[node].node_class.value()] || at.room.conflicts(pod_class, node)) continue;
      const std::int64_t count = at.room.count(pod_class, node, kLargest);
      most = saturating_add(most, count);
      if (count == 0 || pod_class.gpu.kind == GpuRequestKind::kNone) continue;
      const DeviceUnits units = share_units(pod_class, at.problem.class_of(node));
      part = std::min(part, static_cast<double>(units) / static_cast<double>(whole));
    }
    const double devices = pod_class.gpu.devices;
    for (std::size_t r = 0; r < resources; ++r) {
      if (pod_class.request[r] > 0 && total[r] > 0) load[r] = static_cast<double>(pod_class.request[r]) / total[r];
    }
    if (total[resources] > 0) load[resources] = part * devices / total[resources];
    if (part > 0.5 && total[resources + 1] > 0) load[resources + 1] = devices / total[resources + 1];
    out.load.push_back(std::move(load));
    out.most_pods.push_back(most);
  }

  void fill_input(const Problem& problem, const std::map<PodClassIndex, std::int64_t>& pods) {
    const explain::RemainingCapacity empty = explain::RemainingCapacity::empty_cluster(problem);
    const explain::RemainingCapacity present =
        explain::RemainingCapacity::after(problem, explain::after_plan(problem, {}));
    const std::size_t kinds = question_.kinds.size(), own = problem.nodes.size() - kinds;
    input_.kinds.resize(kinds);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      input_.kinds[kind].price = static_cast<double>(question_.kinds[kind].price) / kPriceUnit;
      input_.kinds[kind].most = question_.kinds[kind].most;
    }
    if (question_.uses_present && own > 0) input_.present.emplace();
    std::map<std::vector<std::vector<double>>, std::size_t> known;  // equal pods, whatever their other terms
    for (const auto& [index, count] : pods) {
      std::vector<PatternCapacity> rooms(kinds + 1);
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        const NodeIndex node(own + kind);
        add_class({problem, empty, {&node, 1}}, index, rooms[kind]);
      }
      if (input_.present) add_class({problem, present, present.nodes().first(own)}, index, rooms[kinds]);
      std::vector<std::vector<double>> key;
      bool fits = false;
      for (const PatternCapacity& room : rooms) {
        if (room.load.empty()) continue;
        key.push_back(room.load.front());
        key.back().push_back(static_cast<double>(room.most_pods.front()));
        fits = fits || room.most_pods.front() > 0;
      }
      if (!fits) homeless_.insert(index);
      const auto [at, is_new] = known.try_emplace(key, input_.demand.size());
      class_of_[index] = at->second;
      if (!is_new) {
        input_.demand[at->second] += count;
        continue;
      }
      input_.demand.push_back(count);
      for (std::size_t kind = 0; kind < kinds; ++kind) append(rooms[kind], input_.kinds[kind].room);
      if (input_.present) append(rooms[kinds], *input_.present);
    }
    name_classes(problem);
  }

  static void append(const PatternCapacity& one, PatternCapacity& all) {
    all.load.push_back(one.load.front());
    all.most_pods.push_back(one.most_pods.front());
  }

  // Pods are known by name from one problem to the next.
  void name_classes(const Problem& problem) {
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status != PodStatus::kPending) continue;
      class_of_pod_[std::string(problem.snapshot->pods[pod.value()].name)] = class_of_.at(problem.pods[pod].pod_class);
    }
  }

  void set_bound(double bound) {
    std::int64_t step = 0;
    for (const NodeKind& kind : question_.kinds) step = std::gcd(step, kind.price);
    constexpr double kSlack = 1e-6;
    const double steps = bound * kPriceUnit / static_cast<double>(step);
    constexpr double kExact = 9e15;  // whole numbers up to here are exact
    sizing_.is_impossible = std::isinf(bound);
    if (!(steps * static_cast<double>(step) < kExact)) return;
    sizing_.bound = static_cast<std::int64_t>(std::ceil(steps * (1 - kSlack) - kSlack)) * step;
    sizing_.bound = std::max<std::int64_t>(sizing_.bound, 0);
  }

  // ---- nodes on which all runs ----

  struct Trial {
    bool is_enough = false;
    std::int64_t placed = 0;
    std::unique_ptr<Run> run;
  };

  std::int64_t price_of(const Counts& nodes) const {
    std::int64_t price = 0;
    for (std::size_t kind = 0; kind < nodes.size(); ++kind)
      price = saturating_add(price, saturating_multiply(nodes[kind], question_.kinds[kind].price));
    return price;
  }

  enum class Effort : std::uint8_t { kGreedy, kSearch };

  // Greedily, then by all engines.
  Failure try_nodes(const Counts& nodes, Effort effort, Trial& trial) {
    for (const Engine engine : {Engine::kGreedy, time_.engine()}) {
      if (engine != Engine::kGreedy && (effort == Effort::kGreedy || trial.is_enough || time_.is_over())) break;
      Experiment experiment(base_, portfolio_,
                            time_.for_plan(engine, engine == Engine::kGreedy ? 1 : kTuning.answers.step));
      Result<std::unique_ptr<Run>> run = experiment.solve(changes_for(nodes));
      if (!run) return run.error();
      ++sizing_.runs;
      const auto placed = static_cast<std::int64_t>((*run)->solution.plan.placements.size());
      if (trial.run && placed <= trial.placed) continue;
      trial.placed = placed;
      trial.is_enough = placed == sizing_.pods;
      trial.run = *std::move(run);
      if (time_.engine() == Engine::kGreedy) break;
    }
    if (trial.is_enough && (best_.empty() || price_of(nodes) < price_of(best_))) {
      best_ = nodes;
      sizing_.plan = std::move(trial.run);
    }
    return {};
  }

  std::vector<std::optional<std::int64_t>> left_of(const Counts& nodes) const {
    std::vector<std::optional<std::int64_t>> left;
    for (std::size_t kind = 0; kind < nodes.size(); ++kind) {
      const auto& most = question_.kinds[kind].most;
      left.push_back(most ? std::optional(std::max<std::int64_t>(0, *most - nodes[kind])) : std::nullopt);
    }
    return left;
  }

  // The pods that the plan does not place, by class.
  std::vector<std::int64_t> unplaced(const Run& run) const {
    std::vector<std::int64_t> pods(input_.demand.size(), 0);
    const std::vector<Placement>& placements = run.solution.plan.placements;
    for (const PodIndex pod : run.problem.pods.indices()) {
      if (run.problem.pods[pod].status != PodStatus::kPending) continue;
      if (std::ranges::binary_search(placements, pod, {}, &Placement::pod)) continue;
      ++pods[class_of_pod_.at(std::string(run.snapshot->pods[pod.value()].name))];
    }
    return pods;
  }

  Failure find_nodes(NodePatterns& patterns) {
    const Counts none(question_.kinds.size(), 0);
    Counts nodes = patterns.mix(input_.demand, left_of(none), true, time_.part(kTuning.answers.step));
    if (nodes.empty()) nodes = patterns.mix(input_.demand, left_of(none), false, time_.part(kTuning.answers.step));
    for (int repair = 0; !nodes.empty(); ++repair) {
      Trial trial;
      if (Failure failure = try_nodes(nodes, Effort::kSearch, trial)) return failure;
      if (trial.is_enough) break;
      last_ = std::move(trial.run);
      if (repair == kTuning.answers.repairs) return {};
      const Counts more = patterns.mix(unplaced(*last_), left_of(nodes), false, time_.part(kTuning.answers.step));
      if (more.empty() || price_of(more) == 0) break;
      for (std::size_t kind = 0; kind < nodes.size(); ++kind) nodes[kind] += more[kind];
    }
    if (best_.empty()) return give_most();
    return improve();
  }

  // All that may be had, where there is an end to it.
  Failure give_most() {
    Counts nodes;
    for (const NodeKind& kind : question_.kinds) {
      if (!kind.most) return {};
      nodes.push_back(*kind.most);
    }
    Trial trial;
    if (Failure failure = try_nodes(nodes, Effort::kSearch, trial)) return failure;
    if (trial.is_enough) return improve();
    last_ = std::move(trial.run);
    return {};
  }

  Failure improve() {
    for (const Effort effort : {Effort::kGreedy, Effort::kSearch}) {
      if (Failure failure = remove_nodes(effort)) return failure;
      if (Failure failure = replace_nodes(effort)) return failure;
    }
    return {};
  }

  std::vector<std::size_t> dearest_first() const {
    std::vector<std::size_t> order(question_.kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t kind) { return question_.kinds[kind].price; });
    return order;
  }

  bool may_improve() const { return price_of(best_) > sizing_.bound && !time_.is_over(); }

  // Whether these nodes are enough, and so the best from now on.
  Result<bool> is_better(const Counts& nodes, Effort effort) {
    for (std::size_t kind = 0; kind < nodes.size(); ++kind) {
      if (nodes[kind] < 0 || nodes[kind] > question_.kinds[kind].most.value_or(kLargest)) return false;
    }
    if (price_of(nodes) < sizing_.bound) return false;
    Trial trial;
    if (Failure failure = try_nodes(nodes, effort, trial)) return *std::move(failure);
    return trial.is_enough;
  }

  // Of each kind as many nodes less as the bound leaves open, then half as many, and so on.
  Failure remove_nodes(Effort effort) {
    for (const std::size_t kind : dearest_first()) {
      const auto open = [&] { return (price_of(best_) - sizing_.bound) / question_.kinds[kind].price; };
      for (std::int64_t count = std::min(open(), best_[kind]); count > 0 && may_improve();) {
        Counts nodes = best_;
        nodes[kind] -= count;
        const Result<bool> better = is_better(nodes, effort);
        if (!better) return better.error();
        count = *better ? std::min({count, open(), best_[kind]}) : count / 2;
      }
    }
    return {};
  }

  // A node of a cheaper kind in place of one.
  Failure replace_nodes(Effort effort) {
    for (const std::size_t from : dearest_first()) {
      for (const std::size_t to : dearest_first()) {
        if (question_.kinds[to].price >= question_.kinds[from].price) continue;
        while (may_improve()) {
          Counts nodes = best_;
          --nodes[from];
          ++nodes[to];
          const Result<bool> better = is_better(nodes, effort);
          if (!better) return better.error();
          if (!*better) break;
        }
      }
    }
    return {};
  }

  Failure save_nodes() {
    sizing_.nodes = best_;
    sizing_.price = best_.empty() ? 0 : price_of(best_);
    if (!best_.empty() || !last_) return {};
    for (const explain::GangReport& gang : last_->solution.report.gangs) {
      if (last_->admits(gang.gang)) continue;
      if (sizing_.waiting++ == 0) sizing_.message = gang.message;
    }
    return {};
  }

  Snapshot base_;
  portfolio::Portfolio& portfolio_;
  cbc::Backend& backend_;
  AnswerTime time_;
  const SizingQuestion& question_;
  PatternInput input_;
  std::set<PodClassIndex> homeless_;                 // fit on no node
  std::map<PodClassIndex, std::size_t> class_of_;    // of the first problem -> position in the demand
  std::map<std::string, std::size_t> class_of_pod_;  // pending pods, by name
  Counts best_;
  std::unique_ptr<Run> last_;  // that places not all
  Sizing sizing_;
};

}  // namespace

Result<Sizing> size_nodes(const Snapshot& cluster, portfolio::Portfolio& portfolio, cbc::Backend& backend,
                          const ExperimentOptions& options, const SizingQuestion& question) {
  MUSTER_REQUIRE(!question.kinds.empty());
  return Searching(cluster, portfolio, backend, options, question).run();
}

}  // namespace muster::answers
