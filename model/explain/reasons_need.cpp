#include "model/explain/reasons_need.h"

#include <algorithm>
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
};

class MinimumChooser {
 public:
  MinimumChooser(const Problem& problem, const PodPredicate& has, const PodPredicate& may_use)
      : problem_(problem), has_(has), may_use_(may_use) {}

  // Groups of a gang lie parents first: from the back, children are known before their parents.
  std::vector<Choice> choose(const Gang& gang) const {
    std::unordered_map<GroupIndex, std::vector<Choice>> choices;
    for (std::size_t i = gang.groups.size(); i-- > 0;) {
      const Group& group = problem_.groups[gang.groups[i]];
      choices[gang.groups[i]] = group.is_leaf() ? choose_pods(group) : choose_children(group, choices);
    }
    return std::move(choices[gang.root]);
  }

 private:
  static constexpr std::size_t kMostClasses = 64;  // of a leaf; beyond, only the least work is a choice

  std::vector<Choice> choose_pods(const Group& group) const {
    const std::int64_t missing = group.minimum - std::ranges::count_if(group.pods, has_);
    if (missing <= 0) return {Choice{}};
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
    if (classes.size() > kMostClasses) return {least_of(classes, missing)};
    std::vector<Choice> choices;
    add_choices(classes, std::min(missing, usable), (kMostNeeds + 1) / 2, choices);
    if (usable > missing && classes.size() > 1) {  // from the other end, too, if there are too many to list
      std::ranges::reverse(classes);
      add_choices(classes, missing, kMostNeeds / 2, choices);
    }
    for (Choice& choice : choices) choice.possible = usable >= missing;
    return the_least(std::move(choices));
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
  std::vector<Choice> choose_children(const Group& group,
                                      std::unordered_map<GroupIndex, std::vector<Choice>>& of_child) const {
    const auto wanted = static_cast<std::size_t>(std::max(group.minimum, 0));
    std::vector<std::vector<Choice>> taken(wanted + 1);
    taken[0].push_back(Choice{});
    for (const GroupIndex child : group.children) {
      for (std::size_t count = wanted; count-- > 0;) {
        for (const Choice& before : taken[count]) {
          for (const Choice& choice : of_child[child]) taken[count + 1].push_back(joined(before, choice));
        }
        taken[count + 1] = the_least(std::move(taken[count + 1]));
      }
      of_child.erase(child);
    }
    if (!taken[wanted].empty()) return std::move(taken[wanted]);
    Choice too_few;  // more children are wanted than there are
    too_few.possible = false;
    return {too_few};
  }

  static Choice joined(const Choice& a, const Choice& b) {
    Choice choice = a;
    choice.pods.insert(choice.pods.end(), b.pods.begin(), b.pods.end());
    choice.work += b.work;
    choice.possible = a.possible && b.possible;
    return choice;
  }

  static std::vector<Choice> the_least(std::vector<Choice> choices) {
    std::ranges::stable_sort(choices, [](const Choice& a, const Choice& b) {
      return std::pair(!a.possible, a.work) < std::pair(!b.possible, b.work);
    });
    if (choices.size() > kMostNeeds) choices.resize(kMostNeeds);
    return choices;
  }

  const Problem& problem_;
  const PodPredicate& has_;
  const PodPredicate& may_use_;
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
  for (Choice& choice : MinimumChooser(problem, has, may_use).choose(problem.gangs[gang])) {
    if (!choice.possible && !needs.empty()) break;
    GangNeed need = need_of_pods(problem, std::move(choice.pods));
    need.possible = choice.possible;
    if (std::ranges::none_of(needs, [&](const GangNeed& other) { return are_alike(other, need); }))
      needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace muster::explain
