#include "cli/answers/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal/options.h"

namespace muster::cli {
namespace {

using Names = std::set<std::string_view>;

// What kind of object a typed name is of. kOwner: of any other that may own pods.
enum class Sort : std::uint8_t { kAny, kPod, kGroup, kDeployment, kReplicaSet, kStatefulSet, kOwner };

// An object that creates pods and whose name their label holds.
struct OwnerLabel {
  std::string_view kind, label;
};
constexpr std::array<OwnerLabel, 9> kOwnerLabels = {{{"job", "batch.kubernetes.io/job-name"},
                                                     {"job", "job-name"},
                                                     {"leaderworkerset", "leaderworkerset.sigs.k8s.io/name"},
                                                     {"lws", "leaderworkerset.sigs.k8s.io/name"},
                                                     {"jobset", "jobset.sigs.k8s.io/jobset-name"},
                                                     {"pytorchjob", "training.kubeflow.org/job-name"},
                                                     {"mpijob", "training.kubeflow.org/job-name"},
                                                     {"raycluster", "ray.io/cluster"},
                                                     {"vcjob", "volcano.sh/job-name"}}};

// `kind`: as an owner has it, but in small letters.
struct KindWord {
  std::string_view word, kind;
  Sort sort;
};
constexpr std::array<KindWord, 16> kKindWords = {{{"pod", "pod", Sort::kPod},
                                                  {"po", "pod", Sort::kPod},
                                                  {"gang", "", Sort::kGroup},
                                                  {"podgroup", "", Sort::kGroup},
                                                  {"pg", "", Sort::kGroup},
                                                  {"workload", "", Sort::kGroup},
                                                  {"deployment", "deployment", Sort::kDeployment},
                                                  {"deploy", "deployment", Sort::kDeployment},
                                                  {"replicaset", "replicaset", Sort::kReplicaSet},
                                                  {"rs", "replicaset", Sort::kReplicaSet},
                                                  {"statefulset", "statefulset", Sort::kStatefulSet},
                                                  {"sts", "statefulset", Sort::kStatefulSet},
                                                  {"lws", "leaderworkerset", Sort::kOwner},
                                                  {"cj", "cronjob", Sort::kOwner},
                                                  {"ds", "daemonset", Sort::kOwner},
                                                  {"vcjob", "job", Sort::kOwner}}};

// The parts of `KIND/NAMESPACE/NAME`, of which the first two may be absent.
struct TypedName {
  Sort sort = Sort::kAny;
  std::string_view word, kind;      // of a kind: as typed, in the singular and without its API group; as owners have it
  std::string_view namespace_name;  // empty: not given
  std::string_view name;
};

std::string_view gang_of(const SnapshotPod& pod) { return pod.gang.empty() ? pod.name : pod.gang; }

// Of `namespace/name`.
std::string_view local_name(const SnapshotPod& pod) {
  const std::size_t length = pod.namespace_name.size();
  const bool has_namespace =
      pod.name.size() > length && pod.name.starts_with(pod.namespace_name) && pod.name[length] == '/';
  return has_namespace ? pod.name.substr(length + 1) : pod.name;
}

std::string_view after_first_slash(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
}

bool begins_with_parts(std::string_view text, std::string_view first, std::string_view second) {
  return text.starts_with(first) && text.substr(first.size()).starts_with(second);
}

std::string_view label_of(const SnapshotPod& pod, std::string_view key) {
  const auto found = std::ranges::lower_bound(pod.labels, key, {}, &Labels::value_type::first);
  return found == pod.labels.end() || found->first != key ? std::string_view() : found->second;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "jobs.batch" is "job".
std::string_view singular_kind(std::string_view word) {
  word = word.substr(0, word.find('.'));
  return word.size() > 3 && word.ends_with('s') && word != "lws" ? word.substr(0, word.size() - 1) : word;
}

// The kind that a word before a slash names. Any word may be one, since any kind may own pods.
TypedName with_kind(std::string_view word) {
  word = singular_kind(word);
  const auto known = std::ranges::find(kKindWords, word, &KindWord::word);
  if (known != kKindWords.end()) return {known->sort, word, known->kind, {}, {}};
  return {Sort::kOwner, word, word, {}, {}};
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  const auto small = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, small, small);
}

// Whether the pod comes from a Deployment, ReplicaSet or StatefulSet of this name, by the names of their pods.
bool is_of_set(const SnapshotPod& pod, Sort sort, std::string_view name) {
  const std::string_view local = local_name(pod);
  if (!begins_with_parts(local, name, "-")) return false;
  const std::string_view rest = local.substr(name.size() + 1), hash = label_of(pod, "pod-template-hash");
  switch (sort) {
    case Sort::kDeployment:
      return !hash.empty() && begins_with_parts(rest, hash, "-");
    case Sort::kReplicaSet:
      return !hash.empty() && name.ends_with(hash) && rest.find('-') == std::string_view::npos;
    case Sort::kStatefulSet:
      return is_number(rest) && label_of(pod, "statefulset.kubernetes.io/pod-name") == local;
    default:
      return false;
  }
}

bool is_of_labelled_owner(const SnapshotPod& pod, std::string_view word, std::string_view name) {
  return std::ranges::any_of(kOwnerLabels, [&](const OwnerLabel& owner) {
    return (word.empty() || word == owner.kind) && label_of(pod, owner.label) == name;
  });
}

// The outermost owner, `Job/train`. Labels and names tell of those below it, and of older snapshots.
bool is_of_top_owner(const SnapshotPod& pod, const TypedName& typed) {
  const std::string_view owner = pod.notes.owner;
  return after_first_slash(owner) == typed.name &&
         (typed.kind.empty() || equal_but_for_case(owner.substr(0, owner.find('/')), typed.kind));
}

bool is_of_owner(const SnapshotPod& pod, const TypedName& typed) {
  const auto is_of = [&](Sort sort) {
    return (typed.sort == sort || typed.sort == Sort::kAny) && is_of_set(pod, sort, typed.name);
  };
  const bool may_have_label = typed.sort == Sort::kOwner || typed.sort == Sort::kAny;
  return is_of_top_owner(pod, typed) || (may_have_label && is_of_labelled_owner(pod, typed.word, typed.name)) ||
         is_of(Sort::kDeployment) || is_of(Sort::kReplicaSet) || is_of(Sort::kStatefulSet);
}

// The gangs that a name may mean, by the first rule that finds any.
class GangSearch {
 public:
  GangSearch(const Snapshot& snapshot, const TypedName& typed) : snapshot_(snapshot), typed_(typed) {}

  Names in(std::string_view namespace_name) const {
    const bool is_any = typed_.sort == Sort::kAny;
    Names found;
    if (is_any || typed_.sort == Sort::kGroup) found = groups(namespace_name);
    if (found.empty() && (is_any || typed_.sort == Sort::kPod)) found = pods(namespace_name);
    if (found.empty() && typed_.sort != Sort::kPod && typed_.sort != Sort::kGroup) found = owners(namespace_name);
    return found;
  }

 private:
  static bool is_in(std::string_view name, std::string_view namespace_name) {
    return namespace_name.empty() || begins_with_parts(name, namespace_name, "/");
  }

  Names groups(std::string_view namespace_name) const {
    Names exact, of_workload;
    for (const SnapshotGang& gang : snapshot_.gangs) {
      if (!is_in(gang.name, namespace_name)) continue;
      const std::string_view local = after_first_slash(gang.name);
      if (local == typed_.name || after_first_slash(local) == typed_.name) exact.insert(gang.name);
      if (begins_with_parts(local, typed_.name, "/")) of_workload.insert(gang.name);
    }
    return exact.empty() ? of_workload : exact;
  }

  template <class Matches>
  Names gangs_of_pods(std::string_view namespace_name, Matches matches) const {
    Names found;
    for (const SnapshotPod& pod : snapshot_.pods) {
      const bool is_there = namespace_name.empty() || pod.namespace_name == namespace_name;
      if (is_there && matches(pod)) found.insert(gang_of(pod));
    }
    return found;
  }
  Names pods(std::string_view namespace_name) const {
    return gangs_of_pods(namespace_name, [this](const SnapshotPod& pod) { return local_name(pod) == typed_.name; });
  }
  Names owners(std::string_view namespace_name) const {
    return gangs_of_pods(namespace_name, [this](const SnapshotPod& pod) { return is_of_owner(pod, typed_); });
  }

  const Snapshot& snapshot_;
  const TypedName& typed_;
};

bool is_gang(const Snapshot& snapshot, std::string_view name) {
  return std::ranges::find(snapshot.gangs, name, &SnapshotGang::name) != snapshot.gangs.end() ||
         std::ranges::any_of(snapshot.pods,
                             [&](const SnapshotPod& pod) { return pod.gang.empty() && pod.name == name; });
}

std::string list_of(const Names& names) {
  constexpr std::size_t kMostListed = 10;
  const std::vector<std::string_view> first(
      names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(names.size(), kMostListed))));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > kMostListed) text += fmt::format(" and {} more", names.size() - kMostListed);
  return text;
}

InputError ambiguous(std::string_view kind, std::string_view typed, const Names& names) {
  return {ErrorCode::kInvalidValue, std::string(typed),
          fmt::format("'{}' may be any of {} {}s: {}; name one", typed, names.size(), kind, list_of(names))};
}

InputError unknown(std::string_view kind, std::string_view typed, std::span<const std::string_view> names) {
  return {ErrorCode::kUnknownName, std::string(typed),
          fmt::format("no {} '{}' in the cluster{}", kind, typed, did_you_mean(typed, names))};
}

// Those without queues below them.
Names leaf_queues(const Snapshot& snapshot) {
  Names queues;
  if (snapshot.queues.empty()) queues.insert("default");
  for (const SnapshotQueue& queue : snapshot.queues) queues.insert(queue.name);
  for (const SnapshotQueue& queue : snapshot.queues) queues.erase(queue.parent);
  return queues;
}

// With and without their namespaces.
InputError unknown_gang(const Snapshot& snapshot, std::string_view typed) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    names.push_back(name);
    if (const std::string_view local = after_first_slash(name); !local.empty()) names.push_back(local);
  };
  for (const SnapshotGang& gang : snapshot.gangs) add(gang.name);
  std::string_view last_owner;
  for (const SnapshotPod& pod : snapshot.pods) {
    add(pod.name);
    if (pod.notes.owner.empty() || pod.notes.owner == last_owner) continue;
    add(last_owner = pod.notes.owner);
  }
  return unknown("gang or pod", typed, names);
}

Result<std::string> only_one_of(std::string_view kind, std::string_view typed, const Names& names) {
  if (names.size() > 1) return ambiguous(kind, typed, names);
  return std::string(*names.begin());
}

// Of names without namespaces: `typed` itself, else the only one that continues with `separator`.
Result<std::string> resolve_plain(std::string_view kind, std::string_view typed,
                                  std::span<const std::string_view> names, std::string_view separator) {
  std::string_view name = typed;
  for (const std::string_view plural : {"", "s"}) {
    const std::string prefix = fmt::format("{}{}/", kind, plural);
    const bool is_whole_name = std::ranges::find(names, typed) != names.end();
    if (!is_whole_name && typed.starts_with(prefix)) name = typed.substr(prefix.size());
  }
  Names longer;
  for (const std::string_view candidate : names) {
    if (candidate == name) return std::string(name);
    if (begins_with_parts(candidate, name, separator)) longer.insert(candidate);
  }
  if (longer.empty()) return unknown(kind, typed, names);
  return only_one_of(kind, typed, longer);
}

template <class Objects>
std::vector<std::string_view> names_of(const Objects& objects) {
  std::vector<std::string_view> names;
  for (const auto& object : objects) names.push_back(object.name);
  return names;
}

// `KIND/rest` if the first part is a kind; then `NAMESPACE/NAME`, unless the name itself has parts.
std::vector<TypedName> readings_of(std::string_view typed) {
  std::vector<TypedName> readings;
  const auto add = [&](TypedName base, std::string_view rest) {
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) {
      readings.push_back({base.sort, base.word, base.kind, rest.substr(0, slash), rest.substr(slash + 1)});
    }
    readings.push_back({base.sort, base.word, base.kind, {}, rest});
  };
  add({}, typed);
  const std::size_t slash = typed.find('/');
  if (slash != std::string_view::npos) add(with_kind(typed.substr(0, slash)), typed.substr(slash + 1));
  return readings;
}

}  // namespace

Result<std::string> resolve_gang(const Snapshot& snapshot, std::string_view typed, std::string_view default_namespace) {
  if (is_gang(snapshot, typed)) return std::string(typed);
  if (typed.empty()) return unknown_gang(snapshot, typed);
  for (const TypedName& reading : readings_of(typed)) {
    if (reading.name.empty()) continue;
    const GangSearch search(snapshot, reading);
    Names found = search.in(reading.namespace_name.empty() ? default_namespace : reading.namespace_name);
    if (found.empty() && reading.namespace_name.empty()) found = search.in({});
    if (!found.empty()) return only_one_of("gang", typed, found);
  }
  return unknown_gang(snapshot, typed);
}

Result<std::string> resolve_node(const Snapshot& snapshot, std::string_view typed) {
  return resolve_plain("node", typed, names_of(snapshot.nodes), ".");
}

Result<std::string> resolve_queue(const Snapshot& snapshot, std::string_view typed) {
  std::vector<std::string_view> names = names_of(snapshot.queues);
  if (names.empty()) names.emplace_back("default");
  Result<std::string> queue = resolve_plain("queue", typed, names, "@");
  if (queue || queue.error().code != ErrorCode::kUnknownName) return queue;
  return InputError{ErrorCode::kUnknownName, std::string(typed),
                    fmt::format("no queue '{}' in the cluster (queues: {}){}", typed, queue_list(snapshot),
                                did_you_mean(typed, names))};
}

std::string queue_list(const Snapshot& snapshot) { return list_of(leaf_queues(snapshot)); }

bool is_queue_of_gangs(const Snapshot& snapshot, std::string_view name) { return leaf_queues(snapshot).contains(name); }

}  // namespace muster::cli
