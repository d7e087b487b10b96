#include "cli/simulation_grid.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/line/line_source.h"
#include "cli/terminal/children.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/json/reading.h"

namespace muster::cli {
namespace {

using json::JsonKind;
using json::JsonValue;
using Words = std::vector<std::string>;

// What an experiment asks for.
struct Experiment {
  Words options;     // of muster simulate
  std::string file;  // of the workload; empty: `made_by` makes it
  Words made_by;     // "import", "philly", ...
};

// A member's value as the words of an option.
bool read_option(json::Reading& reading, std::string_view key, JsonValue value, Words& options) {
  const std::string flag = fmt::format("--{}", key);
  switch (value.kind()) {
    case JsonKind::kTrue:
      options.push_back(flag);
      return true;
    case JsonKind::kFalse:
      return true;
    case JsonKind::kString:
      options.insert(options.end(), {flag, std::string(value.string())});
      return true;
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kDouble:
      options.insert(options.end(), {flag, std::string(reading.number_text(value))});
      return true;
    default:
      return reading.fail_value(value, "expected a string, a number, true or false");
  }
}

bool read_workload(json::Reading& reading, JsonValue value, Experiment& experiment) {
  if (value.is(JsonKind::kString)) {
    experiment.file = value.string();
    return !experiment.file.empty() || reading.fail_value(value, "expected the name of a file");
  }
  if (!value.is(JsonKind::kArray) || value.size() == 0)
    return reading.fail_value(value, "expected a file, or the words of a command such as [\"import\", \"philly\"]");
  for (const JsonValue word : value.elements()) {
    if (!reading.expect(word, JsonKind::kString)) return false;
    experiment.made_by.emplace_back(word.string());
  }
  if (experiment.made_by.front() == "import" || experiment.made_by.front() == "generate") return true;
  return reading.fail_value(value, "expected the words of 'muster import' or 'muster generate'");
}

bool read_experiment(json::Reading& reading, JsonValue root, Experiment& experiment) {
  if (!reading.expect(root, JsonKind::kObject) || !reading.check_duplicates(root)) return false;
  for (const auto [key, value] : root.members()) {
    if (key == "id") continue;
    if (key == "workload") {
      if (!read_workload(reading, value, experiment)) return false;
    } else if (key == "grid" || key == "shard" || key == "shards" || key == "output" || key == "resume" ||
               key == "config") {
      return reading.fail_unknown(value, key);
    } else if (!read_option(reading, key, value, experiment.options)) {
      return false;
    }
  }
  return true;
}

// What a command printed, as a file that other processes of this user can read as long as the object lives.
class MemoryFile {
 public:
  MemoryFile() = default;
  ~MemoryFile() { reset(); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Returns 0, or errno.
  int fill(std::string_view content) {
    reset();
    descriptor_ = memfd_create("workload", MFD_CLOEXEC);
    return descriptor_ < 0 ? errno : write_all(descriptor_, content);
  }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_); }

 private:
  void reset() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  int descriptor_ = -1;
};

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

class Grid {
 public:
  Grid(const GridOptions& options, Console& console) : options_(options), console_(console) {}

  int run() {
    LineSource source({options_.grid}, {options_.max_line_bytes, wake_descriptor(), options_.shard});
    if (!source.failure().empty()) return fail(source.failure(), kExitNoInput);
    if (const int code = open_output(source); code != kExitAnswered) return code;
    std::int64_t answered = 0, errors = 0;
    while (const auto line = source.next()) {
      const std::optional<std::string> answer = answer_of(line->text);
      if (received_signal() != 0 || !answer) break;
      if (const int error = write_all(output_, *answer)) return fail(std::strerror(error), kExitCannotWrite);
      ++answered;
      errors += std::exchange(is_error_, false) ? 1 : 0;
    }
    if (received_signal() != 0) return kExitSignalled + received_signal();
    if (!source.failure().empty()) return fail(source.failure(), kExitNoInput);
    if (answered == 0)
      return options_.resumes || !options_.shard.is_whole() ? kExitAnswered
                                                            : fail("the grid has no line", kExitNoInput);
    return errors == 0 ? kExitAnswered : errors < answered ? kExitSomeErrors : kExitNoValidLine;
  }

 private:
  int fail(std::string_view message, int code) {
    console_.say(Severity::kError, message);
    return code;
  }

  int open_output(LineSource& source) {
    if (!options_.output) return kExitAnswered;
    if (reads_from({options_.grid}, *options_.output))
      throw UsageError(fmt::format("--output: {} is also read from", *options_.output));
    if (options_.resumes) {
      const ResumedFile file = resume_file(*options_.output);
      source.skip(file.lines);
      output_ = file.descriptor;
      errno = file.error;
    } else {
      output_ = open(options_.output->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    if (output_ >= 0) return kExitAnswered;
    return fail(fmt::format("--output: {}: {}", escaped(*options_.output), std::strerror(errno)), kExitCannotCreate);
  }

  // None: interrupted.
  std::optional<std::string> answer_of(std::string_view line) {
    if (const auto error = document_.parse(line, {})) return error_line("null", *error);
    json::Reading reading{false, nullptr, {}};
    Experiment experiment;
    if (!read_experiment(reading, document_.root(), experiment)) return error_line(line, reading.error);
    if (experiment.file.empty() && experiment.made_by.empty()) {
      if (!options_.workload)
        return error_line(line, {ErrorCode::kMissingKey, "$.workload", "neither the line nor the command names one"});
      experiment.file = *options_.workload;
    }
    if (!experiment.made_by.empty() && experiment.made_by != made_by_) {
      made_by_.clear();
      const auto made = run_self(experiment.made_by);
      if (!made) return std::nullopt;
      if (made->exit_code != 0)
        return error_line(line, {ErrorCode::kInvalidValue, "$.workload", first_line(made->err)});
      if (const int error = made_.fill(made->out))
        return error_line(line, {ErrorCode::kInvalidValue, "$.workload", std::strerror(error)});
      made_by_ = experiment.made_by;
    }
    Words words{"simulate", experiment.made_by.empty() ? experiment.file : made_.path(), "--quiet"};
    words.insert(words.end(), experiment.options.begin(), experiment.options.end());
    const auto ended = run_self(words);
    if (!ended) return std::nullopt;
    if (ended->exit_code != 0 || !ended->out.starts_with('{'))
      return error_line(line, {ErrorCode::kInvalidValue, "$", first_line(ended->err)});
    return fmt::format("{{\"experiment\":{},{}", line, std::string_view(ended->out).substr(1));
  }

  static std::optional<EndedChild> run_self(Words words) {
    words.insert(words.begin(), kOwnProgram);
    auto ended = run_children({std::move(words)}, 1);
    return ended ? std::optional(std::move(ended->front())) : std::nullopt;
  }

  std::string error_line(std::string_view experiment, const InputError& error) {
    is_error_ = true;
    std::string text;
    json::JsonWriter json(text);
    json.object().key("experiment").raw(experiment).member("format", "muster/v1").member("status", "error");
    json.key("error").object().member("code", error_code_text(error.code)).member("path", error.path);
    json.member("message", error.message).end().end().raw("\n");
    return text;
  }

  const GridOptions& options_;
  Console& console_;
  json::JsonDocument document_;
  int output_ = STDOUT_FILENO;
  bool is_error_ = false;  // the last answer
  Words made_by_;          // of the workload that is kept for the next experiment
  MemoryFile made_;
};

}  // namespace

int run_simulation_grid(const GridOptions& options, Console& console) {
  if (options.resumes && !options.output) throw UsageError("--resume: give --output FILE");
  return Grid(options, console).run();
}

}  // namespace muster::cli
