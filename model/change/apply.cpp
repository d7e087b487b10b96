#include <algorithm>
#include <array>

#include "model/base/require.h"
#include "model/base/words.h"
#include "model/change/change.h"
#include "model/change/parts.h"
#include "model/problem/exceeded.h"

namespace muster::change {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

// As words of a shell. A value that begins like an option is joined to its flag.
std::string option(const char* flag, const std::string& value) {
  const char* separator = value.starts_with('-') ? "=" : " ";
  return flag + (separator + shell_word(value));
}

std::string setting(const char* flag, const std::string& name, const std::string& value) {
  return option(flag, name + "=" + value);
}

std::string part_of(const std::string& subgroup) { return subgroup.empty() ? "" : "/" + subgroup; }

// By TaintEffect.
constexpr std::array<const char*, 3> kEffects = {"NoSchedule", "NoExecute", "PreferNoSchedule"};

// One function a kind of change.
struct TextOf {
  std::string operator()(const AddNodes& change) const {
    return option("--add-nodes", number(change.count) + "x" + change.like);
  }
  std::string operator()(const AddShapedNodes& change) const {
    return option("--add-nodes", number(change.count) + "x" + text_of(change.shape));
  }
  std::string operator()(const RemoveNode& change) const { return option("--remove-node", change.node); }
  std::string operator()(const Cordon& change) const { return option("--cordon", change.node); }
  std::string operator()(const Uncordon& change) const { return option("--uncordon", change.node); }
  std::string operator()(const Drain& change) const { return option("--drain", change.node); }
  std::string operator()(const SetQueue& change) const {
    const char* flag = change.kind == QueueAmountKind::kQuota ? "--set-quota" : "--set-limit";
    switch (change.resource) {
      case QueueResourceKind::kGpu:
        return setting(flag, change.queue, "gpu:" + amount_text(change.amount, 1'000'000));
      case QueueResourceKind::kCpu:
        return setting(flag, change.queue, "cpu:" + amount_text(change.amount, 1'000));
      case QueueResourceKind::kMemory:
        return setting(flag, change.queue, "memory:" + amount_text(change.amount, 1));
      case QueueResourceKind::kOther:
        break;
    }
    return setting(flag, change.queue, change.other + ":" + amount_text(change.amount, 1));
  }
  std::string operator()(const SetPriority& change) const {
    return setting("--set-priority", change.gang, number(change.priority));
  }
  std::string operator()(const RemoveGang& change) const { return option("--remove-gang", change.gang); }
  std::string operator()(const Evict& change) const { return option("--evict", change.pod_or_gang); }
  std::string operator()(const Tolerate& change) const {
    const TaintText& taint = change.taint;
    std::string text = taint.key;
    if (!change.any_value && !taint.value.empty()) text += "=" + taint.value;
    if (!change.any_effect && taint.effect != TaintEffect::kNoSchedule)
      text += std::string(":") + kEffects[static_cast<std::size_t>(taint.effect)];
    return setting("--tolerate", change.gang, text);
  }
  std::string operator()(const SetMinimum& change) const {
    return setting("--set-minimum", change.gang + part_of(change.subgroup), number(change.minimum));
  }
  std::string operator()(const SetRequiredLevel& change) const {
    return setting("--set-level", change.gang + part_of(change.subgroup), change.level.empty() ? "none" : change.level);
  }
  std::string operator()(const AddGang& change) const { return option("--gang", text_of(change.shape)); }
};

QueueResource& resource_of(SnapshotQueue& queue, QueueResourceKind kind) {
  if (kind == QueueResourceKind::kCpu) return queue.cpu;
  return kind == QueueResourceKind::kMemory ? queue.memory : queue.gpu;
}

OtherQueueResource& other_resource_of(SnapshotQueue& queue, ResourceIndex resource) {
  std::vector<OtherQueueResource>& others = queue.other_resources;
  const auto at = std::ranges::lower_bound(others, resource, {}, &OtherQueueResource::resource);
  if (at != others.end() && at->resource == resource) return *at;
  return *others.insert(at, {resource, kUnlimited, kUnlimited});
}

}  // namespace

std::string amount_text(Amount amount, Amount unit) {
  MUSTER_REQUIRE(unit > 0);
  if (amount == kUnlimited) return "unlimited";
  std::string text = number(amount / unit);
  if (amount % unit == 0) return text;
  std::string decimals = number(unit + amount % unit).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + "." + decimals;
}

ResourceIndex resource_named(Snapshot& snapshot, std::string_view name) {
  for (const ResourceIndex resource : snapshot.resource_names.indices()) {
    if (snapshot.resource_names[resource] == name && !is_device_count(snapshot.resource_names[resource]))
      return resource;
  }
  return snapshot.resource_names.push_back(snapshot.text.store(name));
}

Failure unknown(const char* kind, std::string_view name) {
  return InputError{ErrorCode::kUnknownName, "$",
                    std::string("there is no ") + kind + " \"" + std::string(name) + "\""};
}

Failure apply_one(const SetQueue& change, Snapshot& snapshot) {
  // Without any queues, all gangs are in `default`.
  if (snapshot.queues.empty() && change.queue == "default") snapshot.queues.emplace_back().name = "default";
  const auto found = std::ranges::find(snapshot.queues, change.queue, &SnapshotQueue::name);
  if (found == snapshot.queues.end()) return unknown("queue", change.queue);
  if (change.amount < 0 && change.amount != kUnlimited)
    return InputError{ErrorCode::kInvalidValue, "$", "a quota or a limit is negative"};
  const auto set = [&](auto& resource) {
    (change.kind == QueueAmountKind::kQuota ? resource.quota : resource.limit) = change.amount;
  };
  if (change.resource == QueueResourceKind::kOther) {
    set(other_resource_of(*found, resource_named(snapshot, change.other)));
  } else {
    set(resource_of(*found, change.resource));
  }
  return {};
}

std::optional<InputError> apply(const Change& change, Snapshot& snapshot) {
  return std::visit([&](const auto& one) { return apply_one(one, snapshot); }, change);
}

std::optional<InputError> apply(std::span<const Change> changes, Snapshot& snapshot) {
  for (std::size_t i = 0; i < changes.size();) {
    std::vector<std::string_view> removed;  // one after another
    for (; i < changes.size() && std::holds_alternative<RemoveGang>(changes[i]); ++i)
      removed.push_back(std::get<RemoveGang>(changes[i]).gang);
    Failure failure = removed.empty() ? apply(changes[i++], snapshot) : remove_gangs(removed, snapshot);
    if (failure) return failure;
  }
  return {};
}

std::string text_of(const Change& change) { return std::visit(TextOf(), change); }

}  // namespace muster::change
