#include "cli/line/line_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/terminal/terminal.h"

namespace muster::cli {

namespace {

constexpr std::int64_t kMostShards = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = !text.empty() && error == std::errc() && end == text.data() + text.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

// None: it is not set.
std::optional<std::int64_t> number_of_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  if (const auto number = number_in(value)) return number;
  throw UsageError(fmt::format("{}={} is not a number", name, escaped(value)));
}

std::int64_t index_of_environment() {
  if (const auto index = number_of_environment("JOB_COMPLETION_INDEX")) return *index;
  if (const auto index = number_of_environment("SLURM_ARRAY_TASK_ID"))
    return *index - number_of_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  throw UsageError("--shards: neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set; give --shard I/N");
}

}  // namespace

std::vector<OptionRow> with_shard_options(std::vector<OptionRow> others) {
  std::vector<OptionRow> rows = {
      {"shard", "I/N", "answer only the lines whose number, from 0, modulo N is I; see 'muster help merge'"},
      {"shards", "N", "the same, with I from JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID"}};
  rows.insert(rows.begin(), others.begin(), others.end());
  return rows;
}

Shard shard_of(const Settings& settings) {
  const std::optional<std::string> one = settings.text("shard");
  const std::optional<std::int64_t> count = settings.integer("shards", 1, kMostShards);
  if (one && count) throw UsageError("give --shard or --shards, not both");
  Shard shard;
  if (count) {
    shard = {index_of_environment(), *count};
  } else if (one) {
    const std::size_t slash = one->find('/');
    const auto index = number_in(std::string_view(*one).substr(0, slash));
    const auto of = slash == std::string::npos ? std::nullopt : number_in(std::string_view(*one).substr(slash + 1));
    if (!index || !of || *of < 1 || *of > kMostShards)
      throw UsageError(fmt::format("--shard {}: not I/N, such as 0/8", escaped(*one)));
    shard = {*index, *of};
  }
  if (shard.index < 0 || shard.index >= shard.count)
    throw UsageError(
        fmt::format("shard {} of {}: shards are counted from 0 to {}", shard.index, shard.count, shard.count - 1));
  return shard;
}

namespace {

constexpr std::size_t kLeastRead = std::size_t{1} << 16;

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

// Waits until the descriptor can be read. False: the wake descriptor was readable first; -1: there is none.
bool wait_readable(int descriptor, int wake) {
  pollfd both[] = {{descriptor, POLLIN, 0}, {wake, POLLIN, 0}};
  while (poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  return both[1].revents == 0;
}

}  // namespace

LineSource::LineSource(std::vector<std::string> files, Options options) : files_(std::move(files)), options_(options) {
  if (files_.empty()) files_.emplace_back("-");
  for (const std::string& file : files_) {
    if (failure_.empty() && file != "-" && access(file.c_str(), R_OK) != 0) fail(file, errno);
  }
}

LineSource::~LineSource() {
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

void LineSource::fail(const std::string& file, int error) {
  failure_ = fmt::format("{}: {}", file == "-" ? "stdin" : escaped(file), std::strerror(error));
}

bool LineSource::open_next() {
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
  descriptor_ = -1;
  if (opened_ == files_.size()) return false;
  const std::string& file = files_[opened_++];
  descriptor_ = file == "-" ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(file, errno);
  is_at_end_of_file_ = descriptor_ < 0;
  return descriptor_ >= 0;
}

// Appends the available bytes to the buffer. False: interrupted or failed; the end of the file is no failure.
bool LineSource::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kLeastRead) buffer_.resize(std::max(2 * buffer_.size(), 4 * kLeastRead));
  while (true) {
    if (!wait_readable(descriptor_, options_.wake_descriptor)) return false;
    const ssize_t got = read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) {
      fail(files_[opened_ - 1], errno);
      return false;
    }
    is_at_end_of_file_ = got == 0;
    end_ += static_cast<std::size_t>(got);
    return true;
  }
}

// The next line, blank ones too. A line that is too long is given once its limit is exceeded; the rest of it is
// discarded.
std::optional<std::string_view> LineSource::next_raw() {
  while (true) {
    const char* from = buffer_.data() + scanned_;
    const void* feed = scanned_ == end_ ? nullptr : std::memchr(from, '\n', end_ - scanned_);
    const std::size_t stop =
        feed == nullptr ? end_ : static_cast<std::size_t>(static_cast<const char*>(feed) - buffer_.data());
    scanned_ = stop;
    const std::size_t length = stop - begin_;
    const bool is_too_long = length > options_.max_line_bytes;
    if (feed != nullptr || (is_too_long && !discards_) || (is_at_end_of_file_ && length > 0)) {
      const std::string_view text(buffer_.data() + begin_, std::min(length, options_.max_line_bytes + 1));
      begin_ = scanned_ = feed == nullptr ? stop : stop + 1;
      const bool is_rest = std::exchange(discards_, feed == nullptr && is_too_long);
      if (is_rest) continue;
      is_ended_ = feed != nullptr;
      return text;
    }
    if (discards_) begin_ = stop;
    if (is_at_end_of_file_) {
      discards_ = false;
      if (!failure_.empty() || !open_next()) return std::nullopt;
    }
    if (!fill()) return std::nullopt;
  }
}

// The next line, counted, without CR.
std::optional<std::string_view> LineSource::next_text() {
  if (kept_) {
    document_ = *std::exchange(kept_, std::nullopt);
    return document_;
  }
  auto text = next_raw();
  if (!text) return std::nullopt;
  ++counts_.number;
  if (text->size() <= options_.max_line_bytes && text->ends_with('\r')) text->remove_suffix(1);
  return text;
}

// The document that starts with a line `{`. One that is too long is cut off.
std::string_view LineSource::gather() {
  document_ = "{";
  while (const auto text = next_text()) {
    if (text->starts_with('{')) {
      kept_ = *text;
      break;
    }
    const bool is_last = text->starts_with('}');
    const std::string_view inner = text->substr(std::min(text->find_first_not_of(" \t"), text->size()));
    if (document_.size() <= options_.max_line_bytes) {
      document_.append(inner.substr(0, options_.max_line_bytes + 1 - document_.size()));
    }
    if (is_last) break;
  }
  return document_;
}

std::optional<LineSource::Line> LineSource::next() {
  while (const auto line = next_of_all()) {
    if (!options_.shard.has(counts_.lines++)) continue;
    if (counts_.skipped == 0) return line;
    --counts_.skipped;
  }
  return std::nullopt;
}

std::optional<LineSource::Line> LineSource::next_of_all() {
  while (const auto text = next_text()) {
    const std::int64_t number = counts_.number;
    const bool is_of_stdin = files_[opened_ - 1] == "-";
    if (*text == "{") {
      const std::string_view document = gather();
      return Line{document, number, is_of_stdin, is_ended_};
    }
    if (text->size() > options_.max_line_bytes || !is_blank(*text)) {
      return Line{*text, number, is_of_stdin, is_ended_};
    }
  }
  return std::nullopt;
}

namespace {

ResumedFile failed(int descriptor) {
  const ResumedFile file{-1, 0, errno};
  if (descriptor >= 0) close(descriptor);
  return file;
}

}  // namespace

ResumedFile resume_file(const std::string& path) {
  ResumedFile file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666), 0, 0};
  if (file.descriptor < 0) return failed(-1);
  std::array<char, std::size_t{1} << 16> buffer;
  off_t at = 0, whole = 0;
  while (true) {
    const ssize_t got = read(file.descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(file.descriptor);
    if (got == 0) break;
    for (const char* feed = buffer.data(); feed != buffer.data() + got; ++feed) {
      feed = std::find(feed, static_cast<const char*>(buffer.data() + got), '\n');
      if (feed == buffer.data() + got) break;
      ++file.lines;
      whole = at + (feed - buffer.data()) + 1;
    }
    at += got;
  }
  if (ftruncate(file.descriptor, whole) != 0 || lseek(file.descriptor, whole, SEEK_SET) < 0)
    return failed(file.descriptor);
  return file;
}

}  // namespace muster::cli
