#include "cli/answers/changes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/answers/names.h"
#include "cli/answers/shape.h"
#include "cli/answers/submission.h"
#include "cli/terminal/terminal.h"
#include "model/base/words.h"
#include "model/change/change.h"
#include "model/change/gangs.h"
#include "model/change/merge.h"
#include "model/snapshot/quantity.h"
#include "solver/answers/plan_pair.h"

namespace muster::cli {

namespace {

[[noreturn]] void refuse(const GivenOption& given, const std::string& message) {
  throw UsageError(fmt::format("{}: '{}': {}", escaped(given.origin), escaped(given.value), escaped(message)));
}

template <class T>
T or_refuse(Result<T> result, const GivenOption& given) {
  if (!result) refuse(given, result.error().message);
  return *std::move(result);
}

// The last one: names may have what values have not.
std::pair<std::string, std::string> split_at(char separator, const GivenOption& given, const char* form) {
  const std::size_t at = given.value.rfind(separator);
  if (at == std::string::npos || at == 0 || at + 1 == given.value.size())
    refuse(given, fmt::format("the form is {}", form));
  return {given.value.substr(0, at), given.value.substr(at + 1)};
}

template <class Integer>
std::optional<Integer> whole_number_in(std::string_view text) {
  Integer number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::int32_t number_of(const std::string& text, const GivenOption& given, std::int32_t least) {
  const auto number = whole_number_in<std::int32_t>(text);
  if (!number || *number < least) refuse(given, fmt::format("'{}' is not a whole number from {}", text, least));
  return *number;
}

// "64", "1.5", "512Gi", "unlimited", in the unit of the resource: GPUs in millionths, cpu in thousandths, memory in
// bytes, rounded up.
Result<Amount> parse_queue_amount(std::string_view text, change::QueueResourceKind resource) {
  if (text == "unlimited") return kUnlimited;
  const Result<Quantity> quantity = parse_quantity(text);
  if (!quantity) return quantity.error();
  const QuantityUnit unit = resource == change::QueueResourceKind::kGpu   ? QuantityUnit::kMillionth
                            : resource == change::QueueResourceKind::kCpu ? QuantityUnit::kThousandth
                                                                          : QuantityUnit::kOne;
  return count_units(*quantity, unit, Rounding::kUp);
}

// "KEY[=VALUE][:EFFECT]"; without a value or an effect, any. The gang stays empty.
Result<change::Tolerate> parse_toleration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, TaintEffect>, 3> kEffects = {
      {{"NoSchedule", TaintEffect::kNoSchedule},
       {"NoExecute", TaintEffect::kNoExecute},
       {"PreferNoSchedule", TaintEffect::kPreferNoSchedule}}};
  change::Tolerate change{{}, {}, true, true};
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const auto* effect =
        std::ranges::find(kEffects, text.substr(colon + 1), &std::pair<std::string_view, TaintEffect>::first);
    if (effect == kEffects.end()) {
      return InputError{ErrorCode::kInvalidValue, "$", "the effect is not NoSchedule, NoExecute or PreferNoSchedule"};
    }
    change.taint.effect = effect->second;
    change.any_effect = false;
    text = text.substr(0, colon);
  }
  const std::size_t sign = text.find('=');
  change.taint.key = text.substr(0, sign);
  if (change.taint.key.empty()) return InputError{ErrorCode::kInvalidValue, "$", "the key of the taint is empty"};
  if (sign == std::string_view::npos) return change;
  change.taint.value = text.substr(sign + 1);
  change.any_value = false;
  return change;
}

// Reads one option after another. The names are those of the cluster as the options before have left it.
class Changes {
 public:
  Changes(const ClusterInput& cluster, const Settings& settings) : cluster_(cluster), settings_(settings) {
    out_.snapshot = cluster.snapshot;
    if (const auto priority = settings.integer("priority", std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max())) {
      priority_ = static_cast<std::int32_t>(*priority);
    }
  }

  // Returns the exit code.
  int add(const GivenOption& given) {
    if (given.name == "submit") return submit(given);
    for (const ChangeOption& option : options()) {
      if (option.read != nullptr && given.name == option.row.name) apply((this->*option.read)(given), given);
    }
    return 0;
  }

  // `read` is null of options that other options read.
  struct ChangeOption {
    OptionRow row;
    change::Change (Changes::*read)(const GivenOption& given) = nullptr;
  };
  static const std::vector<ChangeOption>& options();

  ChangedCluster&& take() && { return std::move(out_); }

 private:
  void apply(const change::Change& change, const GivenOption& given) {
    if (const auto failure = change::apply(change, out_.snapshot)) refuse(given, failure->message);
    out_.only_adds_room = out_.only_adds_room && answers::only_adds_room(change);
    out_.changes.push_back(change::text_of(change));
  }

  std::string node(std::string_view typed, const GivenOption& given) const {
    return or_refuse(resolve_node(out_.snapshot, typed), given);
  }
  std::string gang(std::string_view typed, const GivenOption& given) const {
    return or_refuse(resolve_gang(out_.snapshot, typed, cluster_.namespace_name), given);
  }
  std::string queue(std::string_view typed, const GivenOption& given) const {
    return or_refuse(resolve_queue(out_.snapshot, typed), given);
  }
  // Of --queue, with which an option that adds a workload is given.
  std::optional<std::string> given_queue() const {
    const auto typed = settings_.text("queue");
    if (!typed) return std::nullopt;
    return queue(*typed, {"queue", *typed, "--queue"});
  }

  bool has_node(std::string_view name) const {
    return std::ranges::find(out_.snapshot.nodes, name, &SnapshotNode::name) != out_.snapshot.nodes.end();
  }

  // `[Nx]NODE`; a name that begins like a number of nodes, or is like a shape, counts as a name if a node has it.
  change::Change add_nodes(const GivenOption& given) {
    if (has_node(given.value)) return change::AddNodes{given.value, 1};
    const std::size_t sign = given.value.find('x');
    const auto count = whole_number_in<std::int64_t>(std::string_view(given.value).substr(0, sign));
    const bool is_name = sign != std::string::npos && count && has_node(std::string_view(given.value).substr(sign + 1));
    if (!is_name && is_node_shape(given.value)) return or_refuse(parse_node_shape(given.value), given);
    if (sign == std::string::npos || !count || resolve_node(out_.snapshot, given.value))
      return change::AddNodes{node(given.value, given), 1};
    return change::AddNodes{node(given.value.substr(sign + 1), given), *count};
  }
  change::Change remove_node(const GivenOption& given) { return change::RemoveNode{node(given.value, given)}; }
  change::Change cordon(const GivenOption& given) { return change::Cordon{node(given.value, given)}; }
  change::Change uncordon(const GivenOption& given) { return change::Uncordon{node(given.value, given)}; }
  change::Change drain(const GivenOption& given) { return change::Drain{node(given.value, given)}; }
  change::Change remove_gang(const GivenOption& given) { return change::RemoveGang{gang(given.value, given)}; }

  // The name of a pod, with or without its namespace if only one has it, comes first: a gang is evicted as a whole only
  // by its own name.
  change::Change evict(const GivenOption& given) {
    std::vector<std::string_view> pods;
    for (const SnapshotPod& pod : out_.snapshot.pods) {
      if (pod.name == given.value) return change::Evict{given.value};
      if (pod.name.ends_with("/" + given.value)) pods.push_back(pod.name);
    }
    if (pods.size() == 1) return change::Evict{std::string(pods.front())};
    return change::Evict{gang(given.value, given)};
  }

  change::Change set_queue(const GivenOption& given) {
    constexpr const char* kForm = "QUEUE=RESOURCE:N, such as gpu:8, or unlimited in place of N";
    const std::size_t sign = given.value.rfind('=');
    if (sign != std::string::npos) last_queue_ = queue(given.value.substr(0, sign), given);
    const std::string amount = sign == std::string::npos ? given.value : given.value.substr(sign + 1);
    const std::size_t colon = amount.find(':');
    if (last_queue_.empty() || colon == std::string::npos) refuse(given, fmt::format("the form is {}", kForm));
    change::SetQueue change;
    change.queue = last_queue_;
    change.kind = given.name == "set-quota" ? change::QueueAmountKind::kQuota : change::QueueAmountKind::kLimit;
    const std::string resource = amount.substr(0, colon);
    change.resource = resource == "gpu"      ? change::QueueResourceKind::kGpu
                      : resource == "cpu"    ? change::QueueResourceKind::kCpu
                      : resource == "memory" ? change::QueueResourceKind::kMemory
                                             : change::QueueResourceKind::kOther;
    if (change.resource == change::QueueResourceKind::kOther) set_other(change, resource, given);
    change.amount = or_refuse(parse_queue_amount(amount.substr(colon + 1), change.resource), given);
    return change;
  }

  void set_other(change::SetQueue& change, const std::string& resource, const GivenOption& given) const {
    const auto& names = out_.snapshot.resource_names.raw();
    if (std::ranges::find(names, resource) == names.end())
      refuse(given, fmt::format("'{}' is not gpu, cpu, memory, pods or another resource of the cluster", resource));
    if (change.kind == change::QueueAmountKind::kQuota)
      refuse(given, fmt::format("a quota of {} is not counted: only gpu, cpu and memory have quotas", resource));
    change.other = resource;
  }

  change::Change set_priority(const GivenOption& given) {
    const auto [name, value] = split_at('=', given, "GANG=NUMBER");
    return change::SetPriority{gang(name, given), number_of(value, given, std::numeric_limits<std::int32_t>::min())};
  }

  change::Change set_minimum(const GivenOption& given) {
    const auto [name, value] = split_at('=', given, "GANG=NUMBER, or GANG/SUBGROUP=NUMBER");
    const auto [gang, subgroup] = gang_and_subgroup(name, given);
    return change::SetMinimum{gang, number_of(value, given, subgroup.empty() ? 1 : 0), subgroup};
  }

  // `GANG=LEVEL` or `GANG/SUBGROUP=LEVEL`.
  change::Change set_level(const GivenOption& given) {
    const auto [name, level] = split_at('=', given, "GANG=LEVEL, or GANG=none");
    const auto [gang, subgroup] = gang_and_subgroup(name, given);
    return change::SetRequiredLevel{gang, subgroup, level == "none" ? "" : level};
  }

  // `GANG` or `GANG/SUBGROUP`; the second is empty of a gang.
  std::pair<std::string, std::string> gang_and_subgroup(const std::string& name, const GivenOption& given) {
    const std::size_t slash = name.rfind('/');
    if (slash != std::string::npos && has_subgroup(name.substr(0, slash), name.substr(slash + 1)))
      return {name.substr(0, slash), name.substr(slash + 1)};
    return {gang(name, given), {}};
  }

  bool has_subgroup(std::string_view gang, std::string_view subgroup) const {
    const auto found = std::ranges::find(out_.snapshot.gangs, gang, &SnapshotGang::name);
    return found != out_.snapshot.gangs.end() &&
           std::ranges::find(found->subgroups, subgroup, &SnapshotSubgroup::name) != found->subgroups.end();
  }

  // `GANG=KEY[=VALUE][:EFFECT]`. The name of the gang ends at the first sign before which there is one.
  change::Change tolerate(const GivenOption& given) {
    const std::size_t first = given.value.find('=');
    if (first == std::string::npos) refuse(given, "the form is GANG=KEY[=VALUE][:EFFECT]");
    const auto is_gang = [&](std::size_t end) {
      return resolve_gang(out_.snapshot, std::string_view(given.value).substr(0, end), cluster_.namespace_name);
    };
    std::size_t sign = first;
    while (sign != std::string::npos && !is_gang(sign)) sign = given.value.find('=', sign + 1);
    if (sign == std::string::npos) sign = first;
    change::Tolerate change = or_refuse(parse_toleration(given.value.substr(sign + 1)), given);
    change.gang = gang(given.value.substr(0, sign), given);
    return change;
  }

  // A workload of a shape, under a name that is free.
  change::Change add_gang(const GivenOption& given) {
    change::AddGang change;
    change.shape = or_refuse(parse_shape(given.value), given);
    std::string name = "new-gang";
    for (int number = 2; change::find_gang(out_.snapshot, name); ++number) name = fmt::format("new-gang-{}", number);
    change.gang = name;
    if (const auto given_name = given_queue()) change.queue = *given_name;
    change.priority = priority_.value_or(0);
    out_.submitted.push_back(change.gang);
    return change;
  }

  int submit(const GivenOption& given) {
    std::variant<Submission, int> read = read_submission(given.value, cluster_, settings_);
    if (const int* code = std::get_if<int>(&read)) return *code;
    Submission& submission = std::get<Submission>(read);
    set_terms(submission);
    if (const auto failure = change::merge(submission.workload, out_.snapshot)) refuse(given, failure->message);
    out_.changes.push_back("--submit " + shell_word(given.value));
    out_.only_adds_room = false;
    std::ranges::copy(submission.gangs, std::back_inserter(out_.submitted));
    std::ranges::copy(submission.objects, std::back_inserter(out_.objects));
    if (given.value == "-") out_.from_stdin = submission.objects;
    const std::string place = given.value == "-" ? "stdin" : given.value;
    for (const std::string& remark : submission.remarks) out_.remarks.push_back(place + ": " + remark);
    remark_on_queues(submission, place);
    return 0;
  }

  // Names the queues that there are if those of the workload's gangs are none.
  void remark_on_queues(const Submission& submission, const std::string& place) {
    const auto known = change::all_gangs(out_.snapshot);
    std::map<std::string_view, std::vector<std::string>> gangs_of;  // by queue
    for (const std::string& name : submission.gangs) {
      const auto found = known.find(name);
      if (found != known.end()) gangs_of[change::terms_of(found->second, out_.snapshot).queue].push_back(name);
    }
    for (const auto& [queue, gangs] : gangs_of) {
      if (is_queue_of_gangs(out_.snapshot, queue)) continue;
      const bool is_known = std::ranges::count(out_.snapshot.queues, queue, &SnapshotQueue::name) > 0;
      const std::string subject = gangs.size() == 1
                                      ? gangs.front() + " names"
                                      : fmt::format("{} and {} more name", gangs.front(), gangs.size() - 1);
      out_.remarks.push_back(fmt::format("{}: {} the queue '{}', {}; give --queue with one of {}", place, subject,
                                         queue, is_known ? "which has queues below it" : "which does not exist",
                                         queue_list(out_.snapshot)));
    }
  }

  // What --queue and --priority say.
  void set_terms(Submission& submission) const {
    const auto queue_name = given_queue();
    if (!queue_name && !priority_) return;
    const auto known = change::all_gangs(submission.workload);
    for (const std::string& name : submission.gangs) {
      const auto found = known.find(name);
      if (found == known.end()) continue;
      GangTerms& terms = change::terms_of(found->second, submission.workload);
      if (queue_name) terms.queue = submission.workload.text.store(*queue_name);
      if (priority_) terms.priority = priority_;
    }
  }

  const ClusterInput& cluster_;
  const Settings& settings_;
  ChangedCluster out_;
  std::string last_queue_;  // of --set-quota and --set-limit, whose list goes on with other resources
  std::optional<std::int32_t> priority_;
};

const std::vector<Changes::ChangeOption>& Changes::options() {
  constexpr char kNo = kNoLetter;
  constexpr Repetition kOften = Repetition::kOften, kLists = Repetition::kLists;
  static const std::vector<ChangeOption> options = {
      {{"submit", "FILE", "a manifest that is about to be applied, YAML or JSON; - is stdin", kNo, "", kOften}},
      {{"gang", "SHAPE", "a workload that waits: PODSxGPUS[:MODEL], such as 16x8:H100", kNo, "", kOften},
       &Changes::add_gang},
      {{"queue", "QUEUE", "the queue of the workloads of --submit and --gang"}},
      {{"priority", "N", "the priority of the workloads of --submit and --gang"}},
      {{"add-nodes", "NxNODE", "nodes like this one, or of a shape: 4xgpu=8:H100,cpu=64,memory=512Gi", kNo, "", kOften},
       &Changes::add_nodes},
      {{"remove-node", "NODE", "the node is gone, and its pods wait again", kNo, "", kLists}, &Changes::remove_node},
      {{"cordon", "NODE", "no pod may be placed on the node any more", kNo, "", kLists}, &Changes::cordon},
      {{"uncordon", "NODE", "pods may be placed on the node again", kNo, "", kLists}, &Changes::uncordon},
      {{"drain", "NODE", "cordon the node, and its pods wait again", kNo, "", kLists}, &Changes::drain},
      {{"set-quota", "Q=gpu:N", "the quota of a queue: gpu, cpu or memory; unlimited", kNo, "", kLists},
       &Changes::set_queue},
      {{"set-limit", "Q=gpu:N", "the limit of a queue: gpu, cpu, memory or any other resource; unlimited", kNo, "",
        kLists},
       &Changes::set_queue},
      {{"set-priority", "GANG=N", "the priority of a gang", kNo, "", kLists}, &Changes::set_priority},
      {{"set-minimum", "GANG=N", "the gang starts once so many of its pods have room", kNo, "", kLists},
       &Changes::set_minimum},
      {{"set-level", "GANG=LEVEL", "the topology level that a gang, or GANG/SUBGROUP, requires; none", kNo, "", kLists},
       &Changes::set_level},
      {{"tolerate", "GANG=KEY", "the gang tolerates the taint KEY[=VALUE][:EFFECT]", kNo, "", kLists},
       &Changes::tolerate},
      {{"remove-gang", "GANG", "the gang and its pods are gone", kNo, "", kLists}, &Changes::remove_gang},
      {{"evict", "GANG", "the running pods of a gang, or one pod, wait again", kNo, "", kLists}, &Changes::evict}};
  return options;
}

}  // namespace

std::vector<OptionRow> with_change_options(std::vector<OptionRow> others) {
  std::vector<OptionRow> rows;
  for (const Changes::ChangeOption& option : Changes::options()) rows.push_back(option.row);
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

void check_stdin(const Settings& settings) {
  const std::vector<std::string> manifests = settings.texts("submit");
  const bool is_for_cluster = cluster_source(settings) == "-";
  if (std::ranges::count(manifests, "-") > (is_for_cluster ? 0 : 1))
    throw UsageError("--submit: stdin can be read only once; name a file for --from or --submit");
}

std::variant<ChangedCluster, int> changed_cluster(const ClusterInput& cluster, const Settings& settings) {
  Changes changes(cluster, settings);
  for (const GivenOption& given : settings.repeated()) {
    if (const int code = changes.add(given); code != 0) return code;
  }
  return std::move(changes).take();
}

}  // namespace muster::cli
