#include "cli/serve/histories.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/output.h"
#include "io/muster_v1/histories_reader.h"

namespace muster::cli {
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
