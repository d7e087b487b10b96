#include "cli/answers/watch.h"

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

#include "cli/answers/cluster.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"

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

void print_remarks(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) write_all(STDERR_FILENO, fmt::format("muster: {}\n", remark));
}

class Watch {
 public:
  Watch(const std::vector<std::string>& sources, const std::function<WatchedAnswer()>& answer, AnswerFormat format)
      : answer_(answer), format_(format), is_live_(std::ranges::any_of(sources, is_live)) {
    std::ranges::copy_if(sources, std::back_inserter(files_), [](const auto& source) { return !is_live(source); });
  }

  int run(Nanoseconds interval) {
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

 private:
  // Since the last call, and all files are there.
  bool may_have_changed() {
    std::vector<std::optional<Version>> now;
    for (const std::string& file : files_) now.push_back(version(file));
    const bool is_first = !has_printed_;
    const bool are_there = std::ranges::all_of(now, [](const auto& one) { return one.has_value(); });
    const bool is_new = is_live_ || now != versions_;
    if (!is_first && !(are_there && is_new)) return false;
    versions_ = std::move(now);
    return true;
  }

  int show() {
    WatchedAnswer answer = answer_();
    if (answer.text.empty()) {
      if (is_terminal_) shown_.clear();  // to be printed again, over the failure
      return answer.exit_code;
    }
    if (answer.text == shown_) return kExitAnswered;
    const int code = print(separator() + answer.text, kExitAnswered);
    has_printed_ = true;
    shown_ = std::move(answer.text);
    print_remarks(answer.remarks);
    return code;
  }

  // What comes before an answer: on a terminal, what stands there is erased.
  std::string separator() const {
    if (is_terminal_) return "\x1b[H\x1b[2J";
    return has_printed_ && format_ != AnswerFormat::kJson ? "\n" : "";
  }

  const std::function<WatchedAnswer()>& answer_;
  AnswerFormat format_;
  bool is_live_;
  std::vector<std::string> files_;
  std::vector<std::optional<Version>> versions_;
  std::string shown_;
  bool has_printed_ = false;
  bool is_terminal_ = is_terminal(STDOUT_FILENO);
};

}  // namespace

OptionRow watch_row() {
  return {"watch", "SECONDS",
          "read the cluster again at this interval, and print the answer again if it has changed; a signal ends it"};
}

int give_answer(const Settings& settings, const std::vector<std::string>& sources,
                const std::function<WatchedAnswer()>& answer) {
  const auto interval = settings.duration("watch");
  const auto stdins = std::ranges::count(sources, "-");
  if (interval && stdins > 0) throw UsageError("--watch: stdin cannot be read again; name a file");
  if (stdins > 1) throw UsageError("stdin can be read only once");
  const AnswerFormat format = render_options(settings).format;
  if (interval) {
    install_interrupt();
    return Watch(sources, answer, format).run(*interval);
  }
  const WatchedAnswer given = answer();
  if (given.text.empty()) return given.exit_code;
  const int code = print(given.text, given.exit_code);
  print_remarks(given.remarks);
  return code;
}

}  // namespace muster::cli
