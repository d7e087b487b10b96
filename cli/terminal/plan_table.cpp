#include "cli/terminal/plan_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/text_table.h"

namespace muster::cli {
namespace {

// By ReasonCode.
constexpr std::array<std::string_view, 21> kReasonWords = {"-",
                                                           "waited too long",
                                                           "Muster cannot plan it",
                                                           "scheduling gate",
                                                           "too few pods",
                                                           "unknown queue",
                                                           "quota kept for another gang",
                                                           "over queue limit",
                                                           "over quota, not preemptible",
                                                           "larger than the cluster",
                                                           "no suitable node",
                                                           "too little free",
                                                           "no single domain has room",
                                                           "free, but fragmented",
                                                           "pod affinity not satisfied",
                                                           "spread constraints",
                                                           "undetermined",
                                                           "undetermined: out of time",
                                                           "below minimum too long",
                                                           "reclaimed",
                                                           "preempted"};
static_assert(kReasonWords.size() == static_cast<std::size_t>(explain::ReasonCode::kPreempted) + 1);
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kInsufficientWords = {
    {{"gpu", "too few free GPUs"},
     {"cpu", "too little free CPU"},
     {"memory", "too little free memory"},
     {kHostPortResource, "host ports taken"},
     {"pods", "nodes at their pod limit"}}};
constexpr std::size_t kMostNames = 3;  // of pods that must leave first; the rest is counted

using Row = std::array<std::string, 6>;

class TableMaker {
 public:
  TableMaker(const Problem& problem, const Plan& plan) : problem_(problem) {
    for (const Placement& placement : plan.placements) {
      std::set<PodIndex>& pods = after_[problem.pods[placement.pod].gang];
      pods.insert(placement.after.begin(), placement.after.end());
    }
  }

  Row row_of(const explain::GangReport& gang) const {
    const Gang& known = problem_.gangs[gang.gang];
    const std::int64_t present = gang.running + gang.placed;
    const std::int64_t all = present + gang.evicted + gang.pending;
    const std::string queue(known.queue.is_none() ? "-" : problem_.queues[known.queue].name);
    return {std::string(known.name),
            queue,
            std::string(explain::phase_name(gang.phase)),
            fmt::format("{}/{}", present, all),
            reason_words(gang.reason),
            waits_for(gang)};
  }

 private:
  std::string waits_for(const explain::GangReport& gang) const {
    const auto leaving = after_.find(gang.gang);
    std::string text;
    if (leaving != after_.end() && !leaving->second.empty()) text = leaving_pods(leaving->second);
    if (!gang.message.empty()) text += (text.empty() ? "" : "; ") + std::string(short_message(gang.message));
    return text.empty() ? "-" : text;
  }

  // Without the tally that the column PODS shows.
  static std::string_view short_message(std::string_view message) {
    constexpr std::string_view kTally = " pods of the gang cannot be placed: ";
    const std::size_t at = message.find(kTally);
    return at == std::string_view::npos ? message : message.substr(at + kTally.size());
  }

  // "ns/a-0, ns/a-1 and 4 more to leave".
  std::string leaving_pods(const std::set<PodIndex>& pods) const {
    std::string text;
    std::size_t told = 0;
    for (const PodIndex pod : pods) {
      if (told == kMostNames) break;
      text += (told++ == 0 ? "" : ", ") + std::string(problem_.snapshot->pods[pod.value()].name);
    }
    if (pods.size() > told) text += fmt::format(" and {} more", pods.size() - told);
    return text + " to leave";
  }

  const Problem& problem_;
  std::map<GangIndex, std::set<PodIndex>> after_;  // pods that must leave before some pod of the gang starts
};

}  // namespace

std::string reason_words(const explain::Reason& reason) {
  std::string words(kReasonWords[static_cast<std::size_t>(reason.code)]);
  if (reason.code != explain::ReasonCode::kInsufficient) return words;
  const auto* known =
      std::ranges::find(kInsufficientWords, reason.resource, &std::pair<std::string_view, std::string_view>::first);
  return known != kInsufficientWords.end() ? std::string(known->second) : words + " " + reason.resource;
}

std::string plan_table(const Problem& problem, const Plan& plan, const explain::Report& report, std::size_t width) {
  if (report.gangs.empty()) return "no gang waits, starts, moves or is evicted\n";
  const TableMaker maker(problem, plan);
  std::vector<Row> rows;
  for (const explain::GangReport& gang : report.gangs) rows.push_back(maker.row_of(gang));
  std::ranges::sort(rows);
  Table table{.key = "gangs",
              .columns = {{"gang", "GANG"},
                          {"queue", "QUEUE"},
                          {"phase", "PHASE"},
                          {"pods", "PODS"},
                          {"reason", "REASON"},
                          {"waitsFor", "WAITS FOR"}},
              .overflow = Overflow::kWrap};
  for (const Row& row : rows) table.rows.emplace_back(row.begin(), row.end());
  AnswerDocument document("plan");
  document.add_table(std::move(table));
  return render(document, {.width = width});
}

}  // namespace muster::cli
