#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/line/line_options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

// Of a file; two are equal if it has not changed.
struct Version {
  dev_t device;
  ino_t number;
  off_t bytes;
  std::int64_t seconds, nanoseconds;
  friend bool operator==(const Version&, const Version&) = default;
};

// None: there is no such file now.
std::optional<Version> version(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return Version{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

// Ends early if a signal is received.
void wait(Nanoseconds interval) {
  constexpr Nanoseconds kMillisecond = kNanosecondsPerSecond / 1000;
  constexpr Nanoseconds kMost = std::numeric_limits<int>::max();
  pollfd wake{wake_descriptor(), POLLIN, 0};
  poll(&wake, 1, static_cast<int>(std::clamp<Nanoseconds>(interval / kMillisecond, 1, kMost)));
}

// One call of a command.
class Answering {
 public:
  Answering(const AnswerCommand& command, const Settings& settings, std::string_view name)
      : command_(command), settings_(settings), name_(name) {
    sources_ = command.sources(settings);
    options_ = experiment_options(settings, command.budget);
    format_ = render_options(settings).format;
  }

  int run() {
    const auto interval = settings_.duration("watch");
    const auto stdins = std::ranges::count(sources_, "-");
    if (interval && stdins > 0) throw UsageError("--watch: stdin cannot be read again; name a file");
    if (stdins > 1) throw UsageError("stdin can be read only once");
    if (interval) return watch(*interval);
    const Text given = give();
    return given.text.empty() ? given.exit_code : print(given.text, given.exit_code);
  }

 private:
  // An answer, or nothing but the exit code of what kept it from being given, which has been reported.
  struct Text {
    std::string text;  // for stdout; empty: none
    int exit_code = kExitAnswered;
    std::vector<std::string> remarks = {};  // for stderr, after the text
  };

  Text give() {
    std::variant<ClusterInput, int> read = command_.read(settings_);
    if (const int* code = std::get_if<int>(&read)) return {"", *code};
    ClusterInput& cluster = std::get<ClusterInput>(read);
    const Answered answered = command_.answer({settings_, options_, portfolio_, cluster});
    if (const int* code = std::get_if<int>(&answered)) return {"", *code};
    if (const auto* error = std::get_if<InputError>(&answered)) return {"", complain_of(name_, *error)};
    const Reply& answer = std::get<Reply>(answered);
    return {render(answer.document, render_options(settings_)), answer.exit_code, std::move(cluster.remarks)};
  }

  int watch(Nanoseconds interval) {
    install_interrupt();
    while (received_signal() == 0) {
      if (may_have_changed()) {
        const bool is_first = !has_printed_;
        const int code = show();
        if (code != kExitAnswered && (is_first || code == kExitCannotWrite)) return code;
      }
      wait(interval);
    }
    return kExitSignalled + received_signal();
  }

  // Since the last call, and all files are there.
  bool may_have_changed() {
    std::vector<std::optional<Version>> now;
    bool is_any_live = false, are_there = true;
    for (const std::string& source : sources_) {
      if (is_live(source)) {
        is_any_live = true;
        continue;
      }
      now.push_back(version(source));
      are_there = are_there && now.back().has_value();
    }
    const bool is_new = is_any_live || now != versions_;
    if (has_printed_ && !(are_there && is_new)) return false;
    versions_ = std::move(now);
    return true;
  }

  int show() {
    Text answer = give();
    if (answer.text.empty()) {
      if (is_terminal_) shown_.clear();  // to be printed again, over the failure
      return answer.exit_code;
    }
    if (answer.text == shown_) return kExitAnswered;
    const int code = print(separator() + answer.text, kExitAnswered);
    has_printed_ = true;
    shown_ = std::move(answer.text);
    for (const std::string& remark : answer.remarks) write_all(STDERR_FILENO, fmt::format("muster: {}\n", remark));
    return code;
  }

  // What comes before an answer: on a terminal, what stands there is erased.
  std::string separator() const {
    if (is_terminal_) return "\x1b[H\x1b[2J";
    return has_printed_ && format_ != AnswerFormat::kJson ? "\n" : "";
  }

  const AnswerCommand& command_;
  const Settings& settings_;
  std::string_view name_;
  std::vector<std::string> sources_;
  answers::ExperimentOptions options_;
  AnswerFormat format_ = AnswerFormat::kTable;
  portfolio::Portfolio portfolio_{kOwnProgram};
  std::vector<std::optional<Version>> versions_;  // of the sources that are files
  std::string shown_;
  bool has_printed_ = false;
  bool is_terminal_ = is_terminal(STDOUT_FILENO);
};

}  // namespace

int run_answer(const AnswerCommand& command, int argc, const char* const* argv) {
  const Settings settings(command.syntax, argc, argv);
  if (settings.wants_help()) return print(help_text(command.syntax), kExitAnswered);
  return Answering(command, settings, argv[0]).run();
}

OptionRow watch_row() {
  return {"watch", "SECONDS",
          "read the cluster again at this interval, and print the answer again if it has changed; a signal ends it"};
}

std::string failure_words(const InputError& error) {
  const bool has_place = !error.path.empty() && error.path != "$";
  return (has_place ? escaped(error.path) + ": " : "") + escaped(error.message);
}

int complain_of(std::string_view command, const InputError& error, int exit_code) {
  return complain_of(command, failure_words(error), exit_code);
}

int complain_of(std::string_view command, std::string_view words, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster {}: {}\n", command, words));
  return exit_code;
}

std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others, const DefaultBudget& budget) {
  const std::vector<OptionRow> rows = {
      {"budget", "DURATION", budget.help},
      {"engine", "NAME", "solver engine: auto, greedy or milp [auto]", kNoLetter, kEngines},
      {"threads", "N", "number of solver threads [the available cores]"},
      {"seed", "N", "random seed [1]"},
      {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock"}};
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

answers::ExperimentOptions experiment_options(const Settings& settings, const DefaultBudget& budget) {
  answers::ExperimentOptions options;
  options.solve = line_options(settings).solve;
  const auto given = settings.duration("budget");
  options.budget = given ? std::chrono::nanoseconds(*given) : budget.time;
  return options;
}

}  // namespace muster::cli
