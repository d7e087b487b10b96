// `muster diff`: what the plans of one file decide differently from those of another.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/answers/plan_difference.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "model/build/build_problem.h"

namespace muster::cli {

const CommandSyntax& diff_syntax() {
  static const CommandSyntax syntax{
      "muster diff PLANS PLANS [OPTION...]",
      "Shows what the plans of the second file decide differently from those of the first: pods, gangs, levels, "
      "queues.\n"
      "Line n of the first file is compared with line n of the second (- is stdin). Exit code 0: no difference, 1: "
      "differences.",
      with_answer_options(
          {{"snapshot", "FILE", "the snapshots of the plans, for the gangs of pods (default: by the names of pods)"},
           {"lenient", "", "ignore keys of snapshots that the format does not define"},
           {"strict", "", "treat an inconsistent object of a snapshot as an error of its whole line"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}}),
      2, 2};
  return syntax;
}

namespace {

void report(const std::string& place, const std::string& message) {
  write_all(STDERR_FILENO, fmt::format("muster diff: {}: {}\n", escaped(place), escaped(message)));
}

std::string place_of(const std::string& file, const LineSource::Line& line) {
  return fmt::format("{}: line {}", file, line.number);
}

// The lines of two files of plans, one pair after the other.
class Comparison {
 public:
  Comparison(const std::vector<std::string>& files, const std::optional<std::string>& snapshots,
             const muster_v1::ReaderOptions& reader, const RenderOptions& render)
      : names_(files), before_({files[0]}, {}), after_({files[1]}, {}), reader_(reader), render_(render) {
    if (snapshots) snapshots_.emplace(std::vector<std::string>{*snapshots}, LineSource::Options{reader.max_line_bytes});
    if (snapshots) snapshot_name_ = *snapshots;
  }

  // The exit code.
  int run();
  const std::string& text() const { return text_; }

 private:
  // A line of one of the files.
  struct Side {
    bool is_there = false;             // the file has the line
    std::optional<ComparedPlan> plan;  // none: it could not be read
  };
  Side read(LineSource& source, const std::string& name, const Problem* problem);
  // Of the next snapshot, valid until the next call; none if there is no snapshot that can be read.
  const Problem* next_problem();
  void compare(const Side& before, const Side& after);
  void add(const AnswerDocument& document, bool differs);

  const std::vector<std::string>& names_;
  LineSource before_, after_;
  std::optional<LineSource> snapshots_;
  std::string snapshot_name_;
  muster_v1::SnapshotReader reader_;
  std::optional<Snapshot> snapshot_;
  std::optional<Problem> problem_;
  RenderOptions render_;
  std::string text_;       // of the lines that differ; in JSON, of all
  std::string same_text_;  // of the first line that does not
  std::int64_t lines_ = 0, read_ = 0, different_ = 0;
};

Comparison::Side Comparison::read(LineSource& source, const std::string& name, const Problem* problem) {
  const std::optional<LineSource::Line> line = source.next();
  if (!line) return {};
  Result<ComparedPlan> plan = compared_plan(line->text, problem);
  if (!plan) {
    report(place_of(name, *line), fmt::format("{}: {}", plan.error().path, plan.error().message));
    return {true, std::nullopt};
  }
  ++read_;
  return {true, std::move(*plan)};
}

const Problem* Comparison::next_problem() {
  if (!snapshots_) return nullptr;
  const std::optional<LineSource::Line> line = snapshots_->next();
  if (!line) return nullptr;
  problem_.reset();
  Result<Snapshot> snapshot = reader_.read(line->text);
  if (snapshot) {
    snapshot_ = std::move(*snapshot);
    Result<Problem> problem = build_problem(*snapshot_);
    if (problem) return &problem_.emplace(std::move(*problem));
    report(place_of(snapshot_name_, *line), problem.error().message);
    return nullptr;
  }
  report(place_of(snapshot_name_, *line), fmt::format("{}: {}", snapshot.error().path, snapshot.error().message));
  return nullptr;
}

void Comparison::add(const AnswerDocument& document, bool differs) {
  std::string text = render(document, render_);
  different_ += differs ? 1 : 0;
  if (render_.format != AnswerFormat::kJson && !differs) {
    if (same_text_.empty()) same_text_ = std::move(text);
    return;
  }
  if (render_.format != AnswerFormat::kJson && !text_.empty()) text_ += '\n';
  text_ += text;
}

void Comparison::compare(const Side& before, const Side& after) {
  AnswerDocument document("diff");
  document.add_field("line", "Line", lines_, lines_ > 1 ? Shown::kAlways : Shown::kJson);
  if (before.plan && after.plan) {
    const PlanDifference difference = difference_of(*before.plan, *after.plan);
    difference.write(document);
    return add(document, !difference.is_empty());
  }
  document.add_field("different", "Different", true);
  const auto tell = [&](const Side& side, const std::string& name) {
    if (!side.is_there) document.add_note(name + " has no such line", Meaning::kBad);
    if (side.is_there && !side.plan) document.add_note(name + ": the line cannot be read as a plan", Meaning::kBad);
  };
  tell(before, names_[0]);
  tell(after, names_[1]);
  add(document, true);
}

int Comparison::run() {
  while (before_.failure().empty() && after_.failure().empty()) {
    const Problem* problem = next_problem();
    const Side before = read(before_, names_[0], problem), after = read(after_, names_[1], problem);
    if (!before.is_there && !after.is_there) break;
    ++lines_;
    compare(before, after);
  }
  for (const LineSource* source : {&before_, &after_, snapshots_ ? &*snapshots_ : nullptr}) {
    if (source == nullptr || source->failure().empty()) continue;
    write_all(STDERR_FILENO, fmt::format("muster diff: {}\n", source->failure()));
    return kExitNoInput;
  }
  if (lines_ == 0) {
    write_all(STDERR_FILENO, "muster diff: the files contain no line\n");
    return kExitNoInput;
  }
  if (read_ == 0) return kExitNoValidLine;
  if (render_.format != AnswerFormat::kJson && lines_ == 1) text_ += same_text_;
  if (render_.format != AnswerFormat::kJson && lines_ > 1) {
    text_ += fmt::format("{}{} of {} lines differ\n", text_.empty() ? "" : "\n", different_, lines_);
  }
  return different_ > 0 ? kExitDifferent : kExitAnswered;
}

}  // namespace

int run_diff(int argc, const char* const* argv) {
  const Settings settings(diff_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(diff_syntax()), kExitAnswered);
  std::vector<std::string> files = settings.arguments();
  const std::optional<std::string> snapshots = settings.text("snapshot");
  if (snapshots) files.push_back(*snapshots);
  if (std::ranges::count(files, "-") > 1) throw UsageError("stdin can be read only once");
  Comparison comparison(settings.arguments(), snapshots, reader_options(settings), render_options(settings));
  const int code = comparison.run();
  return print(comparison.text(), code);
}

}  // namespace muster::cli
