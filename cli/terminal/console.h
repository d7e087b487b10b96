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

// Output: to a file descriptor, all bytes or an error.
//
// Writes everything, through interruptions and short writes. Returns 0, or the errno of the failure.
int write_all(int file_descriptor, std::string_view bytes);

// The same, but if the output goes to the end of a regular file and cannot be written completely, none of it remains.
int write_whole(int file_descriptor, std::string_view bytes);

// Writes to stdout and turns the result into an exit code: `success`, or kExitCannotWrite, reported on stderr unless
// the reader has gone away.
int print(std::string_view bytes, int success);

// Whether one of the input files ("-" is stdin) is the regular file that would be overwritten.
bool reads_from(const std::vector<std::string>& files, const std::string& output);

// Whether both names are, or would become, one regular file.
bool are_one_file(const std::string& one, const std::string& other);

// The meaning of the program's exit code; the numbers from 64 up are those of sysexits.h.
inline constexpr int kExitAnswered = 0;  // every line was answered by a plan; `verify`: every plan stands
inline constexpr int kExitSomeErrors =
    1;  // some lines were answered by an error record; `verify`: violations or false claims
inline constexpr int kExitDifferent = 1;      // `diff`: the plans differ
inline constexpr int kExitUsage = 64;         // the command line, the environment or the configuration file is wrong
inline constexpr int kExitNoValidLine = 65;   // there were lines, but none that could be read
inline constexpr int kExitNoInput = 66;       // a file cannot be read, or there is no line in it
inline constexpr int kExitInternal = 70;      // a defect of the program
inline constexpr int kExitCannotCreate = 73;  // the output file cannot be created
inline constexpr int kExitCannotWrite = 74;   // the output cannot be written, or its reader has gone away
inline constexpr int kExitSignalled = 128;    // plus the number of the signal that asked it to stop

}  // namespace muster::cli
