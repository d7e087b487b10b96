#include "solver/remedies/remedy.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/base/words.h"

namespace muster::answers {

namespace {

using change::QueueResourceKind;

template <class Change>
std::vector<Change> all_of(const Remedy& remedy) {
  std::vector<Change> all;
  for (const change::Change& change : remedy.changes) {
    if (const auto* one = std::get_if<Change>(&change)) all.push_back(*one);
  }
  return all;
}

// "n1, n2 and 3 more".
std::string names(std::vector<std::string> all) {
  constexpr std::size_t kMost = 4;
  if (all.size() <= kMost) return fmt::format("{}", fmt::join(all, ", "));
  const std::size_t more = all.size() - kMost;
  all.resize(kMost);
  return fmt::format("{} and {} more", fmt::join(all, ", "), more);
}

// "1 GPU", "2.5 GPUs".
std::string units(Amount amount, Amount unit, std::string_view noun) {
  return fmt::format("{} {}{}", change::amount_text(amount, unit), noun, amount == unit ? "" : "s");
}

std::string amount_words(const change::SetQueue& set, Amount amount) {
  if (amount == kUnlimited) return "unlimited";
  switch (set.resource) {
    case QueueResourceKind::kGpu:
      return units(amount, 1'000'000, "GPU");
    case QueueResourceKind::kCpu:
      return units(amount, 1'000, "core");
    case QueueResourceKind::kMemory:
      return memory_words(amount) + " of memory";
    case QueueResourceKind::kOther:
      break;
  }
  return set.other == "pods" ? units(amount, 1, "pod") : fmt::format("{} {}", amount, set.other);
}

Amount other_limit(const SnapshotQueue& queue, std::string_view resource, const Snapshot& snapshot) {
  for (const OtherQueueResource& other : queue.other_resources) {
    if (snapshot.resource_names[other.resource] == resource) return other.limit;
  }
  return kUnlimited;
}

Amount amount_before(const change::SetQueue& set, const Snapshot& snapshot) {
  const auto queue = std::ranges::find(snapshot.queues, set.queue, &SnapshotQueue::name);
  if (queue == snapshot.queues.end()) return kUnlimited;
  if (set.resource == QueueResourceKind::kOther) return other_limit(*queue, set.other, snapshot);
  const QueueResource& resource = set.resource == QueueResourceKind::kGpu   ? queue->gpu
                                  : set.resource == QueueResourceKind::kCpu ? queue->cpu
                                                                            : queue->memory;
  return set.kind == change::QueueAmountKind::kQuota ? resource.quota : resource.limit;
}

std::string queue_words(const Remedy& remedy, const Snapshot& snapshot) {
  std::vector<std::string> parts;
  for (const change::SetQueue& set : all_of<change::SetQueue>(remedy)) {
    parts.push_back(fmt::format("raise the {} of queue {} from {} to {}",
                                set.kind == change::QueueAmountKind::kQuota ? "quota" : "limit", set.queue,
                                amount_words(set, amount_before(set, snapshot)), amount_words(set, set.amount)));
  }
  return fmt::format("{}", fmt::join(parts, ", and "));
}

std::string level_words(const change::SetRequiredLevel& relaxed) {
  const std::string group = relaxed.subgroup.empty() ? "" : " of subgroup " + relaxed.subgroup;
  if (relaxed.level.empty()) return "require no topology level" + group;
  return fmt::format("require only one {}{}", relaxed.level, group);
}

std::string toleration_words(const Remedy& remedy) {
  std::vector<std::string> taints;
  for (const change::Tolerate& tolerated : all_of<change::Tolerate>(remedy)) {
    const change::TaintText& taint = tolerated.taint;
    taints.push_back(taint.value.empty() ? taint.key : taint.key + "=" + taint.value);
  }
  return "tolerate the taint " + names(std::move(taints));
}

std::string stop_words(const Remedy& remedy) {
  std::vector<std::string> gangs;
  for (const change::RemoveGang& removed : all_of<change::RemoveGang>(remedy)) gangs.push_back(removed.gang);
  return fmt::format("stop {} ({})", names(std::move(gangs)), counted(remedy.size, "running pod"));
}

std::string minimum_words(const Remedy& remedy) {
  std::vector<std::string> parts;
  for (const change::SetMinimum& set : all_of<change::SetMinimum>(remedy)) {
    parts.push_back(counted(set.minimum, "pod") + (set.subgroup.empty() ? "" : " of subgroup " + set.subgroup));
  }
  return fmt::format("start with {} (minMember)", fmt::join(parts, ", "));
}

std::string uncordon_words(const Remedy& remedy) {
  std::vector<std::string> nodes;
  for (const change::Uncordon& opened : all_of<change::Uncordon>(remedy)) nodes.push_back(opened.node);
  return "uncordon " + names(std::move(nodes));
}

}  // namespace

std::string remedy_words(const Remedy& remedy, const Snapshot& snapshot) {
  const change::Change& first = remedy.changes.front();
  switch (remedy.kind) {
    case RemedyKind::kUncordon:
      return uncordon_words(remedy);
    case RemedyKind::kTolerate:
      return toleration_words(remedy);
    case RemedyKind::kRelaxLevel:
      return level_words(std::get<change::SetRequiredLevel>(first));
    case RemedyKind::kLowerMinimum:
      return minimum_words(remedy);
    case RemedyKind::kRaiseLimit:
    case RemedyKind::kRaiseQuota:
      return queue_words(remedy, snapshot);
    case RemedyKind::kRaisePriority:
      return fmt::format("raise its priority to {}", std::get<change::SetPriority>(first).priority);
    case RemedyKind::kStopGangs:
      return stop_words(remedy);
    case RemedyKind::kAddNodes:
      break;
  }
  const auto& added = std::get<change::AddNodes>(first);
  return fmt::format("add {} like {}", counted(added.count, "node"), added.like);
}

std::string remedy_options(const Remedy& remedy) {
  std::vector<std::string> options;
  for (const change::Change& change : remedy.changes) options.push_back(change::text_of(change));
  return fmt::format("{}", fmt::join(options, " "));
}

}  // namespace muster::answers
