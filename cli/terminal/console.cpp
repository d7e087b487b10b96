#include "cli/terminal/console.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

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

int write_all(int file_descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_whole(int file_descriptor, std::string_view bytes) {
  struct stat before {};
  const bool is_file = fstat(file_descriptor, &before) == 0 && S_ISREG(before.st_mode);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = write(file_descriptor, bytes.data() + written, bytes.size() - written);
    if (more > 0) written += static_cast<std::size_t>(more);
    if (more >= 0 || errno == EINTR) continue;
    const int error = errno;
    struct stat after {};
    const bool is_last =
        is_file && fstat(file_descriptor, &after) == 0 && after.st_size == before.st_size + static_cast<off_t>(written);
    if (is_last && written > 0) static_cast<void>(!ftruncate(file_descriptor, before.st_size));
    return error;
  }
  return 0;
}

int print(std::string_view bytes, int success) {
  const int error = write_all(STDOUT_FILENO, bytes);
  if (error == 0) return success;
  if (error != EPIPE) write_all(STDERR_FILENO, fmt::format("muster: stdout: {}\n", std::strerror(error)));
  return kExitCannotWrite;
}

bool reads_from(const std::vector<std::string>& files, const std::string& output) {
  struct stat target {};
  if (stat(output.c_str(), &target) != 0 || !S_ISREG(target.st_mode)) return false;
  for (const std::string& file : files) {
    struct stat source {};
    if (file == "-" ? fstat(STDIN_FILENO, &source) != 0 : stat(file.c_str(), &source) != 0) continue;
    if (source.st_dev == target.st_dev && source.st_ino == target.st_ino) return true;
  }
  return false;
}

bool are_one_file(const std::string& one, const std::string& other) {
  struct stat of_one {
  }, of_other{};
  const bool is_one = stat(one.c_str(), &of_one) == 0, is_other = stat(other.c_str(), &of_other) == 0;
  const auto are_same = [&] { return of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino; };
  if (is_one && is_other) return S_ISREG(of_one.st_mode) && are_same();
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (is_one != is_other || name(one) != name(other)) return false;
  const auto folder = [](const std::string& path) { return path.substr(0, path.rfind('/') + 1) + "."; };
  return stat(folder(one).c_str(), &of_one) == 0 && stat(folder(other).c_str(), &of_other) == 0 && are_same();
}

}  // namespace muster::cli
