#include "cli/terminal/plan_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"

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
constexpr std::array<std::string_view, 6> kTitles = {"GANG", "QUEUE", "PHASE", "PODS", "REASON", "WAITS FOR"};

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
    const std::string queue = known.queue.is_none() ? "-" : escaped(problem_.queues[known.queue].name);
    return {escaped(known.name),
            queue,
            std::string(explain::phase_name(gang.phase)),
            fmt::format("{}/{}", present, all),
            escaped(reason_words(gang.reason)),
            waits_for(gang)};
  }

 private:
  std::string waits_for(const explain::GangReport& gang) const {
    const auto leaving = after_.find(gang.gang);
    std::string text;
    if (leaving != after_.end() && !leaving->second.empty()) text = leaving_pods(leaving->second);
    if (!gang.message.empty()) text += (text.empty() ? "" : "; ") + escaped(short_message(gang.message));
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
      text += (told++ == 0 ? "" : ", ") + escaped(problem_.snapshot->pods[pod.value()].name);
    }
    if (pods.size() > told) text += fmt::format(" and {} more", pods.size() - told);
    return text + " to leave";
  }

  const Problem& problem_;
  std::map<GangIndex, std::set<PodIndex>> after_;  // pods that must leave before some pod of the gang starts
};

// Letters, not bytes; a letter that is wide on a terminal counts as one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// In lines of at most `width` letters, except longer words; all lines but the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t letters = width_of(word);
    if (column > 0 && column + 1 + letters > width) {
      out += '\n' + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) out += ' ';
    out += word;
    column += letters + (column > 0 ? 1 : 0);
  }
  return out;
}

std::string laid_out(const std::vector<Row>& rows, std::size_t width) {
  constexpr std::size_t kGap = 2, kNarrowest = 30;  // a last column that is narrower is not worth it
  std::array<std::size_t, kTitles.size()> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::size_t indent = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) indent += widths[i] + kGap;
  const bool is_wrapped = width >= indent + kNarrowest;
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += row[i] + std::string(widths[i] - width_of(row[i]) + kGap, ' ');
    text += (is_wrapped ? wrapped(row.back(), width - indent, indent) : row.back()) + '\n';
  }
  return text;
}

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
  rows.insert(rows.begin(), Row{});
  std::ranges::copy(kTitles, rows.front().begin());
  return laid_out(rows, width);
}

}  // namespace muster::cli
