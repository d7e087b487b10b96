#include "cli/serve/cluster_history.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/console.h"
#include "io/muster_v1/histories.h"
#include "model/base/saturating.h"

namespace muster::cli {

namespace {

// The name of the pod's gang, told apart from that of a pod which is one by itself.
std::string gang_key(const SnapshotPod& pod) {
  return pod.gang.empty() ? "pod " + std::string(pod.name) : "gang " + std::string(pod.gang);
}

// What the pods of a gang that ran say about it now, least favourable last.
enum class Sign : std::uint8_t { kGone, kRuns, kWaits };

Sign sign_of(PodStatus status) {
  switch (status) {
    case PodStatus::kRunning:
    case PodStatus::kReleasing:
      return Sign::kRuns;
    case PodStatus::kSucceeded:
      return Sign::kGone;
    default:
      return Sign::kWaits;
  }
}

// By GangIndex: whether the plan evicts or moves any of its pods.
Indexed<GangIndex, bool> disrupted_by(const Problem& problem, const Plan& plan) {
  Indexed<GangIndex, bool> result(problem.gangs.size());
  for (const Eviction& eviction : plan.evictions) result[problem.pods[eviction.pod].gang] = true;
  return result;
}

}  // namespace

ClusterHistory::ClusterHistory(const HistoryOptions& options) : options_(options) {
  if (options.usage_half_life > 0) usage_.emplace(options.usage_half_life);
}

std::uint64_t ClusterHistory::observe(const Snapshot& snapshot) {
  if (snapshot.time <= last_) return 0;
  if (options_.keeps_durations) count_finished(snapshot);
  if (usage_) usage_->advance(snapshot.time);
  last_ = snapshot.time;
  return ++number_;
}

// A gang that still runs stays among the running ones until note() tells them anew.
void ClusterHistory::count_finished(const Snapshot& snapshot) {
  if (running_.empty()) return;
  std::unordered_map<std::string, Sign> signs;
  for (const SnapshotPod& pod : snapshot.pods) {
    std::string key = gang_key(pod);
    if (!running_.contains(key)) continue;
    Sign& sign = signs.try_emplace(std::move(key), Sign::kGone).first->second;
    const Sign own = sign_of(pod.status);
    // A pod that runs outweighs one that waits beyond the minimum.
    if (sign == Sign::kRuns || own == Sign::kRuns) {
      sign = Sign::kRuns;
    } else {
      sign = std::max(sign, own);
    }
  }
  std::unordered_set<std::string_view> nodes;
  for (const SnapshotNode& node : snapshot.nodes) nodes.insert(node.name);
  std::erase_if(running_, [&](const auto& entry) {
    const auto found = signs.find(entry.first);
    const Sign sign = found == signs.end() ? Sign::kGone : found->second;
    if (sign == Sign::kGone && nodes.contains(entry.second.node)) finish(entry.second, snapshot.time);
    return sign != Sign::kRuns;
  });
}

void ClusterHistory::finish(const Running& gang, Nanoseconds now) {
  const Nanoseconds ended = last_ + saturating_subtract(now, last_) / 2;
  const bool is_known = durations_.knows(gang.queue) || durations_.queue_count() < kMostQueues;
  durations_.add(is_known ? gang.queue : "", gang.gpus,
                 std::max<Nanoseconds>(0, saturating_subtract(ended, gang.started)));
  ++finished_;
}

void ClusterHistory::note(std::uint64_t number, const Problem& problem, const Plan& plan) {
  if (number == 0 || number != number_) return;
  if (usage_) note_usage(problem);
  if (!options_.keeps_durations) return;
  const Snapshot& snapshot = *problem.snapshot;
  const Indexed<GangIndex, bool> disrupted = disrupted_by(problem, plan);
  const RunningGangs before = std::exchange(running_, {});
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    if (gang.queue.is_none() || gang.times.gpus < 1 || disrupted[index]) continue;
    Running running;
    std::optional<Nanoseconds> started;
    for (const PodIndex pod : gang.pods) {
      if (problem.pods[pod].status != PodStatus::kRunning) continue;
      const SnapshotPod& source = snapshot.pods[pod.value()];
      if (running.node.empty()) running.node = source.node;
      if (source.started) started = std::min(started.value_or(*source.started), *source.started);
    }
    if (running.node.empty()) continue;
    std::string key = gang_key(snapshot.pods[gang.pods.front().value()]);
    const auto known = before.find(key);
    running.started = started.value_or(known == before.end() ? snapshot.time : known->second.started);
    running.queue = problem.queues[gang.queue].name;
    running.gpus = gang.times.gpus;
    running_.emplace(std::move(key), std::move(running));
  }
}

void ClusterHistory::note_usage(const Problem& problem) {
  Indexed<QueueIndex, QueueAmounts> in_use(problem.queues.size());
  for (const PodIndex pod : problem.pods.indices()) {
    const QueueIndex queue = problem.gangs[problem.pods[pod].gang].queue;
    if (queue.is_none() || problem.pods[pod].status != PodStatus::kRunning) continue;
    const QueueAmounts used = queue_usage(problem.class_of(pod), problem.class_of(problem.pods[pod].node));
    for (std::size_t i = 0; i < kQueueResources; ++i) in_use[queue][i] = saturating_add(in_use[queue][i], used[i]);
  }
  usage_->set_in_use(problem.queues, in_use);
}

muster_v1::Histories ClusterHistory::known() const {
  muster_v1::Histories histories;
  if (options_.keeps_durations) {
    auto& durations = histories.durations.emplace();
    for (DurationHistory history : durations_.list()) {
      std::string queue(std::exchange(history.queue, {}));
      durations.push_back({std::move(queue), history});
    }
  }
  if (!usage_) return histories;
  auto& usage = histories.usage.emplace();
  for (const auto& [queue, average] : usage_->averages()) {
    usage.push_back({queue, average[kQueueGpu], average[kQueueCpu], average[kQueueMemory]});
  }
  return histories;
}

void ClusterHistory::restore(const muster_v1::Histories& histories) {
  if (histories.durations && options_.keeps_durations) {
    for (const auto& [queue, history] : *histories.durations) {
      if (DurationHistories::is_size(history)) durations_.restore(queue, history);
    }
  }
  if (histories.usage && usage_) {
    for (const auto& one : *histories.usage) {
      usage_->set_average(one.queue, {one.gpu, one.cpu, one.memory});
    }
  }
}

namespace {

// A line for each cluster: its name, a tabulator, its histories.
constexpr char kBetween = '\t';

// The new file is beside the old one, and on the disk before it takes its place. The error, or 0.
int replace_file(const std::string& file, std::string_view text) {
  const std::string beside = file + ".new";
  const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return errno;
  int error = write_all(descriptor, text);
  if (error == 0 && fsync(descriptor) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(beside.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) std::remove(beside.c_str());
  return error;
}

}  // namespace

bool is_cluster_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  constexpr std::string_view kKnown = "-._:/";
  return name.size() <= kLongest && std::ranges::all_of(name, [&](unsigned char c) {
           return std::isalnum(c) != 0 || kKnown.find(static_cast<char>(c)) != std::string_view::npos;
         });
}

std::optional<InputError> ServeHistories::load() {
  if (options_.file.empty() || !std::filesystem::exists(options_.file)) return std::nullopt;
  std::ifstream in(options_.file, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(in)), {});
  if (!in.good() && !in.eof()) return InputError{ErrorCode::kNoInput, options_.file, "cannot be read"};
  std::string_view rest = content;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t between = line.find(kBetween);
    const auto histories = muster_v1::read_histories(line.substr(between == std::string_view::npos ? 0 : between + 1));
    if (between == std::string_view::npos || !histories) {
      const std::string why =
          histories ? "the name of a cluster and a tabulator are missing" : histories.error().message;
      return InputError{ErrorCode::kInvalidValue, fmt::format("{}: line {}", options_.file, number), why};
    }
    entry(line.substr(0, between)).history.restore(*histories);
  }
  return std::nullopt;
}

ServeHistories::Entry& ServeHistories::entry(std::string_view cluster) {
  auto found = clusters_.find(cluster);
  if (found == clusters_.end()) {
    if (clusters_.size() >= kMostClusters) {
      clusters_.erase(std::ranges::min_element(clusters_, {}, [](const auto& one) { return one.second.asked_for; }));
    }
    found = clusters_.try_emplace(std::string(cluster), options_.kept).first;
  }
  found->second.asked_for = ++clock_;
  return found->second;
}

ServeHistories::Ticket ServeHistories::fill_in(std::string_view cluster, ParsedLine& line) {
  if (!is_on() || !line.snapshot) return {};
  muster_v1::Histories known;
  Ticket ticket{std::string(cluster), 0};
  {
    const std::scoped_lock lock(mutex_);
    ClusterHistory& history = entry(cluster).history;
    const std::int64_t before = history.finished();
    ticket.number = history.observe(*line.snapshot);
    finished_ += history.finished() - before;
    has_changed_ = has_changed_ || ticket.number > 0;
    known = history.known();
  }
  line.histories = muster_v1::fill_in(std::move(known), *line.snapshot);
  return ticket;
}

void ServeHistories::note(const Ticket& ticket, const SolvedLine& solved) {
  if (ticket.number == 0) return;
  const std::scoped_lock lock(mutex_);
  const auto found = clusters_.find(ticket.cluster);
  if (found != clusters_.end()) found->second.history.note(ticket.number, solved.problem, solved.solution.plan);
}

std::string ServeHistories::text() const {
  std::string text;
  for (const auto& [cluster, entry] : clusters_) {
    text += cluster + kBetween;
    muster_v1::write_histories(entry.history.known(), text);
    text += '\n';
  }
  return text;
}

std::string ServeHistories::save(std::chrono::steady_clock::duration interval) {
  if (options_.file.empty()) return {};
  const std::scoped_lock file_lock(file_mutex_);
  std::string content;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!has_changed_ || now - saved_ < interval) return {};
    saved_ = now;
    has_changed_ = false;
    content = text();
  }
  const int error = replace_file(options_.file, content);
  if (error == 0) return {};
  const std::scoped_lock lock(mutex_);
  has_changed_ = true;
  return fmt::format("--histories: {} cannot be written: {}", options_.file, std::strerror(error));
}

}  // namespace muster::cli
