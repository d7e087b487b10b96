// The difference of two plans as an answer for people and scripts.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/plan_difference.h"
#include "model/base/words.h"

namespace muster::cli {
namespace {

using Action = PlanDifference::Action;
using Better = PlanDifference::Better;

constexpr std::size_t kMostGangs = 20, kMostPods = 30;  // rows of the short form

struct ChangeWords {
  const char* code;   // in JSON
  const char* words;  // for people
  Meaning meaning;
};
constexpr std::array<ChangeWords, kPodChanges> kChangeWords = {{{"started", "started", Meaning::kGood},
                                                                {"notStarted", "no longer started", Meaning::kBad},
                                                                {"evicted", "evicted", Meaning::kBad},
                                                                {"notEvicted", "no longer evicted", Meaning::kGood},
                                                                {"moved", "moved", Meaning::kWarning},
                                                                {"notMoved", "no longer moved", Meaning::kGood},
                                                                {"otherNode", "other node", Meaning::kPlain},
                                                                {"otherGpus", "other GPUs", Meaning::kPlain},
                                                                {"otherEviction", "other eviction", Meaning::kPlain},
                                                                {"otherOrder", "other order", Meaning::kDim}}};

const ChangeWords& words_of(PodChange change) { return kChangeWords[static_cast<std::size_t>(change)]; }

// "4 started, 1 other node".
std::string changes_text(const std::vector<std::int64_t>& changes) {
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", changes[i], kChangeWords[i].words);
  }
  return text;
}

// "a -> b", or "a" if both are the same; "-" for an empty one.
std::string both_texts(const std::string& before, const std::string& after) {
  const auto shown = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  return before == after ? shown(before) : shown(before) + " -> " + shown(after);
}

Cell difference_cell(const std::optional<Decimal>& before, const std::optional<Decimal>& after) {
  if (!before || !after) return {};
  const Decimal more = subtract(*after, *before);
  return more.value > 0 ? Cell(more).shown_as("+" + value_text(more)) : Cell(more);
}

// "moved n1 -> n2 (GPU 0, 1)", "starts on n1", "evicted from n1 (preempt for ns/a)".
std::string action_text(const Action& action, bool with_gpus) {
  std::string text;
  switch (action.action) {
    case PodAction::kNone:
      return "-";
    case PodAction::kStart:
      text = "starts on " + action.node;
      break;
    case PodAction::kMove:
      text = fmt::format("moves {} -> {}", action.from, action.node);
      break;
    case PodAction::kEvict:
      return fmt::format("evicted from {} ({}{}{})", action.from, action.reason, action.for_gang.empty() ? "" : " for ",
                         action.for_gang);
  }
  if (!with_gpus || action.devices.empty()) return text;
  std::string devices;
  for (const auto& device : action.devices) devices += fmt::format("{}{}", devices.empty() ? "" : ", ", device.index);
  return text + fmt::format(" (GPU {})", devices);
}

// What both plans do with a gang, for people. A plan does not list a gang that it leaves alone; if the other one moves
// or evicts pods of it, it ran.
struct GangWords {
  std::string phase, pods;
  Meaning meaning = Meaning::kPlain;
};

GangWords words_of(const PlanDifference::Gang& gang) {
  using State = PlanDifference::GangState;
  const auto ran = [](const State& state, const State& other) {
    if (!state.phase.empty() || other.running + other.evicted == 0) return state;
    State undisturbed;
    undisturbed.phase = phase_name(explain::GangPhase::kRunning);
    undisturbed.running = other.running + other.evicted;
    return undisturbed;
  };
  const State first = ran(gang.before, gang.after), second = ran(gang.after, gang.before);
  const std::int64_t before = first.running + first.placed, after = second.running + second.placed;
  GangWords words{both_texts(first.phase, second.phase), both_texts(std::to_string(before), std::to_string(after))};
  words.meaning = after > before ? Meaning::kGood : after < before ? Meaning::kBad : Meaning::kPlain;
  if (first.phase != second.phase || gang.pods_changed == 0) return words;
  for (const PodChange change : {PodChange::kMoved, PodChange::kNotMoved}) {
    if (gang.changes[static_cast<std::size_t>(change)] < gang.pods_changed) continue;
    words.phase += fmt::format(", {}", words_of(change).words);
    words.meaning = words_of(change).meaning;
  }
  return words;
}

Table gang_table(const std::vector<PlanDifference::Gang>& gangs) {
  using Gang = PlanDifference::Gang;
  using State = PlanDifference::GangState;
  using enum Shown;
  std::vector<RowColumn<Gang>> columns = {
      {"gang", "GANG",
       [](const Gang& gang) { return Cell(gang.name).shown_as(gang.name.empty() ? "(unknown)" : gang.name); }},
      {"podsChanged", "PODS CHANGED", &Gang::pods_changed, kJson}};
  // For people one column, for scripts one of each plan.
  const auto add = [&](const std::string& key, const char* title, auto words, auto value) {
    if (*title != '\0') columns.emplace_back(key, title, words, kText);
    columns.emplace_back(
        key + "Before", "", [value](const Gang& gang) { return Cell(value(gang.before)); }, kJson);
    columns.emplace_back(
        key + "After", "", [value](const Gang& gang) { return Cell(value(gang.after)); }, kJson);
  };
  const auto phase = [](const Gang& gang) {
    const GangWords words = words_of(gang);
    return Cell(words.phase).meaning(words.meaning);
  };
  const auto reasons = [](const Gang& gang) { return both_texts(gang.before.reason, gang.after.reason); };
  const auto start = [](const State& state) {
    return state.expected_start ? Cell(seconds(*state.expected_start)) : Cell();
  };
  add("phase", "PHASE", phase, [](const State& state) { return text_or_none(state.phase); });
  add(
      "pods", "PODS", [](const Gang& gang) { return words_of(gang).pods; },
      [](const State& state) { return state.running + state.placed; });
  add("reason", "REASON", reasons, [](const State& state) { return text_or_none(state.reason); });
  add("expectedStart", "", reasons, start);
  for (std::size_t i = 0; i < kPodChanges; ++i)
    columns.emplace_back(
        kChangeWords[i].code, "", [i](const Gang& gang) { return gang.changes[i]; }, kJson);
  columns.emplace_back(
      "changes", "CHANGES", [](const Gang& gang) { return changes_text(gang.changes); }, kText);
  return filled({.key = "gangs", .title = "Gangs", .most_rows = kMostGangs}, columns, gangs);
}

Table pod_table(const std::vector<PlanDifference::Pod>& pods) {
  using Pod = PlanDifference::Pod;
  using enum Shown;
  const auto change = [](const Pod& pod) {
    const ChangeWords& words = words_of(pod.change);
    return Cell(words.code).shown_as(words.words).meaning(words.meaning);
  };
  std::vector<RowColumn<Pod>> columns = {{"gang", "GANG", [](const Pod& pod) { return text_or_none(pod.gang); }},
                                         {"pod", "POD", &Pod::name},
                                         {"change", "CHANGE", change}};
  const auto add = [&](const std::string& side, const Action Pod::*of) {
    const auto add_one = [&](const char* key, auto value) {
      columns.emplace_back(
          key + side, "", [of, value](const Pod& pod) { return Cell(value(pod.*of)); }, kJson);
    };
    add_one("action", [](const Action& action) {
      constexpr std::array<const char*, 4> kNames = {"none", "start", "move", "evict"};
      return kNames[static_cast<std::size_t>(action.action)];
    });
    add_one("node", [](const Action& action) { return text_or_none(action.node); });
    add_one("from", [](const Action& action) { return text_or_none(action.from); });
    add_one("reason", [](const Action& action) { return text_or_none(action.reason); });
    add_one("for", [](const Action& action) { return text_or_none(action.for_gang); });
    add_one("gpus", [](const Action& action) {
      std::vector<std::int64_t> indices;
      for (const auto& device : action.devices) indices.push_back(device.index);
      return indices;
    });
  };
  const auto words = [](const Action Pod::*of) {
    return [of](const Pod& pod) { return action_text(pod.*of, pod.change == PodChange::kOtherGpus); };
  };
  columns.emplace_back("before", "BEFORE", words(&Pod::before), kText);
  columns.emplace_back("after", "AFTER", words(&Pod::after), kText);
  add("Before", &Pod::before);
  add("After", &Pod::after);
  return filled({.key = "pods", .title = "Pods", .most_rows = kMostPods}, columns, pods);
}

std::string_view better_name(Better better) {
  constexpr std::array<std::string_view, 4> kNames = {"equal", "before", "after", "unknown"};
  return kNames[static_cast<std::size_t>(better)];
}

// Those whose values or bounds differ.
Table level_table(std::vector<PlanDifference::Level> levels) {
  using Level = PlanDifference::Level;
  using enum Align;
  std::erase_if(levels, [](const Level& level) {
    return !differ(level.before, level.after) && !differ(level.bound_before, level.bound_after);
  });
  const auto better = [](const Level& level) {
    const bool is_better = level.better == Better::kAfter, is_worse = level.better == Better::kBefore;
    const Meaning meaning = is_better ? Meaning::kGood : is_worse ? Meaning::kBad : Meaning::kPlain;
    return Cell(better_name(level.better)).meaning(meaning);
  };
  return filled<Level>({.key = "levels", .title = "Levels"},
                       {{"level", "LEVEL", &Level::name},
                        {"priority", "PRIORITY", &Level::priority},
                        {"before", "BEFORE", &Level::before},
                        {"after", "AFTER", &Level::after},
                        {"difference", "DIFFERENCE",
                         [](const Level& level) { return difference_cell(level.before, level.after); }, kRight},
                        {"boundBefore", "BOUND BEFORE", &Level::bound_before},
                        {"boundAfter", "BOUND AFTER", &Level::bound_after},
                        {"better", "BETTER", better}},
                       levels);
}

// Of a queue: GPUs, cores or bytes.
Cell amount_cell(std::string_view resource, const std::optional<Decimal>& amount) {
  if (!amount) return {};
  if (resource == "memory") return Cell(*amount).shown_as(memory_words(amount->value / amount->scale));
  if (resource == "cpu")
    return Cell(*amount).shown_as(value_text(*amount) + (*amount == Decimal{1, 1} ? " core" : " cores"));
  return *amount;
}

Cell more_cell(const PlanDifference::Queue& queue) {
  if (!queue.allocated_before || !queue.allocated_after) return {};
  const Decimal more = subtract(*queue.allocated_after, *queue.allocated_before);
  Cell cell = amount_cell(queue.resource, more);
  const std::string words = cell.has_text ? cell.text : value_text(more);
  return more.value > 0 ? std::move(cell).shown_as("+" + words) : cell;
}

Table queue_table(const std::vector<PlanDifference::Queue>& queues) {
  using Queue = PlanDifference::Queue;
  using enum Align;
  using enum Shown;
  const auto amount = [](const std::optional<Decimal> Queue::*of) {
    return [of](const Queue& queue) { return amount_cell(queue.resource, queue.*of); };
  };
  return filled<Queue>({.key = "queues", .title = "Queues", .most_rows = kMostGangs},
                       {{"queue", "QUEUE", &Queue::name},
                        {"resource", "RESOURCE", &Queue::resource},
                        {"allocatedBefore", "ALLOCATED BEFORE", amount(&Queue::allocated_before), kRight},
                        {"allocatedAfter", "AFTER", amount(&Queue::allocated_after), kRight},
                        {"difference", "DIFFERENCE", more_cell, kRight},
                        {"fairShareBefore", "FAIR SHARE BEFORE", amount(&Queue::share_before), kRight, kWide},
                        {"fairShareAfter", "AFTER", amount(&Queue::share_after), kRight, kWide}},
                       queues);
}

// "after: level work of priority 50 is 8000, was 7000".
std::string verdict(const PlanDifference& found) {
  if (!found.first_level) return found.better == Better::kUnknown ? "unknown" : "equal in all levels";
  const PlanDifference::Level& level = found.levels[*found.first_level];
  std::string text = level.name;
  if (level.priority) text += fmt::format(" of priority {}", *level.priority);
  const auto shown = [](const std::optional<Decimal>& value) { return value ? value_text(*value) : "-"; };
  text += fmt::format(" is {} before and {} after", shown(level.before), shown(level.after));
  return fmt::format("{} ({})", better_name(found.better), text);
}

std::vector<std::int64_t> count_changes(const std::vector<PlanDifference::Pod>& pods) {
  std::vector<std::int64_t> counts(kPodChanges);
  for (const PlanDifference::Pod& pod : pods) ++counts[static_cast<std::size_t>(pod.change)];
  return counts;
}

struct Both {
  Cell before, after;
  bool is_shown = true;  // to people
};

// A value of each plan: in JSON KEYBefore and KEYAfter; for people one line, if it is shown.
void add_both(AnswerDocument& document, const std::string& key, const std::string& label, Both values) {
  if (values.is_shown) {
    const std::string text = both_texts(value_text(values.before.value), value_text(values.after.value));
    document.add_field(key, label, text, Shown::kText);
  }
  document.add_field(key + "Before", "", std::move(values.before), Shown::kJson);
  document.add_field(key + "After", "", std::move(values.after), Shown::kJson);
}

void add_sides(const PlanDifference::Side& before, const PlanDifference::Side& after, AnswerDocument& document) {
  const auto add = [&](const char* key, const char* label, const std::string& a, const std::string& b, bool is_shown) {
    add_both(document, key, label, {text_or_none(a), text_or_none(b), is_shown});
  };
  add("id", "Snapshot", before.id, after.id, true);
  add("error", "Error", before.error, after.error, before.error != after.error);
  add("origin", "Engine", before.origin, after.origin, before.origin != after.origin);
  add("proof", "Proof", before.proof, after.proof, before.proof != after.proof);
  add_both(document, "elapsedMs", "", {before.elapsed_ms, after.elapsed_ms, false});
  add_both(document, "deadlineMissed", "Deadline missed",
           {before.deadline_missed, after.deadline_missed, before.deadline_missed || after.deadline_missed});
}

// An empty table is one for scripts alone.
void add(AnswerDocument& document, Table table) {
  if (table.rows.empty()) table.shown = Shown::kJson;
  document.add_table(std::move(table));
}

}  // namespace

void PlanDifference::write(AnswerDocument& document) const {
  add_sides(before, after, document);
  document.add_field("different", "Different", !is_empty());
  document.add_field("better", "Better plan", Cell(better_name(better)).shown_as(verdict(*this)));
  const std::string changes = changes_text(count_changes(pods));
  document.add_field("podsChanged", "Pods", Cell(pods.size()).shown_as(changes.empty() ? "no difference" : changes));
  document.add_field("gangsChanged", "Gangs that differ", gangs.size());
  add(document, gang_table(gangs));
  add(document, level_table(levels));
  add(document, queue_table(queues));
  add(document, pod_table(pods));
}

}  // namespace muster::cli
