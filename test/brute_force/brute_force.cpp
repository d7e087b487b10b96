#include "test/brute_force/brute_force.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <unordered_map>

#include "model/objective/evaluation.h"
#include "test/brute_force/instances/pod_kinds.h"
#include "test/brute_force/inter_pod.h"
#include "test/brute_force/node_contents.h"
#include "test/brute_force/wholeness.h"

namespace muster::brute_force {
namespace {

constexpr std::size_t kMostKinds = 16;
constexpr std::int64_t kMostPodsOfAKind = 15;

// Which domain a group of a gang keeps to; none: no matter (only where the level is preferred).
struct DomainChoice {
  GroupIndex group;
  TopologyLevelIndex level;
  DomainIndex domain;
  bool is_preferred = false;  // being in it is worth the work that is placed
};

struct StateKey {
  Counts counts;
  std::vector<std::int64_t> extra;  // anti-affinity flags, usage that depends on the node, pods of rules by node
  friend bool operator==(const StateKey&, const StateKey&) = default;
};
struct StateHash {
  std::size_t operator()(const StateKey& key) const {
    std::size_t hash = key.counts.bits() * 0x9E3779B97F4A7C15U;
    for (const std::int64_t value : key.extra) hash = (hash ^ static_cast<std::size_t>(value)) * 0x100000001B3U;
    return hash;
  }
};
struct State {
  WholenessSums wholeness{};  // zeros unless the policy has these levels
  std::int64_t preference = 0, last_level = 0;
  const State* before = nullptr;
  const NodeContent* content = nullptr;
};
using Layer = std::unordered_map<StateKey, State, StateHash>;

class Solver {
 public:
  Solver(const Problem& problem, const FairShares& shares, std::int64_t most_states)
      : problem_(problem),
        shares_(shares),
        most_states_(most_states),
        kinds_(placeable_kinds(problem)),
        before_(running_usage(problem)),
        wholeness_(problem, kinds_),
        inter_pod_(problem),
        has_whole_nodes_(problem.snapshot->policy.has_whole_nodes()) {
    is_small_ = kinds_.size() <= kMostKinds && std::ranges::all_of(kinds_, [](const PodKind& kind) {
                  return std::ssize(kind.pods) <= kMostPodsOfAKind;
                });
    ids_ = level_ids(problem);
    collect_terms();
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (!inter_pod_.empty() && inter_pod_.concerns(kinds_[k].pods.front())) concerned_.push_back(k);
    }
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status == PodStatus::kRunning) staying_.push_back({pod, problem.pods[pod].node});
    }
    usage_depends_on_node_ = std::ranges::any_of(kinds_, [&](const PodKind& kind) {
      return problem.pod_classes[kind.pod_class].gpu.kind == GpuRequestKind::kMemory;
    });
  }

  std::optional<Best> run() {
    if (!is_small_) return std::nullopt;
    choose_domains(groups_with_levels(), 0);
    if (states_ > most_states_) return std::nullopt;
    best_.states = states_;
    best_.outcomes = static_cast<std::int64_t>(prefix_.size());
    return best_;
  }

 private:
  // Terms that a pod to be placed owns or matches; each of their domains has two flags in the state: an owner, a match
  // is there.
  void collect_terms() {
    std::vector<AntiAffinityIndex> terms;
    for (const PodKind& kind : kinds_) {
      const PodClass& pod_class = problem_.pod_classes[kind.pod_class];
      terms.insert(terms.end(), pod_class.anti_affinity_owned.begin(), pod_class.anti_affinity_owned.end());
      terms.insert(terms.end(), pod_class.anti_affinity_matched.begin(), pod_class.anti_affinity_matched.end());
    }
    std::ranges::sort(terms);
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    for (const AntiAffinityIndex term : terms) {
      first_flag_[term] = flags_;
      flags_ += 2 * problem_.inter_pod.anti_affinities[term].domain_count;
    }
    last_node_.assign(flags_, 0);
    for (const auto& [term, first] : first_flag_) {
      for (const NodeIndex node : problem_.nodes.indices()) {
        if (const auto flag = flag_of(term, node)) last_node_[*flag] = last_node_[*flag + 1] = node.value();
      }
    }
    first_of_wholeness_ = flags_;
    if (!has_whole_nodes_) return;
    last_node_.insert(last_node_.end(), wholeness_.last_nodes().begin(), wholeness_.last_nodes().end());
    flags_ = last_node_.size();
  }

  struct Option {
    GroupIndex group;
    TopologyLevelIndex level;
    bool is_preferred = false;
  };
  std::vector<Option> groups_with_levels() const {
    std::vector<Option> options;
    std::vector<GangIndex> gangs;
    for (const PodKind& kind : kinds_) gangs.push_back(kind.gang);
    std::ranges::sort(gangs);
    gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
    for (const GangIndex gang : gangs) {
      for (const GroupIndex group : problem_.gangs[gang].groups) {
        if (!problem_.groups[group].required_level.is_none())
          options.push_back({group, problem_.groups[group].required_level, false});
        if (!problem_.groups[group].preferred_level.is_none())
          options.push_back({group, problem_.groups[group].preferred_level, true});
      }
    }
    return options;
  }

  bool is_below(GroupIndex group, GroupIndex ancestor) const {
    while (!group.is_none() && group != ancestor) group = problem_.groups[group].parent;
    return !group.is_none();
  }

  // Every combination of domains that groups could keep to; a preferring group without a domain earns nothing.
  void choose_domains(const std::vector<Option>& options, std::size_t at) {
    if (states_ > most_states_) return;
    if (at == options.size()) return enumerate();
    const Option& option = options[at];
    if (option.is_preferred) {
      choices_.push_back({option.group, option.level, DomainIndex::none(), true});
      choose_domains(options, at + 1);
      choices_.pop_back();
    }
    bool any = false;
    for (const DomainIndex domain : problem_.topology.domains.indices()) {
      if (problem_.topology.domains[domain].level != option.level ||
          !holds_what_runs(option.group, option.level, domain))
        continue;
      any = true;
      choices_.push_back({option.group, option.level, domain, option.is_preferred});
      choose_domains(options, at + 1);
      choices_.pop_back();
    }
    if (any || option.is_preferred) return;
    barred_.push_back(option.group);  // no domain will do: nothing of the group is placed
    choose_domains(options, at + 1);
    barred_.pop_back();
  }

  bool holds_what_runs(GroupIndex group, TopologyLevelIndex level, DomainIndex domain) const {
    return std::ranges::all_of(problem_.gangs[problem_.groups[group].gang].pods, [&](PodIndex pod) {
      return problem_.pods[pod].status != PodStatus::kRunning || !is_below(problem_.pods[pod].group, group) ||
             problem_.nodes[problem_.pods[pod].node].domains[level.value()] == domain;
    });
  }

  bool may_go(const PodKind& kind, NodeIndex node) const {
    if (!problem_.pod_classes[kind.pod_class].allowed[problem_.nodes[node].node_class.value()]) return false;
    if (std::ranges::any_of(barred_, [&](GroupIndex group) { return is_below(kind.leaf, group); })) return false;
    return std::ranges::all_of(choices_, [&](const DomainChoice& choice) {
      return choice.domain.is_none() || !is_below(kind.leaf, choice.group) ||
             problem_.nodes[node].domains[choice.level.value()] == choice.domain;
    });
  }

  // In hundredths: what a pod of the kind earns on the node, the preferred levels of its groups included.
  std::int64_t preference(const PodKind& kind, NodeIndex node) const {
    const PodClass& pod_class = problem_.pod_classes[kind.pod_class];
    const std::size_t node_class = problem_.nodes[node].node_class.value();
    std::int64_t points = kind.nominated_node == node ? 100 : 0;
    points += pod_class.preferences.preferred_weight[node_class] -
              100 * pod_class.preferences.untolerated_soft_taints[node_class];
    for (const DomainChoice& choice : choices_) {
      if (choice.is_preferred && !choice.domain.is_none() && is_below(kind.leaf, choice.group)) points += 100;
    }
    return points * problem_.pods[kind.pods.front()].weighted_work;
  }

  StateKey start() const {
    StateKey key;
    key.extra.assign(flags_, 0);
    for (const PodIndex pod : problem_.pods.indices()) {
      if (problem_.pods[pod].status == PodStatus::kRunning)
        mark(problem_.class_of(pod), problem_.pods[pod].node, key.extra);
    }
    if (has_whole_nodes_) wholeness_.start(key.extra.data() + first_of_wholeness_);
    if (usage_depends_on_node_) key.extra.resize(flags_ + 2 * problem_.queues.size(), 0);
    key.extra.resize(key.extra.size() + concerned_.size() * problem_.nodes.size(), 0);
    return key;
  }

  // Position of the term's flags for the node's domain; none if the term is of no interest or the node lacks the label.
  std::optional<std::size_t> flag_of(AntiAffinityIndex term, NodeIndex node) const {
    const auto first = first_flag_.find(term);
    const DomainIndex domain = problem_.inter_pod.anti_affinities[term].domain_of[node];
    if (first == first_flag_.end() || domain.is_none()) return std::nullopt;
    return first->second + 2 * domain.value();
  }

  void mark(const PodClass& pod_class, NodeIndex node, std::vector<std::int64_t>& flags) const {
    for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) {
      if (const auto flag = flag_of(term, node)) flags[*flag] = 1;
    }
    for (const AntiAffinityIndex term : pod_class.anti_affinity_matched) {
      if (const auto flag = flag_of(term, node)) flags[*flag + 1] = 1;
    }
  }

  bool clashes(const PodClass& pod_class, NodeIndex node, const std::vector<std::int64_t>& flags) const {
    for (const AntiAffinityIndex term : pod_class.anti_affinity_owned) {
      if (const auto flag = flag_of(term, node); flag && flags[*flag + 1] != 0) return true;
    }
    for (const AntiAffinityIndex term : pod_class.anti_affinity_matched) {
      if (const auto flag = flag_of(term, node); flag && flags[*flag] != 0) return true;
    }
    return false;
  }

  // The state once the node holds the content in addition to `key`, and what that adds; none if anti-affinity or the
  // number of pods forbids it.
  struct Extension {
    StateKey key;
    WholenessSums wholeness{};
  };
  std::optional<Extension> extended(const StateKey& key, const NodeContent& content, NodeIndex node) const {
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (key.counts[k] + content.counts[k] > std::ssize(kinds_[k].pods)) return std::nullopt;
    }
    Extension extension{{key.counts + content.counts, key.extra}, {}};
    StateKey& next = extension.key;
    if (has_whole_nodes_) extension.wholeness = wholeness_.add(content, node, next.extra.data() + first_of_wholeness_);
    if (next.extra.empty()) return extension;
    // In which order all can be bound depends on how many of each kind each node gets.
    const std::size_t first_of_inter_pod = next.extra.size() - concerned_.size() * problem_.nodes.size();
    for (std::size_t i = 0; i < concerned_.size(); ++i)
      next.extra[first_of_inter_pod + i * problem_.nodes.size() + node.value()] = content.counts[concerned_[i]];
    for (const PutPod& pod : content.pods) {
      const PodKind& kind = kinds_[pod.kind];
      const PodClass& pod_class = problem_.pod_classes[kind.pod_class];
      if (clashes(pod_class, node, next.extra)) return std::nullopt;
      mark(pod_class, node, next.extra);
      if (!usage_depends_on_node_) continue;
      const MicroGpu usage = queue_usage(pod_class, problem_.class_of(node))[kQueueGpu];
      const std::size_t at = flags_ + 2 * problem_.gangs[kind.gang].queue.value();
      next.extra[at + (problem_.gangs[kind.gang].preemptible ? 0 : 1)] += usage;
    }
    for (std::size_t flag = 0; flag < flags_; ++flag) {  // no node to come lies in these domains
      if (last_node_[flag] == node.value()) next.extra[flag] = 0;
    }
    return extension;
  }

  void enumerate() {
    std::vector<Layer> layers(1);
    layers[0][start()] = State{};
    std::deque<std::vector<NodeContent>> contents;
    for (const NodeIndex node : problem_.nodes.indices()) {
      std::vector<bool> allowed;
      for (const PodKind& kind : kinds_) allowed.push_back(may_go(kind, node));
      contents.push_back(contents_of(problem_, kinds_, node, allowed));
      layers.emplace_back();
      for (const auto& [key, state] : layers[layers.size() - 2]) {
        for (const NodeContent& content : contents.back()) {
          if (++states_ > most_states_) return;
          if (const std::optional<Extension> next = extended(key, content, node))
            keep_better(layers.back()[next->key], state, {content, next->wholeness}, node);
        }
      }
    }
    for (const auto& [key, state] : layers.back()) consider(key, state);
  }

  struct Addition {
    const NodeContent& content;
    const WholenessSums& wholeness;
  };
  void keep_better(State& kept, const State& before, const Addition& addition, NodeIndex node) const {
    State next{addition.wholeness, before.preference, before.last_level + addition.content.last_level, &before,
               &addition.content};
    for (std::size_t i = 0; i < next.wholeness.size(); ++i) next.wholeness[i] += before.wholeness[i];
    for (const PutPod& pod : addition.content.pods) next.preference += preference(kinds_[pod.kind], node);
    if (kept.before == nullptr || rank_of(next) < rank_of(kept)) kept = next;
  }
  // Smaller is better.
  static std::array<std::int64_t, 8> rank_of(const State& state) {
    const WholenessSums& w = state.wholeness;
    return {-w[0], -w[1], w[2], w[3], w[4], w[5], -state.preference, state.last_level};
  }

  void consider(const StateKey& key, const State& state) {
    if (!gangs_are_whole(problem_, kinds_, key.counts) || !queues_allow(problem_, before_, usage_of(key))) return;
    Levels levels = prefix(key.counts);
    if (has_whole_nodes_) {
      const WholenessSums rest = wholeness_.rest(key.counts);
      const std::size_t first = levels.values.size() - 2 - rest.size();
      for (std::size_t i = 0; i < rest.size(); ++i) levels.values[first + i] = state.wholeness[i] + rest[i];
    }
    levels.values[levels.values.size() - 2] = state.preference;
    levels.values[levels.values.size() - 1] = state.last_level;
    if (!best_.levels.values.empty() && compare(levels, best_.levels, ids_) <= 0) return;
    std::optional<Plan> plan = bound_in_order(plan_of(state));
    if (!plan) return;
    best_.levels = levels;
    best_.plan = *std::move(plan);
  }

  // With a step for each placement; none if they can be bound in no order.
  std::optional<Plan> bound_in_order(Plan plan) const {
    if (inter_pod_.empty()) return plan;
    std::vector<InterPod::Place> placed;
    for (const Placement& placement : plan.placements) placed.push_back({placement.pod, placement.node});
    const bool is_possible = inter_pod_.any_order(staying_, placed, [&](const InterPod::Order& order) {
      for (std::size_t i = 0; i < order.size(); ++i) plan.placements[order[i]].step = static_cast<std::int32_t>(i);
      return true;
    });
    return is_possible ? std::optional(std::move(plan)) : std::nullopt;
  }

  QueueUsage usage_of(const StateKey& key) const {
    QueueUsage usage = before_;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const PodClass& pod_class = problem_.pod_classes[kinds_[k].pod_class];
      QueueAmounts amounts{0, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
      if (!usage_depends_on_node_)
        amounts[kQueueGpu] = queue_usage(pod_class, problem_.node_classes[NodeClassIndex(0)])[kQueueGpu];
      for (Amount& amount : amounts) amount *= key.counts[k];
      add_usage(problem_, kinds_[k].gang, amounts, usage);
      add_limited(problem_, kinds_[k].gang, pod_class, key.counts[k], usage);
    }
    if (!usage_depends_on_node_) return usage;
    for (const QueueIndex leaf : problem_.queues.indices()) {
      for (QueueIndex queue = leaf; !queue.is_none(); queue = problem_.queues[queue].parent) {
        const std::size_t at = flags_ + 2 * leaf.value();
        usage.all[queue][kQueueGpu] += key.extra[at] + key.extra[at + 1];
        usage.fixed[queue][kQueueGpu] += key.extra[at + 1];
      }
    }
    return usage;
  }

  // The levels that depend on which pods run, not where. Their value is that of a plan that puts them anywhere.
  const Levels& prefix(Counts counts) {
    const auto [at, is_new] = prefix_.try_emplace(counts.bits());
    if (!is_new) return at->second;
    Plan plan;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      for (std::int64_t i = 0; i < counts[k]; ++i) {
        plan.placements.push_back({kinds_[k].pods[static_cast<std::size_t>(i)], home_of(kinds_[k]), {}, {}});
      }
    }
    normalise(plan);
    return at->second = evaluate(problem_, shares_, plan);
  }

  NodeIndex home_of(const PodKind& kind) const {
    const bool asks_memory = problem_.pod_classes[kind.pod_class].gpu.kind == GpuRequestKind::kMemory;
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (!asks_memory || problem_.class_of(node).device_memory_mib > 0) return node;
    }
    return NodeIndex(0);
  }

  Plan plan_of(const State& state) const {
    Plan plan;
    std::vector<std::size_t> next(kinds_.size(), 0);
    std::vector<PodIndex> releasing;
    for (const PodIndex pod : problem_.pods.indices()) {
      if (problem_.pods[pod].status == PodStatus::kReleasing) releasing.push_back(pod);
    }
    std::size_t node = problem_.nodes.size();
    for (const State* at = &state; at->content != nullptr; at = at->before) {
      --node;
      for (const PutPod& pod : at->content->pods) {
        plan.placements.push_back({kinds_[pod.kind].pods[next[pod.kind]++], NodeIndex(node), pod.devices, releasing});
      }
    }
    normalise(plan);
    return plan;
  }

  const Problem& problem_;
  const FairShares& shares_;
  std::int64_t most_states_;
  std::vector<PodKind> kinds_;
  QueueUsage before_;
  std::vector<LevelId> ids_;
  Wholeness wholeness_;
  InterPod inter_pod_;
  std::vector<std::size_t> concerned_;  // kinds whose places matter to a rule
  std::vector<InterPod::Place> staying_;
  bool has_whole_nodes_ = false;
  std::size_t first_of_wholeness_ = 0;  // flag
  bool is_small_ = true, usage_depends_on_node_ = false;
  std::map<AntiAffinityIndex, std::size_t> first_flag_;
  std::size_t flags_ = 0;
  std::vector<std::uint32_t> last_node_;  // by flag: the last node of its domain
  std::vector<DomainChoice> choices_;
  std::vector<GroupIndex> barred_;
  std::unordered_map<std::uint64_t, Levels> prefix_;
  std::int64_t states_ = 0;
  Best best_;
};

}  // namespace

std::optional<Best> solve(const Problem& problem, const FairShares& shares, std::int64_t most_states) {
  return Solver(problem, shares, most_states).run();
}

}  // namespace muster::brute_force
