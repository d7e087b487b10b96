#include "cli/terminal/console.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);
// For a record that must fit into the space that has_room() has found, however much of it is escaped.
constexpr std::size_t kLongestMessage = 500;

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInformation:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string json_record(Severity severity, std::string_view message, const std::vector<LogField>& fields) {
  std::string record = fmt::format("{{\"time\":\"{}\",\"severity\":\"{}\"", time_now(), severity_name(severity));
  for (const LogField& field : fields) {
    const std::string value = field.is_number ? field.value : fmt::format("\"{}\"", json_escaped(field.value));
    record += fmt::format(",\"{}\":{}", field.name, value);
  }
  return record + fmt::format(",\"message\":\"{}\"}}\n", json_escaped(message));
}

std::string text_record(Severity severity, std::string_view message, const std::vector<LogField>& fields) {
  std::string record = severity == Severity::kInformation ? "" : fmt::format("muster: {}: ", severity_name(severity));
  for (const LogField& field : fields) {
    record += field.name == "line" ? fmt::format("line {}: ", field.value)
                                   : fmt::format("{}={} ", field.name, escaped(field.value));
  }
  return record + fmt::format("{}\n", message);
}

}  // namespace

Console::Console(ConsoleOptions options) : options_(options) {
  if (options_.progress) drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until(stop); });
}

Console::~Console() {
  drawer_ = {};
  const std::scoped_lock lock(mutex_);
  erase_progress();
}

void Console::say(Severity severity, std::string_view message, std::int64_t line) {
  std::vector<LogField> fields;
  if (line > 0) fields.push_back({"line", fmt::format("{}", line), true});
  say(severity, message, fields);
}

void Console::say(Severity severity, std::string_view message, const std::vector<LogField>& fields) {
  const std::scoped_lock lock(mutex_);
  if (options_.quiet && severity != Severity::kError) return;
  if (!has_room()) {
    ++left_out_;
    return;
  }
  const auto record = options_.format == LogFormat::kJson ? json_record : text_record;
  if (options_.never_waits) message = message.substr(0, kLongestMessage);
  erase_progress();
  if (left_out_ > 0) {
    const std::string count =
        fmt::format("dropped {} log records because stderr was blocked", std::exchange(left_out_, 0));
    write_all(STDERR_FILENO, record(Severity::kWarning, count, {}));
  }
  write_all(STDERR_FILENO, record(severity, message, fields));  // a failure here cannot be reported anywhere
}

// Of a pipe: for 4096 bytes at least.
bool Console::has_room() {
  if (!options_.never_waits) return true;
  pollfd stderr_now{STDERR_FILENO, POLLOUT, 0};
  return poll(&stderr_now, 1, 0) > 0 && (stderr_now.revents & POLLOUT) != 0;
}

void Console::set_options(const ConsoleOptions& options) {
  const std::scoped_lock lock(mutex_);
  options_.format = options.format;
  options_.quiet = options.quiet;
}

void Console::begin_progress(std::int64_t line, std::chrono::duration<double> budget) {
  if (!options_.progress) return;
  const std::scoped_lock lock(mutex_);
  line_ = line;
  budget_ = budget;
  begun_ = std::chrono::steady_clock::now();
}

void Console::end_progress() {
  if (!options_.progress) return;
  const std::scoped_lock lock(mutex_);
  line_ = 0;
  erase_progress();
}

void Console::draw_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kProgressInterval, [] { return false; });
    if (line_ == 0 || stop.stop_requested()) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun_;
    write_all(STDERR_FILENO,
              fmt::format("\r\033[Kline {}: {:.1f} of {:.1f} s", line_, elapsed.count(), budget_.count()));
    is_drawn_ = true;
  }
}

void Console::erase_progress() {
  if (is_drawn_) write_all(STDERR_FILENO, "\r\033[K");
  is_drawn_ = false;
}

}  // namespace muster::cli
