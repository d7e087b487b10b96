#include "model/explain/reasons_need.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/base/saturating.h"

namespace muster::explain {
namespace {

struct Choice {
  std::vector<PodIndex> pods;
  Work work = 0;
  bool possible = true;
  const Choice *first = nullptr, *second = nullptr;  // whose pods it has, too
};
using Choices = std::vector<const Choice*>;

class MinimumChooser {
 public:
  MinimumChooser(const Problem& problem, const PodPredicate& has, const PodPredicate& may_use)
      : problem_(problem), has_(has), may_use_(may_use) {}

  // Groups of a gang lie parents first: from the back, children are known before their parents. The choices live as
  // long as this object.
  Choices choose(const Gang& gang) {
    std::unordered_map<GroupIndex, Choices> choices;
    for (std::size_t i = gang.groups.size(); i-- > 0;) {
      const Group& group = problem_.groups[gang.groups[i]];
      choices[gang.groups[i]] = group.is_leaf() ? choose_pods(group) : choose_children(group, choices);
    }
    return std::move(choices[gang.root]);
  }

  static std::vector<PodIndex> pods_of(const Choice& choice) {
    std::vector<PodIndex> pods;
    Choices left{&choice};
    while (!left.empty()) {
      const Choice* next = left.back();
      left.pop_back();
      pods.insert(pods.end(), next->pods.begin(), next->pods.end());
      for (const Choice* part : {next->first, next->second})
        if (part != nullptr) left.push_back(part);
    }
    return pods;
  }

 private:
  static constexpr std::size_t kMostClasses = 64;  // of a leaf; beyond, only the least work is a choice
  static constexpr std::size_t kMostSteps = kMostClasses * kMostClasses;  // children x how many of them; the same

  Choices choose_pods(const Group& group) {
    const std::int64_t missing = group.minimum - std::ranges::count_if(group.pods, has_);
    if (missing <= 0) return {made(Choice{})};
    std::map<PodClassIndex, std::vector<PodIndex>> by_class;
    std::int64_t usable = 0;
    for (const PodIndex pod : group.pods) {
      if (has_(pod) || !may_use_(pod)) continue;
      by_class[problem_.pods[pod].pod_class].push_back(pod);
      ++usable;
    }
    std::vector<std::vector<PodIndex>> classes;
    for (auto& [index, pods] : by_class) classes.push_back(std::move(pods));
    std::ranges::stable_sort(classes, {}, [&](const auto& pods) { return problem_.class_of(pods.front()).work; });
    if (classes.size() > kMostClasses) return {made(least_of(classes, missing))};
    std::vector<Choice> choices;
    add_choices(classes, std::min(missing, usable), (kMostNeeds + 1) / 2, choices);
    if (usable > missing && classes.size() > 1) {  // from the other end, too, if there are too many to list
      std::ranges::reverse(classes);
      add_choices(classes, missing, kMostNeeds / 2, choices);
    }
    Choices result;
    for (Choice& choice : choices) {
      choice.possible = usable >= missing;
      result.push_back(made(std::move(choice)));
    }
    return the_least(std::move(result));
  }

  Choice least_of(const std::vector<std::vector<PodIndex>>& classes, std::int64_t wanted) const {
    Choice choice;
    for (const std::vector<PodIndex>& pods : classes) {
      const std::int64_t count = std::min(wanted, std::ssize(pods));
      choice.pods.insert(choice.pods.end(), pods.begin(), pods.begin() + count);
      choice.work += count * problem_.class_of(pods.front()).work;
      wanted -= count;
    }
    choice.possible = wanted == 0;
    return choice;
  }

  // As many as possible of the first class first; at most `most` choices more.
  void add_choices(const std::vector<std::vector<PodIndex>>& classes, std::int64_t wanted, std::size_t most,
                   std::vector<Choice>& choices) const {
    std::vector<std::int64_t> supply(classes.size() + 1, 0);  // of the classes from there on
    for (std::size_t i = classes.size(); i-- > 0;) supply[i] = supply[i + 1] + std::ssize(classes[i]);
    const std::size_t end = choices.size() + most;
    const auto extend = [&](const auto& self, std::size_t at, std::int64_t left, const Choice& before) -> void {
      if (choices.size() >= end) return;
      if (left == 0) return choices.push_back(before);
      if (supply[at] < left) return;
      for (std::int64_t count = std::min(left, std::ssize(classes[at])); count >= 0; --count) {
        Choice choice = before;
        choice.pods.insert(choice.pods.end(), classes[at].begin(), classes[at].begin() + count);
        choice.work += count * problem_.class_of(classes[at].front()).work;
        self(self, at + 1, left - count, choice);
      }
    };
    extend(extend, 0, wanted, Choice{});
  }

  // For each number of children taken so far, the choices with the least work.
  Choices choose_children(const Group& group, std::unordered_map<GroupIndex, Choices>& of_child) {
    const auto wanted = static_cast<std::size_t>(std::max(group.minimum, 0));
    const std::size_t children = group.children.size();
    if (wanted > children) return {made({.pods = {}, .possible = false})};
    std::vector<Choices> offered;
    for (const GroupIndex child : group.children) offered.push_back(std::move(of_child[child]));
    if (wanted < children && wanted * children > kMostSteps) {
      std::ranges::stable_sort(offered, {}, [](const Choices& choices) { return rank_of(choices.front()); });
      offered.resize(wanted);
      for (Choices& choices : offered) choices.resize(1);
    }
    std::vector<Choices> taken(wanted + 1);
    taken[0].push_back(made(Choice{}));
    for (std::size_t child = 0; child < offered.size(); ++child) {
      const std::size_t left = offered.size() - child;  // fewer can be taken only if this many are still to come
      for (std::size_t count = std::min(wanted, child + 1); count-- > wanted - std::min(wanted, left);) {
        add_joined(taken[count], offered[child], taken[count + 1]);
      }
    }
    return std::move(taken[wanted]);
  }

  const Choice* made(Choice choice) { return &made_.emplace_back(std::move(choice)); }

  // Each of `before` with each of `more`, to those that are there: the least of all.
  void add_joined(const Choices& before, const Choices& more, Choices& there) {
    std::vector<Choice> joined;
    for (const Choice* first : before) {
      for (const Choice* second : more)
        joined.push_back(
            {{}, saturating_add(first->work, second->work), first->possible && second->possible, first, second});
    }
    std::ranges::stable_sort(joined, {}, [](const Choice& choice) { return rank_of(&choice); });
    if (joined.size() > kMostNeeds) joined.resize(kMostNeeds);
    for (Choice& choice : joined) there.push_back(made(std::move(choice)));
    there = the_least(std::move(there));
  }

  static std::pair<bool, Work> rank_of(const Choice* choice) { return {!choice->possible, choice->work}; }
  static Choices the_least(Choices choices) {
    std::ranges::stable_sort(choices, {}, rank_of);
    if (choices.size() > kMostNeeds) choices.resize(kMostNeeds);
    return choices;
  }

  const Problem& problem_;
  const PodPredicate& has_;
  const PodPredicate& may_use_;
  std::deque<Choice> made_;
};

// Equal needs are one: the same items, whichever pods.
bool are_alike(const GangNeed& a, const GangNeed& b) {
  return std::ranges::equal(a.items, b.items, [](const NeedItem& x, const NeedItem& y) {
    return x.pod_class == y.pod_class && x.leaf == y.leaf && x.pods.size() == y.pods.size();
  });
}

}  // namespace

bool requires_level(const Problem& problem, const Gang& gang) {
  return std::ranges::any_of(gang.groups,
                             [&](GroupIndex group) { return !problem.groups[group].required_level.is_none(); });
}

Amount asked_of(const Problem& problem, const GangNeed& need, ResourceIndex resource) {
  Amount sum = 0;
  for (const NeedItem& item : need.items) {
    const Amount one = problem.pod_classes[item.pod_class].request[resource.value()];
    sum = saturating_add(sum, saturating_multiply(one, std::ssize(item.pods)));
  }
  return sum;
}

bool has_anti_affinity(const Problem& problem, const GangNeed& need) {
  return std::ranges::any_of(
      need.items, [&](const NeedItem& item) { return problem.pod_classes[item.pod_class].has_inter_pod_rules(); });
}

GangNeed need_of_pods(const Problem& problem, std::vector<PodIndex> pods) {
  std::ranges::sort(pods);
  std::map<std::pair<PodClassIndex, GroupIndex>, std::vector<PodIndex>> by_class;
  for (const PodIndex pod : pods) {
    const Gang& gang = problem.gangs[problem.pods[pod].gang];
    const GroupIndex group = requires_level(problem, gang) ? problem.pods[pod].group : gang.root;
    by_class[{problem.pods[pod].pod_class, group}].push_back(pod);
  }
  GangNeed need;
  need.possible = true;
  need.pods = static_cast<std::int64_t>(pods.size());
  for (auto& [key, members] : by_class) need.items.push_back({key.first, key.second, std::move(members)});
  std::ranges::stable_sort(need.items, [&](const NeedItem& a, const NeedItem& b) {
    const PodClass& left = problem.pod_classes[a.pod_class];
    const PodClass& right = problem.pod_classes[b.pod_class];
    return std::tuple(-left.gpu.devices, -left.work, -left.request[kCpu.value()]) <
           std::tuple(-right.gpu.devices, -right.work, -right.request[kCpu.value()]);
  });
  return need;
}

std::vector<GangNeed> needs_of_minimum(const Problem& problem, GangIndex gang, const PodPredicate& has,
                                       const PodPredicate& may_use) {
  std::vector<GangNeed> needs;
  MinimumChooser chooser(problem, has, may_use);
  for (const Choice* choice : chooser.choose(problem.gangs[gang])) {
    if (!choice->possible && !needs.empty()) break;
    GangNeed need = need_of_pods(problem, MinimumChooser::pods_of(*choice));
    need.possible = choice->possible;
    if (std::ranges::none_of(needs, [&](const GangNeed& other) { return are_alike(other, need); }))
      needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace muster::explain
