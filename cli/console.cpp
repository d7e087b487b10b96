#include "cli/console.h"

#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/terminal.h"

namespace muster {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);

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

std::string json_record(Severity severity, std::string_view message, std::int64_t line) {
  std::string record = fmt::format("{{\"time\":\"{}\",\"severity\":\"{}\"", time_now(), severity_name(severity));
  if (line > 0) record += fmt::format(",\"line\":{}", line);
  return record + fmt::format(",\"message\":\"{}\"}}\n", json_escaped(message));
}

std::string text_record(Severity severity, std::string_view message, std::int64_t line) {
  std::string record = severity == Severity::kInformation ? "" : fmt::format("muster: {}: ", severity_name(severity));
  if (line > 0) record += fmt::format("line {}: ", line);
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
  if (options_.quiet && severity != Severity::kError) return;
  const std::string record =
      options_.format == LogFormat::kJson ? json_record(severity, message, line) : text_record(severity, message, line);
  const std::scoped_lock lock(mutex_);
  erase_progress();
  write_all(STDERR_FILENO, record);  // nobody is left to be told if this fails
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

}  // namespace muster
