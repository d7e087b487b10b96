// Everything that people read while the program runs: logs, the progress line and summaries, all on stderr.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace muster::cli {

enum class Severity : std::uint8_t { kInformation, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

struct ConsoleOptions {
  LogFormat format = LogFormat::kText;
  bool quiet = false;        // errors only
  bool progress = false;     // a line that is redrawn while a snapshot is being solved
  bool never_waits = false;  // records are dropped, and counted, while earlier ones have not been read
};

// A field of a record in addition to its message.
struct LogField {
  std::string_view name;  // a JSON key, plain letters
  std::string value;
  bool is_number = false;
};

// Safe to use from several threads; each record is written in one call.
class Console {
 public:
  explicit Console(ConsoleOptions options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // One record. `line` is the line of input that it refers to, 0: none. The message may hold line feeds, which stay in
  // text and are escaped in JSON; any text in it from outside has been through escaped() before.
  void say(Severity severity, std::string_view message, std::int64_t line = 0);
  void say(Severity severity, std::string_view message, const std::vector<LogField>& fields);

  // From now on; `progress` stays as it was.
  void set_options(const ConsoleOptions& options);

  // The progress line, drawn at most ten times a second between these two.
  void begin_progress(std::int64_t line, std::chrono::duration<double> budget);
  void end_progress();

 private:
  void draw_until(const std::stop_token& stop);
  void erase_progress();
  bool has_room();

  ConsoleOptions options_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::int64_t line_ = 0;  // 0: nothing is being solved
  std::chrono::duration<double> budget_{};
  std::chrono::steady_clock::time_point begun_;
  bool is_drawn_ = false;
  std::int64_t left_out_ = 0;  // records
  std::jthread drawer_;
};

}  // namespace muster::cli
