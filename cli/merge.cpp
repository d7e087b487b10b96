#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cells/merge_cells.h"
#include "cli/commands.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "model/base/words.h"

namespace muster::cli {

const CommandSyntax& merge_syntax() {
  static const CommandSyntax syntax{
      "muster merge FILE... [OPTION...]",
      "Puts the lines of N shards back in order: FILE number I holds what 'muster solve --shard I/N' has written. Says "
      "which\n"
      "lines are missing, and ends with 1 if any is. With --cells, makes one plan of the plans of all cells of 'muster "
      "split'.",
      {{"of", "SNAPSHOTS", "the input of the shards, which tells how many lines there must be; or of 'muster split'"},
       {"cells", "LEDGER", "the FILEs have the plans of the cells that the ledger names, in any order"},
       {"plan", "FILE", "with --cells: the plan of the round before, which is kept where a cell has no better one"},
       {"budget", "DURATION", "with --cells: time for the bounds and the reasons (default 1s)"},
       {"improve", "DURATION", "with --cells: time for a search over the whole cluster (default: none)"},
       {"threads", "N", "with --cells: number of threads (default: the available cores)"},
       {"lenient", "", "with --cells: ignore keys that the format does not define"},
       {"strict", "", "with --cells: treat an inconsistent object as an error, not as a warning"},
       {"quiet", "", "print only errors on stderr"}},
      1,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

namespace {

constexpr std::size_t kMostNamed = 10;                      // lines that are missing
constexpr std::size_t kOutputBytes = std::size_t{1} << 20;  // kept back before they are written

// Lines that have not been answered, counted from 1.
class MissingLines {
 public:
  void add(std::int64_t line, const std::string& file) {
    if (++count_ <= kMostNamed) named_.push_back(fmt::format("{} ({})", line, escaped(file)));
  }
  bool any() const { return count_ > 0; }
  std::string text() const {
    return fmt::format("{} missing: {}{}", counted(static_cast<std::int64_t>(count_), "line"), fmt::join(named_, ", "),
                       count_ > named_.size() ? fmt::format(" and {} more", count_ - named_.size()) : "");
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> named_;
};

// Takes a line of each shard in turn.
class Merge {
 public:
  // `whole`: the file of all inputs.
  Merge(const std::vector<std::string>& files, const std::optional<std::string>& whole) : files_(files) {
    for (const std::string& file : files) shards_.push_back(std::make_unique<LineSource>(std::vector{file}, kOptions));
    if (whole) whole_ = std::make_unique<LineSource>(std::vector{*whole}, kOptions);
  }

  // An exit code; kExitAnswered: all was written, though lines may be missing.
  int run(Console& console) {
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      for (std::size_t i = 0; i < shards_.size(); ++i) goes_on = take(i) || goes_on;
      if (const int code = report_failure(console); code != kExitAnswered) return code;
      if (output_.size() < kOutputBytes && goes_on) continue;
      if (const int code = print(output_, kExitAnswered); code != kExitAnswered) return code;
      output_.clear();
    }
    return kExitAnswered;
  }
  const MissingLines& missing() const { return missing_; }
  std::int64_t lines() const { return line_; }  // that there are or must be

 private:
  static constexpr LineSource::Options kOptions{};

  // The next line of the whole, which is of that shard. False: the whole has no more as far as this shard tells.
  bool take(std::size_t i) {
    ++position_;
    const bool is_expected = whole_ && whole_->next().has_value();
    const auto line = shards_[i]->next();
    const bool is_there = line && line->is_ended;  // else torn off
    if (!is_there && !is_expected) {
      absent_.push_back({position_, i});
      return false;
    }
    if (whole_ && !is_expected) {
      too_long_ = i;
      return false;
    }
    // Those before it are missing, too.
    for (const auto& [position, shard] : absent_) missing_.add(position, files_[shard]);
    absent_.clear();
    line_ = position_;
    if (is_there) {
      output_ += line->text;
      output_ += '\n';
    } else {
      missing_.add(position_, files_[i]);
    }
    return true;
  }

  int report_failure(Console& console) const {
    for (const auto& shard : shards_) {
      if (!shard->failure().empty()) return fail(console, shard->failure(), kExitNoInput);
    }
    if (whole_ && !whole_->failure().empty()) return fail(console, whole_->failure(), kExitNoInput);
    if (!too_long_) return kExitAnswered;
    return fail(console, fmt::format("{} has more lines than its part of --of", escaped(files_[*too_long_])),
                kExitSomeErrors);
  }
  static int fail(Console& console, std::string_view message, int code) {
    console.say(Severity::kError, message);
    return code;
  }

  const std::vector<std::string>& files_;
  std::vector<std::unique_ptr<LineSource>> shards_;
  std::unique_ptr<LineSource> whole_;
  std::int64_t position_ = 0, line_ = 0;
  std::vector<std::pair<std::int64_t, std::size_t>> absent_;  // positions, and their shards, since the last line
  std::optional<std::size_t> too_long_;
  MissingLines missing_;
  std::string output_;
};

}  // namespace

int run_merge(int argc, const char* const* argv) {
  const Settings settings(merge_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(merge_syntax()), kExitAnswered);
  Console console({LogFormat::kText, settings.is_on("quiet"), false});
  if (settings.text("cells")) return merge_cells(settings, console);
  Merge merge(settings.arguments(), settings.text("of"));
  if (const int code = merge.run(console); code != kExitAnswered) return code;
  if (merge.missing().any()) {
    console.say(Severity::kError, merge.missing().text());
    return kExitSomeErrors;
  }
  if (merge.lines() > 0 || settings.text("of")) return kExitAnswered;
  console.say(Severity::kError, "the files contain no line");
  return kExitNoInput;
}

}  // namespace muster::cli
