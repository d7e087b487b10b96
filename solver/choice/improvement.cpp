#include "solver/choice/improvement.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/base/tuning.h"

namespace muster::choice {
namespace {

constexpr LoopTuning kLoop = kTuning.milp.loop;
constexpr double kGap = 0.5;  // of a unit: objectives are integers
constexpr std::size_t kMostDefects = 3;

void note_defect(const cbc::MilpAnswer& answer, const Deadline& deadline, std::vector<std::string>& defects) {
  if (answer.status == cbc::SolveStatus::kFailed && !deadline.passed()) defects.push_back(answer.message);
}

bool is_solved(const cbc::MilpAnswer& answer) {
  return answer.status == cbc::SolveStatus::kOptimal || answer.status == cbc::SolveStatus::kInfeasible;
}

bool is_settled_in(const Incumbent& incumbent) { return incumbent.first_open() == incumbent.levels().size(); }

}  // namespace

PartSearch::PartSearch(const Input& input, std::uint64_t seed)
    : in_(input), vain_(input.incumbent.levels().size(), 0), random_(seed), task_{.end = input.deadline} {}

bool PartSearch::is_settled() const { return is_settled_in(in_.incumbent); }

bool PartSearch::is_stale() const { return task_.asked != Asked::kNewer && in_.incumbent.is_proven(task_.level); }

std::size_t PartSearch::next_level() {
  const std::size_t first = in_.incumbent.first_open();
  std::uniform_real_distribution<double> any(0, 1);
  for (std::size_t level = first; level < vain_.size(); ++level) {
    if (in_.incumbent.is_proven(level)) continue;
    if (any(random_) < 1 / (1 + vain_[level] / kLoop.patience)) return level;
  }
  return first;
}

const cbc::Question* PartSearch::next() {
  if (is_settled() || is_stuck_ || in_.deadline.passed() || in_.defects.size() >= kMostDefects) return nullptr;
  if (std::optional<lp::Milp> newer = newer_ ? newer_() : std::nullopt; newer) return ask_for_newer(*std::move(newer));
  task_.asked = Asked::kPart;
  task_.level = next_level();
  task_.kind.reset();
  Neighbourhood part;
  // The values of all levels before it must be those that the solution can have.
  if (task_.level >= in_.incumbent.raised()) {
    task_.level = in_.incumbent.raised();
    part = in_.neighbourhoods.from(in_.first_of_levels);
  } else {
    const NeighbourhoodPicker::Pick pick = in_.picker.next(random_);
    task_.kind = pick.kind;
    if (pick.kind == NeighbourhoodKind::kRelaxation && !knows_relaxation()) return ask_for_relaxation();
    part = in_.neighbourhoods.free(pick.kind, pick.size, in_.incumbent.levels()[task_.level].id,
                                   {in_.incumbent.x(), relaxation_.x}, random_);
  }
  task_.part = sub_model(in_.incumbent, part, task_.level, Aim::kBetter);
  task_.given = in_.incumbent.values();
  task_.base = in_.incumbent.x();
  question_ = {task_.part.milp, {}};
  question_.request.way = in_.way;
  question_.request.absolute_gap = kGap;
  // To find nothing then is a proof: with a limit, what CBC's preprocessing alone has decided is examined without it.
  if (task_.part.is_whole) question_.request.cutoff = units_of_value() + kGap;
  set_time();
  return &question_;
}

// Of the incumbent in the level, as the objective of the whole model has it.
double PartSearch::units_of_value() const {
  const ModelLevel& level = in_.incumbent.levels()[task_.level];
  const std::int64_t units = (in_.incumbent.value(task_.level) - level.expression.constant) / level.divisor;
  return level.sign * static_cast<double>(units);
}

bool PartSearch::knows_relaxation() const {
  const auto end = relaxation_.given.begin() + static_cast<std::ptrdiff_t>(task_.level);
  return !relaxation_.x.empty() && relaxation_.level == task_.level &&
         std::equal(relaxation_.given.begin(), end, in_.incumbent.values().begin());
}

const cbc::Question* PartSearch::ask_for_relaxation() {
  task_.asked = Asked::kRelaxation;
  task_.given = in_.incumbent.values();
  task_.part = sub_model(in_.incumbent, in_.neighbourhoods.all(), task_.level, Aim::kBest);
  question_ = {task_.part.milp, {}};
  question_.request.relax = true;
  set_time();
  return &question_;
}

const cbc::Question* PartSearch::ask_for_newer(lp::Milp model) {
  task_.asked = Asked::kNewer;
  question_ = {std::move(model), {}};
  task_.end = in_.deadline.part(kTuning.parts.side);
  question_.request.deadline = task_.end.end();
  question_.request.work = task_.end.work();
  return &question_;
}

// A part of what is left, and no more than a moment of a long time.
void PartSearch::set_time() {
  double share = kLoop.share;
  task_.target = share * static_cast<double>(in_.deadline.work().left());
  if (!in_.deadline.is_deterministic()) {
    const double left = std::chrono::duration<double>(in_.deadline.left()).count();
    task_.target = std::min(kLoop.seconds, share * left);
    share = left > 0 ? task_.target / left : 1;
  }
  task_.end = in_.deadline.part(std::min(1.0, kLoop.stop * (task_.part.is_whole ? patience_ : 1) * share));
  question_.request.deadline = task_.end.end();
  question_.request.work = task_.end.work();
  task_.begun = Deadline::Clock::now();
}

void PartSearch::hear(cbc::MilpAnswer answer) {
  note_defect(answer, task_.end, in_.defects);
  if (task_.asked == Asked::kNewer) {
    if (!answer.x.empty()) in_.incumbent.begin(std::move(answer.x));
    return;
  }
  const std::chrono::duration<double> passed = Deadline::Clock::now() - task_.begun;
  const double spent = in_.deadline.is_deterministic() ? static_cast<double>(answer.work) : passed.count();
  if (task_.asked == Asked::kRelaxation) {
    if (answer.status == cbc::SolveStatus::kOptimal) {
      in_.incumbent.tighten(task_.level, answer.bound, task_.given);
      relaxation_ = {task_.level, std::move(task_.given), std::move(answer.x)};
    } else {
      in_.picker.hear(*task_.kind, false, false, task_.target > 0 ? spent / task_.target : 1);
    }
    return;
  }
  const bool has_gained =
      !answer.x.empty() && in_.incumbent.offer(task_.part.whole(std::move(task_.base), answer.x), task_.level);
  if (task_.part.is_whole && answer.status == cbc::SolveStatus::kInfeasible)
    in_.incumbent.tighten_to_value(task_.level, task_.given);
  else if (task_.part.is_whole)
    in_.incumbent.tighten(task_.level, answer.bound, task_.given);
  // Ended by itself, without a result: numbers that doubles do not tell apart.
  is_stuck_ = answer.status == cbc::SolveStatus::kNoSolution && spent < task_.target;
  if (task_.kind) return grow_or_shrink(answer, has_gained, spent);
  if (!has_gained && in_.incumbent.raised() == task_.level) in_.incumbent.set_raised(task_.level + 1);
}

void PartSearch::grow_or_shrink(const cbc::MilpAnswer& answer, bool has_gained, double spent) {
  vain_[task_.level] = has_gained ? 0 : vain_[task_.level] + 1;
  if (task_.part.is_whole && !is_solved(answer)) patience_ *= kLoop.growth;
  in_.picker.hear(*task_.kind, has_gained, is_solved(answer), task_.target > 0 ? spent / task_.target : 1);
}

BoundSearch::BoundSearch(Incumbent& incumbent, const Neighbourhoods& neighbourhoods, const Deadline& deadline,
                         std::vector<std::string>& defects)
    : incumbent_(incumbent),
      neighbourhoods_(neighbourhoods),
      deadline_(deadline),
      defects_(defects),
      has_asked_above_(incumbent.levels().size(), false),
      tries_(incumbent.levels().size(), 0),
      task_{.end = deadline} {}

bool BoundSearch::is_settled() const { return is_settled_in(incumbent_); }

bool BoundSearch::is_stale() const {
  const auto end = task_.given.begin() + static_cast<std::ptrdiff_t>(task_.level);
  return incumbent_.is_proven(task_.level) || !std::equal(task_.given.begin(), end, incumbent_.values().begin());
}

std::size_t BoundSearch::next_level() const {
  // A level that is not raised would be held at less than it can have.
  const std::size_t end = std::min(incumbent_.raised() + 1, tries_.size());
  std::size_t least = tries_.size();
  for (std::size_t level = 0; level < end; ++level)
    if (!incumbent_.is_proven(level) && (least == tries_.size() || tries_[level] < tries_[least])) least = level;
  return least == tries_.size() ? incumbent_.first_open() : least;
}

const cbc::Question* BoundSearch::next() {
  if (is_settled() || is_stuck_ || deadline_.passed() || defects_.size() >= kMostDefects) return nullptr;
  if (std::optional<Neighbourhood> rest = std::exchange(rest_, std::nullopt); rest && !is_stale())
    return ask(Asked::kRest, task_.level, *std::move(rest));
  const std::size_t level = next_level();
  const ModelLevel& of = incumbent_.levels()[level];
  if (of.sign > 0 && !has_asked_above_[level]) {
    has_asked_above_[level] = true;
    if (std::optional<Neighbourhood> above = neighbourhoods_.above(of.id.priority, of.expression))
      return ask(Asked::kAbove, level, *std::move(above));
  }
  ++tries_[level];
  return ask(Asked::kWhole, level, neighbourhoods_.all());
}

const cbc::Question* BoundSearch::ask(Asked what, std::size_t level, Neighbourhood part) {
  const bool is_rest = what == Asked::kRest;
  task_ = {what, level, incumbent_.values(), incumbent_.x(), std::move(part), {}, deadline_};
  task_.model = sub_model(incumbent_, task_.part, level, is_rest ? Aim::kBetter : Aim::kBest);
  task_.end = deadline_.part(is_rest ? kTuning.parts.side : kTuning.parts.half);
  question_ = {task_.model.milp, {}};
  question_.request.absolute_gap = kGap;
  if (!is_rest) question_.request.start = task_.model.part_of(task_.base);
  question_.request.is_proof = !is_rest;
  question_.request.deadline = task_.end.end();
  question_.request.work = task_.end.work();
  return &question_;
}

void BoundSearch::hear_bound(double bound) {
  if (task_.asked != Asked::kRest) incumbent_.tighten(task_.level, bound, task_.given);
}

void BoundSearch::hear(cbc::MilpAnswer answer) {
  note_defect(answer, task_.end, defects_);
  if (task_.asked != Asked::kRest) {
    if (answer.status != cbc::SolveStatus::kFailed && answer.status != cbc::SolveStatus::kInfeasible)
      hear_bound(answer.bound);
    has_solved_ = is_solved(answer) || is_stale();
    is_stuck_ = !has_solved_ && answer.status != cbc::SolveStatus::kFailed && !task_.end.passed();
  }
  if (answer.x.empty()) return;
  std::vector<double> x = task_.model.whole(std::move(task_.base), answer.x);
  if (task_.asked != Asked::kAbove) {
    incumbent_.offer(std::move(x), task_.level);
    return;
  }
  const ModelLevel& of = incumbent_.levels()[task_.level];
  if (of.sign * (lp::value_of(of.expression, x) - incumbent_.value(task_.level)) > 0)
    rest_ = neighbourhoods_.completing(x, task_.part.is_left_out);
}

const cbc::Question* TakeTurns::next() {
  const bool is_of_bounds = bounds_.has_solved() || of_bounds_ <= of_parts_;
  begun_ = Deadline::Clock::now();
  turn_ = is_of_bounds ? static_cast<cbc::Lane*>(&bounds_) : &parts_;
  if (const cbc::Question* question = turn_->next()) return question;
  turn_ = is_of_bounds ? static_cast<cbc::Lane*>(&parts_) : &bounds_;
  return turn_->next();
}

void TakeTurns::hear(cbc::MilpAnswer answer) {
  (turn_ == &bounds_ ? of_bounds_ : of_parts_) += Deadline::Clock::now() - begun_;
  turn_->hear(std::move(answer));
}

}  // namespace muster::choice
