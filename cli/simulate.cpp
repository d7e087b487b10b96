#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/line/plan_log.h"
#include "cli/simulate_output.h"
#include "cli/simulation_grid.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "datasets/simulation/simulation.h"
#include "io/snapshot_reader/event_reader.h"
#include "model/base/parallel.h"
#include "model/build/build_problem.h"
#include "solver/portfolio/scheduling_policy.h"

namespace muster::cli {
namespace {

constexpr std::size_t kEventBytes = std::size_t{1} << 20;  // kept back before they are written

}  // namespace

const CommandSyntax& simulate_syntax() {
  static const std::string policies = fmt::format("{}", fmt::join(portfolio::policy_names(), " "));
  static const CommandSyntax syntax{
      "muster simulate [FILE] [OPTION...]",
      "Replays a workload (a snapshot line, then event lines; see docs/simulation.md) and writes a summary of the "
      "results\n"
      "as one JSON object. Without FILE, or for -, reads stdin.",
      with_policy_options(with_shard_options(
          {{"policy", "NAME",
            "scheduler: greedy, auto, milp; fifo, backfill, easy, kai, clairvoyant; best-fit and others [greedy]",
            kNoLetter, policies.c_str()},
           {"period", "DURATION", "interval between cycles while gangs wait [60s]"},
           {"batch", "N", "run a cycle whenever N pods have arrived, instead of periodically"},
           {"one-by-one", "", "run a cycle after each event, instead of periodically"},
           {"resume-work", "", "interrupted work resumes where it stopped; otherwise it restarts"},
           {"live-moves", "", "moves do not interrupt gangs; otherwise the gang of a moved pod restarts"},
           {"drop", "", "drop gangs that are not placed in the first cycle after their arrival"},
           {"mtbf", "DURATION", "mean time between failures of each node [never]"},
           {"mttr", "DURATION", "mean time to repair of a failed node [1h]"},
           {"until", "INSTANT", "end of the simulation"},
           {"usage-half-life", "DURATION",
            "tell policies what queues have used on average; a use counts half after DURATION [off]"},
           {"seed", "N", "random seed [1]"},
           {"threads", "N", "number of solver threads [the available cores]"},
           {"budget", "DURATION", "time budget of each cycle; results then vary between runs [limits of counted work]"},
           {"events", "FILE", "write all events to FILE as JSON Lines"},
           {"checkpoint", "FILE", "save all plans in FILE; an interrupted run resumes from them"},
           {"timings", "", "report how long the cycles took"},
           {"grid", "FILE", "run an experiment for each line of FILE: options as JSON; docs/simulation.md"},
           {"output", "FILE", "write the answers of --grid to FILE instead of stdout"},
           {"resume", "", "go on writing FILE of --output where an interrupted run stopped"},
           {"calibrate", "", "compare expected starts with actual ones; cycles take longer"},
           {"lenient", "", "ignore keys that the format does not define"},
           {"quiet", "", "print only errors on stderr"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})),
      0, 1};
  return syntax;
}

namespace {

// Of all lines, to distinguish runs: FNV-1a (Fowler, Noll and Vo), 64 bits.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF2'9CE4'8422'2325U;
};

struct SimulateOptions {
  simulation::SimulationOptions simulation;
  portfolio::PolicyOptions policy;
  SimulationTitle title;
  std::string run;  // what a checkpoint must agree with, except the input
  bool tells_clock = false;
};

simulation::SimulationOptions simulation_options(const Settings& settings) {
  simulation::SimulationOptions options;
  const auto period = settings.duration("period");
  const auto batch = settings.integer("batch", 1, 1'000'000'000);
  const bool each = settings.is_on("one-by-one");
  if ((period ? 1 : 0) + (batch ? 1 : 0) + (each ? 1 : 0) > 1) {
    throw UsageError("give only one of --period, --batch and --one-by-one");
  }
  options.period = period.value_or(options.period);
  options.batch = batch.value_or(1);
  options.cycle = batch  ? simulation::CycleRule::kBatch
                  : each ? simulation::CycleRule::kEach
                         : simulation::CycleRule::kPeriod;
  options.resumes_work = settings.is_on("resume-work");
  options.moves_live = settings.is_on("live-moves");
  options.drops = settings.is_on("drop");
  options.calibrates = settings.is_on("calibrate");
  constexpr Nanoseconds kLongest = Nanoseconds{1461} * 86'400 * kNanosecondsPerSecond,
                        kHour = 3600 * kNanosecondsPerSecond;
  options.failures.mean_between = settings.duration("mtbf").value_or(0);
  options.failures.mean_to_repair = settings.duration("mttr").value_or(kHour);
  if (std::max(options.failures.mean_between, options.failures.mean_to_repair) > kLongest) {
    throw UsageError("--mtbf and --mttr are at most four years");
  }
  options.failures.seed =
      static_cast<std::uint64_t>(settings.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  options.until = settings.instant("until");
  options.usage_half_life = settings.duration("usage-half-life").value_or(0);
  return options;
}

std::string cycle_name(const simulation::SimulationOptions& options) {
  switch (options.cycle) {
    case simulation::CycleRule::kBatch:
      return fmt::format("batch {}", options.batch);
    case simulation::CycleRule::kEach:
      return "one by one";
    default:
      return fmt::format("period {}", static_cast<double>(options.period) / 1e9);
  }
}

SimulateOptions simulation_options_of(const Settings& settings) {
  SimulateOptions options;
  options.simulation = simulation_options(settings);
  options.policy.name = settings.choice("policy");
  options.simulation.durations = portfolio::known_durations(options.policy.name);
  options.policy.threads = static_cast<std::int32_t>(settings.integer("threads", 1, 1024).value_or(usable_cores()));
  options.policy.seed = options.simulation.failures.seed;
  options.policy.budget = settings.duration("budget").value_or(0);
  options.tells_clock = settings.is_on("timings");
  options.title = {options.policy.name, cycle_name(options.simulation), options.policy.seed};
  const simulation::SimulationOptions& s = options.simulation;
  options.run = fmt::format(
      "{}; {}; seed {}; {}{}{}{}mtbf {}; mttr {}; until {}; budget {}", options.policy.name, options.title.cycle,
      options.policy.seed, s.resumes_work ? "resume; " : "", s.moves_live ? "live; " : "", s.drops ? "drop; " : "",
      s.usage_half_life > 0 ? fmt::format("usage {}; ", s.usage_half_life) : "", s.failures.mean_between,
      s.failures.mean_to_repair, s.until.value_or(-1), options.policy.budget);
  for (const OptionRow& row : with_policy_options({})) {
    if (const auto told = settings.text(row.name)) options.run += fmt::format("; {} {}", row.name, *told);
  }
  return options;
}

// The progress of the replay, on a terminal, at most ten times a second.
class Progress {
 public:
  explicit Progress(bool is_shown) : is_shown_(is_shown) {}
  ~Progress() {
    if (is_drawn_) write_all(STDERR_FILENO, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const simulation::Simulation& simulation) {
    if (!is_shown_ || portfolio::Clock::now() - last_ < std::chrono::milliseconds(100)) return;
    last_ = portfolio::Clock::now();
    is_drawn_ = true;
    const std::size_t all = simulation.workload().events.size();
    write_all(STDERR_FILENO,
              fmt::format("\r\033[K{:.1f} %, cycle {}, {:.1f} h",
                          100.0 * static_cast<double>(simulation.events_done()) /
                              static_cast<double>(std::max<std::size_t>(1, all)),
                          simulation.totals().cycles,
                          static_cast<double>(simulation.now() - simulation.workload().all.time) / 3.6e12));
  }

 private:
  bool is_shown_, is_drawn_ = false;
  portfolio::Clock::time_point last_{};
};

// One run: the workload, the files it writes, and the loop.
class Replay {
 public:
  Replay(SimulateOptions options, Console& console, bool shows_progress)
      : options_(std::move(options)),
        console_(console),
        progress_(shows_progress),
        policy_(options_.policy, kOwnProgram) {}
  ~Replay() {
    if (events_ >= 0) close(events_);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Each returns an exit code, kExitAnswered on success.
  int read(const std::string& file, const muster_v1::ReaderOptions& reader_options);
  int open(const std::optional<std::string>& events, const std::optional<std::string>& checkpoint);
  int run();

 private:
  int fail(std::string_view place, std::string_view message, int code) {
    console_.say(Severity::kError, fmt::format("{}: {}", escaped(place), escaped(message)));
    return code;
  }
  int fail(const InputError& error, int code) { return fail(error.path, error.message, code); }
  int cycle();
  int flush(std::size_t beyond);

  SimulateOptions options_;
  Console& console_;
  Progress progress_;
  portfolio::SchedulingPolicy policy_;
  Workload workload_;
  Fingerprint fingerprint_;
  PlanLog log_;
  int events_ = -1;
  std::string text_;
  std::unique_ptr<simulation::Simulation> simulation_;
  std::vector<double> cycle_ms_;
  std::optional<double> this_cycle_ms_;
  std::int64_t defects_ = 0;  // plans that the referee did not pass, workers that died
};

int Replay::read(const std::string& file, const muster_v1::ReaderOptions& reader_options) {
  LineSource source({file}, {reader_options.max_line_bytes, wake_descriptor()});
  muster_v1::EventReader reader(reader_options);
  bool any = false;
  while (source.failure().empty()) {
    const auto line = source.next();
    if (!line) break;
    any = true;
    fingerprint_.add(line->text);
    fingerprint_.add("\n");
    if (const auto error = reader.read(line->text)) {
      console_.say(
          Severity::kError,
          fmt::format("{} at {}: {}", error_code_text(error->code), escaped(error->path), escaped(error->message)),
          line->number);
      return kExitNoValidLine;
    }
  }
  if (received_signal() != 0) return kExitSignalled + received_signal();
  if (source.failure().empty() && any) {
    workload_ = reader.take();
    return kExitAnswered;
  }
  console_.say(Severity::kError, source.failure().empty() ? "the input contains no line" : source.failure());
  return kExitNoInput;
}

int Replay::open(const std::optional<std::string>& events, const std::optional<std::string>& checkpoint) {
  if (checkpoint) {
    const std::string run = fmt::format("{}; input {:016x}", options_.run, fingerprint_.value());
    if (const auto error = log_.open(*checkpoint, run)) return fail(*error, kExitCannotCreate);
  }
  if (events) {
    events_ = ::open(events->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (events_ < 0) return fail(*events, std::strerror(errno), kExitCannotCreate);
    write_title(options_.title, workload_, text_);
  }
  return kExitAnswered;
}

int Replay::flush(std::size_t beyond) {
  if (text_.size() < beyond) return kExitAnswered;
  const int error = events_ < 0 ? 0 : write_all(events_, text_);
  text_.clear();
  return error == 0 ? kExitAnswered : fail("--events", std::strerror(error), kExitCannotWrite);
}

int Replay::cycle() {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  Snapshot& snapshot = simulation_->snapshot();
  Result<Problem> problem = build_problem(snapshot);
  if (!problem) return fail(problem.error(), kExitNoValidLine);
  const FairShares shares = compute_fair_shares(*problem);
  const auto number = static_cast<std::size_t>(simulation_->totals().cycles);
  Plan plan;
  if (number < log_.known()) {
    Result<Plan> known = log_.plan(number, *problem);
    if (!known) return fail(known.error(), kExitNoValidLine);
    plan = *std::move(known);
    if (!referee::check_plan(snapshot, *problem, shares, plan).empty()) {
      return fail("--checkpoint", fmt::format("the plan of cycle {} breaks the rules", number), kExitNoValidLine);
    }
  } else {
    std::vector<std::string> defects;
    plan = policy_.decide(snapshot, *problem, shares, defects);
    defects_ += static_cast<std::int64_t>(defects.size());
    for (const std::string& defect : defects)
      console_.say(Severity::kError, fmt::format("cycle {}: {}", number, escaped(defect)));
    if (const int error = log_.append(*problem, plan))
      return fail("--checkpoint", std::strerror(error), kExitCannotWrite);
  }
  if (options_.tells_clock) {
    this_cycle_ms_ = std::chrono::duration<double, std::milli>(portfolio::Clock::now() - begun).count();
    cycle_ms_.push_back(*this_cycle_ms_);
  }
  simulation_->carry_out(*std::move(problem), shares, plan);
  return flush(kEventBytes);
}

int Replay::run() {
  simulation::Simulation::Sink sink;
  if (events_ >= 0)
    sink = [this](const simulation::SimulationRecord& record) { write_record(record, this_cycle_ms_, text_); };
  Result<std::unique_ptr<simulation::Simulation>> begun =
      simulation::Simulation::begin(workload_, options_.simulation, sink);
  if (!begun) return fail(begun.error(), kExitNoValidLine);
  simulation_ = std::move(*begun);
  while (simulation_->advance()) {
    if (received_signal() != 0) break;
    if (const int code = cycle(); code != kExitAnswered) return code;
    progress_.show(*simulation_);
  }
  if (const int code = flush(0); code != kExitAnswered) return code;
  if (received_signal() != 0) return kExitSignalled + received_signal();
  std::string summary;
  write_simulation_summary(options_.title, *simulation_, std::move(cycle_ms_), summary);
  return print(summary, defects_ == 0 ? kExitAnswered : kExitInternal);
}

}  // namespace

int run_simulate(int argc, const char* const* argv) {
  const Settings settings(simulate_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(simulate_syntax()), kExitAnswered);
  const bool is_quiet = settings.is_on("quiet");
  Console console({LogFormat::kText, is_quiet, false});
  install_interrupt();
  settings.check_outputs({"events", "checkpoint", "output"});
  const muster_v1::ReaderOptions reader = reader_options(settings);
  if (const auto grid = settings.text("grid")) {
    GridOptions options{*grid,
                        std::nullopt,
                        settings.text("output"),
                        settings.is_on("resume"),
                        shard_of(settings),
                        reader.max_line_bytes};
    if (!settings.arguments().empty()) options.workload = settings.arguments().front();
    return run_simulation_grid(options, console);
  }
  for (const char* name : {"shard", "shards", "output", "resume"}) {
    if (settings.text(name)) throw UsageError(fmt::format("--{} needs --grid", name));
  }
  Replay replay(simulation_options_of(settings), console, !is_quiet && is_terminal(STDERR_FILENO));
  const std::string file = settings.arguments().empty() ? "-" : settings.arguments().front();
  if (const int code = replay.read(file, reader); code != kExitAnswered) return code;
  if (const int code = replay.open(settings.text("events"), settings.text("checkpoint")); code != kExitAnswered)
    return code;
  return replay.run();
}

}  // namespace muster::cli
