#include "cli/answers/outcome.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/terminal/plan_table.h"
#include "model/base/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMostNames = 4;
using Tally = std::map<std::string, std::int64_t, std::less<>>;

GangOutcome::Counts sorted(const Tally& tally) {
  GangOutcome::Counts counts(tally.begin(), tally.end());
  std::ranges::stable_sort(counts, [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

// What a plan places, and what it evicts or moves for others, by gang.
class PlanByGang {
 public:
  explicit PlanByGang(const answers::Run& run) : run_(run), placed_(run.problem.gangs.size()), leaving_(placed_) {
    const Plan& plan = run.solution.plan;
    for (std::size_t i = 0; i < plan.placements.size(); ++i)
      placed_[run.problem.pods[plan.placements[i].pod].gang].push_back(i);
    for (std::size_t i = 0; i < plan.evictions.size(); ++i) {
      evicted_.insert(plan.evictions[i].pod);
      if (!plan.evictions[i].for_gang.is_none()) leaving_[plan.evictions[i].for_gang].push_back(i);
    }
  }

  void add_places(GangIndex gang, GangOutcome& outcome) const {
    Tally nodes;
    std::set<PodIndex> leaving;
    for (const std::size_t i : placed_[gang]) {
      const Placement& placement = run_.solution.plan.placements[i];
      ++nodes[std::string(run_.snapshot->nodes[placement.node.value()].name)];
      for (const PodIndex pod : placement.after) {
        if (!evicted_.contains(pod)) leaving.insert(pod);
      }
      if (!placement.after.empty()) outcome.is_at_once = false;
    }
    outcome.nodes = sorted(nodes);
    outcome.leaving = std::ssize(leaving);
  }

  void add_departures(GangIndex gang, GangOutcome& outcome) const {
    Tally evicted, moved;
    for (const std::size_t i : leaving_[gang]) {
      const Eviction& eviction = run_.solution.plan.evictions[i];
      Tally& tally = eviction.reason == EvictionReason::kConsolidate ? moved : evicted;
      ++tally[std::string(run_.problem.gangs[run_.problem.pods[eviction.pod].gang].name)];
    }
    outcome.evicted = sorted(evicted);
    outcome.moved = sorted(moved);
  }

 private:
  const answers::Run& run_;
  Indexed<GangIndex, std::vector<std::size_t>> placed_, leaving_;  // positions in the plan's lists
  std::set<PodIndex> evicted_;
};

void add_reason(const explain::GangReport& report, GangOutcome& outcome) {
  if (report.reason.code != explain::ReasonCode::kNone) {
    outcome.obstacle.reason = explain::reason_text(report.reason);
    outcome.obstacle.words = reason_words(report.reason);
  }
  if (report.make_room != explain::MakeRoomCode::kNone)
    outcome.obstacle.make_room = explain::make_room_text(report.make_room);
  outcome.obstacle.message = report.message;
  for (const explain::Blocker& blocker : report.blockers)
    outcome.obstacle.blockers.emplace_back(explain::filter_text(blocker.filter), blocker.nodes);
}

std::int64_t total(const GangOutcome::Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

// "evicts 2 pods of ml/sweep, moves 1 pod of ml/web"; empty: nothing has to leave.
std::string departures_text(const GangOutcome& outcome) {
  std::string text;
  const auto add = [&](const char* verb, const GangOutcome::Counts& counts) {
    if (counts.empty()) return;
    text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", verb, counted(total(counts), "pod"),
                        names_text(counts, kMostNames));
  };
  add("evicts", outcome.evicted);
  add("moves", outcome.moved);
  return text;
}

std::vector<std::string> listed(const GangOutcome::Counts& counts) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts) texts.push_back(fmt::format("{}: {}", name, count));
  return texts;
}

GangOutcome outcome_of(const answers::Run& run, const PlanByGang& plan, std::string_view gang) {
  GangOutcome outcome;
  outcome.name = gang;
  const std::optional<GangIndex> index = run.find_gang(gang);
  if (!index) {
    outcome.obstacle.message = "the snapshot contradicts itself about this gang; see the warnings";
    return outcome;
  }
  const Gang& known = run.problem.gangs[*index];
  if (!known.queue.is_none()) outcome.queue = run.problem.queues[known.queue].name;
  outcome.pods = std::ssize(known.pods);
  const explain::GangReport* report = run.report_on(*index);
  if (!report) return outcome;
  outcome.phase = explain::phase_name(report->phase);
  outcome.placed = report->placed;
  outcome.starts = run.admits(*index) && report->placed > 0;
  plan.add_places(*index, outcome);
  plan.add_departures(*index, outcome);
  if (!outcome.starts) add_reason(*report, outcome);
  return outcome;
}

}  // namespace

std::string names_text(const GangOutcome::Counts& counts, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, counts.size()); ++i) text += (i == 0 ? "" : ", ") + counts[i].first;
  if (counts.size() > most) text += fmt::format(" and {} more", counts.size() - most);
  return text;
}

std::vector<GangOutcome> outcomes_of(const answers::Run& run, const std::vector<std::string>& gangs) {
  const PlanByGang plan(run);
  std::vector<GangOutcome> outcomes;
  outcomes.reserve(gangs.size());
  for (const std::string& gang : gangs) outcomes.push_back(outcome_of(run, plan, gang));
  return outcomes;
}

std::string sentence_of(const GangOutcome& outcome) {
  const std::string subject = fmt::format("The gang {}", outcome.name);
  if (!outcome.starts) {
    std::string why = outcome.obstacle.words.empty() ? outcome.phase : outcome.obstacle.words;
    if (!outcome.obstacle.message.empty()) why += (why.empty() ? "" : ": ") + outcome.obstacle.message;
    if (why.ends_with('.')) why.pop_back();
    return fmt::format("{} would not start: {}", subject, why);
  }
  std::string text = fmt::format("{} would start{} on {}", subject, outcome.is_at_once ? " now" : "",
                                 names_text(outcome.nodes, kMostNames));
  if (outcome.placed < outcome.pods) text += fmt::format(", {} of its {} pods", outcome.placed, outcome.pods);
  const std::string departures = departures_text(outcome);
  if (!departures.empty()) text += fmt::format(" ({})", departures);
  if (outcome.leaving > 0)
    text += fmt::format(", once {} that {} leaving anyway {} gone", counted(outcome.leaving, "pod"),
                        outcome.leaving == 1 ? "is" : "are", outcome.leaving == 1 ? "is" : "are");
  return text;
}

void add_outcomes(const std::vector<GangOutcome>& outcomes, AnswerDocument& document) {
  using Gang = GangOutcome;
  using enum Shown;
  if (outcomes.empty()) return;
  document.add_table(filled<Gang>(
      {.key = "submitted", .title = "Submitted", .overflow = Overflow::kWrap},
      {{"gang", "GANG", &Gang::name},
       {"queue", "QUEUE", [](const Gang& gang) { return text_or_none(gang.queue); }},
       {"starts", "STARTS", [](const Gang& gang) { return verdict_cell(gang.starts); }},
       {"phase", "PHASE", [](const Gang& gang) { return text_or_none(gang.phase); }},
       {"placed", "PLACED", &Gang::placed},
       {"pods", "PODS", &Gang::pods},
       {"nodes", "NODES", [](const Gang& gang) { return listed(gang.nodes); }},
       {"evicts", "EVICTS", [](const Gang& gang) { return listed(gang.evicted); }},
       {"moves", "MOVES", [](const Gang& gang) { return listed(gang.moved); }, kWide},
       {"waitsForLeaving", "WAITS FOR", &Gang::leaving, kWide},
       {"reason", "REASON", [](const Gang& gang) { return text_or_none(gang.obstacle.reason); }},
       {"makeRoom", "EVICTIONS DO NOT HELP", [](const Gang& gang) { return text_or_none(gang.obstacle.make_room); },
        kWide},
       {"message", "MESSAGE", [](const Gang& gang) { return text_or_none(gang.obstacle.message); }, kWide}},
      outcomes));
  Table blockers{.key = "blockers",
                 .title = "What excludes nodes",
                 .columns = {{"gang", "GANG"}, {"filter", "FILTER"}, {"nodes", "NODES", Align::kRight}}};
  for (const Gang& gang : outcomes) {
    for (const auto& [filter, nodes] : gang.obstacle.blockers) blockers.rows.push_back({gang.name, filter, nodes});
  }
  if (!blockers.rows.empty()) document.add_table(std::move(blockers));
}

}  // namespace muster::cli
