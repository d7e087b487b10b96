#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/reading.h"
#include "io/muster_v1/histories.h"
#include "io/muster_v1/plan_line.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

using json::Field, json::JsonKind, json::JsonMember, json::JsonValue, json::KnownObject, json::Reading,
    json::known_object;

namespace {

constexpr std::string_view kFormat = "muster/v1";
constexpr json::JsonLimits kPlanLimits = {std::size_t{1} << 30, 64};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct PlanInput : json::Reading {
  PlanInput(StringPool& pool, ReadPlan& into) : json::Reading{false, &pool, {}}, out(into) {}
  ReadPlan& out;
  json::JsonValue error_object, gang_list;
};

bool read_text(PlanInput& in, JsonValue v, std::string& out) {
  if (!in.expect(v, JsonKind::kString)) return false;
  out = v.string();
  return true;
}

template <class Target, std::string Target::*Member>
bool read_name(PlanInput& in, JsonValue v, Target& target) {
  return read_text(in, v, target.*Member);
}

// `find`: the code with a text; none if it is unknown.
template <class Code, class Find>
bool read_code(PlanInput& in, JsonValue v, Find find, Claimed<Code>& out) {
  if (!in.expect(v, JsonKind::kString)) return false;
  if (std::optional<Code> known = find(v.string()))
    out = *std::move(known);
  else
    out = std::string(v.string());
  return true;
}

bool read_amount_claim(PlanInput& in, JsonValue v) {
  Quantity number;
  return in.read_number(v, number);
}

// The characters of a number, which stay exact.
bool read_decimal(PlanInput& in, JsonValue v, std::string& out) {
  if (!read_amount_claim(in, v)) return false;
  out = in.number_text(v);
  return true;
}

// placements[] and evictions[]

using DeviceClaim = NamedPlan::Device;

constexpr std::array<Field<PlanInput, DeviceClaim>, 2> kDeviceFields = {
    {{"index",
      [](PlanInput& in, JsonValue v, DeviceClaim& d) {
        return in.read_integer(v, 0, std::numeric_limits<std::int32_t>::max(), d.index);
      },
      true},
     {"share", [](PlanInput& in, JsonValue v, DeviceClaim& d) { return read_decimal(in, v, d.share); }, true}}};

using PlacementClaim = NamedPlan::Placement;

bool read_after(PlanInput& in, JsonValue list, PlacementClaim& placement) {
  if (!in.expect(list, JsonKind::kArray)) return false;
  for (const JsonValue name : list.elements()) {
    if (!read_text(in, name, placement.after.emplace_back())) return false;
  }
  return true;
}

constexpr std::array<Field<PlanInput, PlacementClaim>, 5> kPlacementFields = {
    {{"pod", read_name<PlacementClaim, &PlacementClaim::pod>, true},
     {"node", read_name<PlacementClaim, &PlacementClaim::node>, true},
     {"gpus",
      [](PlanInput& in, JsonValue v, PlacementClaim& p) { return json::read_list(in, v, kDeviceFields, p.devices); }},
     {"after", read_after},
     {"step", [](PlanInput& in, JsonValue v, PlacementClaim& p) {
        return in.read_integer(v, 1, std::numeric_limits<std::int32_t>::max(), p.step);
      }}}};

using EvictionClaim = NamedPlan::Eviction;

constexpr std::array<Field<PlanInput, EvictionClaim>, 4> kEvictionFields = {
    {{"pod", read_name<EvictionClaim, &EvictionClaim::pod>, true},
     {"node", read_name<EvictionClaim, &EvictionClaim::node>, true},
     {"reason",
      [](PlanInput& in, JsonValue v, EvictionClaim& e) { return json::read_choice(in, v, kEvictionReasons, e.reason); },
      true},
     {"for", read_name<EvictionClaim, &EvictionClaim::for_gang>}}};

// gangs[]

template <std::string GangClaim::*Member>
bool read_gang_text(PlanInput& in, JsonValue v, GangClaim& gang) {
  return read_text(in, v, gang.*Member);
}

template <std::int64_t GangClaim::*Member>
bool read_gang_count(PlanInput& in, JsonValue v, GangClaim& gang) {
  return in.read_integer(v, 0, kMost, gang.*Member);
}

bool read_phase(PlanInput& in, JsonValue v, GangClaim& gang) {
  if (!in.expect(v, JsonKind::kString)) return false;
  const auto* const found = std::ranges::find(explain::kGangPhases, v.string(), explain::phase_name);
  if (found == explain::kGangPhases.end())
    return in.fail_value(v, "\"" + std::string(v.string()) + "\" is not a phase of a gang");
  gang.phase = *found;
  return true;
}

using BlockerClaim = GangClaim::Blocker;

constexpr std::array<Field<PlanInput, BlockerClaim>, 2> kBlockerFields = {
    {{"code",
      [](PlanInput& in, JsonValue v, BlockerClaim& blocker) {
        return read_code(in, v, explain::find_filter, blocker.filter);
      },
      true},
     {"nodes",
      [](PlanInput& in, JsonValue v, BlockerClaim& blocker) { return in.read_integer(v, 0, kMost, blocker.nodes); },
      true}}};

bool read_blockers(PlanInput& in, JsonValue list, GangClaim& gang) {
  return json::read_list(in, list, kBlockerFields, gang.blockers);
}

using RemedyClaim = GangClaim::Remedy;

template <std::string RemedyClaim::*Member>
bool read_remedy_text(PlanInput& in, JsonValue v, RemedyClaim& remedy) {
  return read_text(in, v, remedy.*Member);
}

constexpr std::array<Field<PlanInput, RemedyClaim>, 5> kRemedyFields = {
    {{"kind", read_remedy_text<&RemedyClaim::kind>, true},
     {"size",
      [](PlanInput& in, JsonValue v, RemedyClaim& remedy) { return in.read_integer(v, 0, kMost, remedy.size); }},
     {"text", read_remedy_text<&RemedyClaim::text>},
     {"options", read_remedy_text<&RemedyClaim::options>},
     {"smallest", [](PlanInput& in, JsonValue v, RemedyClaim& remedy) { return in.read(v, remedy.smallest); }}}};

constexpr std::array<Field<PlanInput, GangClaim>, 13> kGangClaimFields = {
    {{"name", read_gang_text<&GangClaim::name>, true},
     {"phase", read_phase, true},
     {"running", read_gang_count<&GangClaim::running>, true},
     {"placed", read_gang_count<&GangClaim::placed>, true},
     {"evicted", read_gang_count<&GangClaim::evicted>, true},
     {"pending", read_gang_count<&GangClaim::pending>, true},
     {"reason",
      [](PlanInput& in, JsonValue v, GangClaim& gang) { return read_code(in, v, explain::find_reason, gang.reason); }},
     {"makeRoom", [](PlanInput& in, JsonValue v,
                     GangClaim& gang) { return read_code(in, v, explain::find_make_room, gang.make_room); }},
     {"message", read_gang_text<&GangClaim::message>},
     {"blockers", read_blockers},
     {"expectedStart",
      [](PlanInput& in, JsonValue v, GangClaim& gang) { return in.read_instant(v, gang.expected_start.emplace()); }},
     {"expectedStartReason",
      [](PlanInput& in, JsonValue v, GangClaim& gang) {
        return read_code(in, v, forecast::find_start_obstacle, gang.waits_for);
      }},
     {"remedy", [](PlanInput& in, JsonValue v, GangClaim& gang) {
        return json::read_fields(in, v, kRemedyFields, gang.remedy.emplace(GangClaim::Remedy()));
      }}}};

// queues[]

using QueueClaim = ReadPlan::QueueClaim;
using QueueClaimAmounts = QueueClaim::Amounts;

template <std::string QueueClaimAmounts::*Member>
bool read_queue_amount(PlanInput& in, JsonValue v, QueueClaimAmounts& amounts) {
  return read_decimal(in, v, amounts.*Member);
}

constexpr std::array<Field<PlanInput, QueueClaimAmounts>, 3> kQueueAmountFields = {
    {{"quota", read_queue_amount<&QueueClaimAmounts::quota>},
     {"fairShare", read_queue_amount<&QueueClaimAmounts::fair_share>, true},
     {"allocated", read_queue_amount<&QueueClaimAmounts::allocated>, true}}};

template <QueueClaimAmounts QueueClaim::*Member>
bool read_queue_amounts(PlanInput& in, JsonValue v, QueueClaim& queue) {
  return json::read_fields(in, v, kQueueAmountFields, queue.*Member);
}

constexpr std::array<Field<PlanInput, QueueClaim>, 4> kQueueClaimFields = {
    {{"name",
      [](PlanInput& in, JsonValue v, QueueClaim& queue) {
        std::string_view name;
        if (!in.read_name(v, name)) return false;
        queue.name = name;
        return true;
      },
      true},
     {"gpu", read_queue_amounts<&QueueClaim::gpu>, true},
     {"cpu", read_queue_amounts<&QueueClaim::cpu>, true},
     {"memory", read_queue_amounts<&QueueClaim::memory>, true}}};

// objective[]

using LevelClaim = ReadPlan::LevelClaim;

bool read_level_name(PlanInput& in, JsonValue v, LevelClaim& level) {
  if (!read_text(in, v, level.level)) return false;
  for (auto kind = LevelKind::kPreempted; kind <= LevelKind::kFragmentation;
       kind = static_cast<LevelKind>(static_cast<int>(kind) + 1)) {
    if (level_name(kind) == level.level) return true;
  }
  return in.fail_value(v, "\"" + level.level + "\" is not a level");
}

constexpr std::array<Field<PlanInput, LevelClaim>, 4> kLevelFields = {
    {{"level", read_level_name, true},
     {"priority",
      [](PlanInput& in, JsonValue v, LevelClaim& level) {
        std::int64_t priority = 0;
        using Limits = std::numeric_limits<std::int32_t>;
        if (!in.read_integer(v, Limits::min(), Limits::max(), priority)) return false;
        level.priority = static_cast<std::int32_t>(priority);
        return true;
      }},
     {"value", [](PlanInput& in, JsonValue v, LevelClaim& level) { return read_decimal(in, v, level.value); }, true},
     {"bound",
      [](PlanInput& in, JsonValue v, LevelClaim& level) { return read_decimal(in, v, level.bound.emplace()); }}}};

// solver

template <class Value, std::size_t kCount>
constexpr auto named(const std::array<Value, kCount>& values, std::string_view (*name)(Value)) {
  std::array<std::pair<std::string_view, Value>, kCount> choices;
  for (std::size_t i = 0; i < kCount; ++i) choices[i] = {name(values[i]), values[i]};
  return choices;
}
constexpr auto kOriginNames = named(kOrigins, origin_name);
constexpr auto kProofNames = named(kProofs, proof_name);

template <std::optional<double> SolverClaim::*Member>
bool read_milliseconds(PlanInput& in, JsonValue v, SolverClaim& solver) {
  return in.read_weight(v, Reading::Zero::kAllowed, (solver.*Member).emplace());
}

bool read_phase_times(PlanInput& in, JsonValue object, SolverClaim&) {
  if (!in.expect(object, JsonKind::kObject)) return false;
  for (const JsonMember member : object.members()) {
    if (!read_amount_claim(in, member.value)) return false;
  }
  return in.check_duplicates(object);
}

constexpr std::array<Field<PlanInput, SolverClaim>, 8> kSolverFields = {
    {{"origin",
      [](PlanInput& in, JsonValue v, SolverClaim& solver) {
        return json::read_choice(in, v, kOriginNames, solver.origin);
      },
      true},
     {"proof",
      [](PlanInput& in, JsonValue v, SolverClaim& solver) {
        return json::read_choice(in, v, kProofNames, solver.proof);
      },
      true},
     {"proofOf",
      [](PlanInput& in, JsonValue v, SolverClaim& solver) {
        constexpr std::array<std::pair<std::string_view, bool>, 1> kScopes = {{{"whatWasRead", true}}};
        return json::read_choice(in, v, kScopes, solver.of_what_was_read);
      }},
     {"gap",
      [](PlanInput& in, JsonValue v, SolverClaim& solver) {
        return in.read_weight(v, Reading::Zero::kAllowed, solver.gap);
      },
      true},
     {"budgetMs", read_milliseconds<&SolverClaim::budget_ms>},
     {"elapsedMs", read_milliseconds<&SolverClaim::elapsed_ms>},
     {"deadlineMissed",
      [](PlanInput& in, JsonValue v, SolverClaim& solver) { return in.read(v, solver.deadline_missed); }},
     {"phasesMs", read_phase_times}}};

// error

constexpr std::array<Field<PlanInput, ErrorClaim>, 4> kErrorFields = {
    {{"code", [](PlanInput& in, JsonValue v, ErrorClaim& e) { return read_code(in, v, find_error_code, e.code); },
      true},
     {"path", [](PlanInput& in, JsonValue v, ErrorClaim& e) { return read_text(in, v, e.path); }, true},
     {"message", [](PlanInput& in, JsonValue v, ErrorClaim& e) { return read_text(in, v, e.message); }, true},
     {"line",
      [](PlanInput& in, JsonValue v, ErrorClaim&) {
        std::int64_t line = 0;
        return in.read_integer(v, 1, kMost, line);
      },
      true}}};

constexpr std::array<Field<PlanInput, WarningClaim>, 4> kWarningFields = {
    {{"object", [](PlanInput& in, JsonValue v, WarningClaim& w) { return read_text(in, v, w.object); }, true},
     {"name", [](PlanInput& in, JsonValue v, WarningClaim& w) { return read_text(in, v, w.name); }, true},
     {"code", [](PlanInput& in, JsonValue v, WarningClaim& w) { return read_code(in, v, find_error_code, w.code); },
      true},
     {"message", [](PlanInput& in, JsonValue v, WarningClaim& w) { return read_text(in, v, w.message); }, true}}};

constexpr std::array<Field<PlanInput, ReadPlan>, 14> kPlanFields = {
    {{"format",
      [](PlanInput& in, JsonValue v, ReadPlan&) {
        return in.expect(v, JsonKind::kString) &&
               (v.string() == kFormat || in.fail(v, ErrorCode::kUnsupportedFormat, "the format must be \"muster/v1\""));
      },
      true},
     {"id", [](PlanInput& in, JsonValue v, ReadPlan& plan) { return read_text(in, v, plan.id); }},
     {"status",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) {
        constexpr std::array<std::pair<std::string_view, bool>, 2> kStatuses = {{{"ok", false}, {"error", true}}};
        return json::read_choice(in, v, kStatuses, plan.is_error);
      },
      true},
     {"time", [](PlanInput& in, JsonValue v, ReadPlan& plan) { return in.read_instant(v, plan.time.emplace()); }},
     {"placements", [](PlanInput& in, JsonValue v,
                       ReadPlan& plan) { return json::read_list(in, v, kPlacementFields, plan.named.placements); }},
     {"evictions", [](PlanInput& in, JsonValue v,
                      ReadPlan& plan) { return json::read_list(in, v, kEvictionFields, plan.named.evictions); }},
     {"gangs",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) {
        in.gang_list = v;
        return json::read_list(in, v, kGangClaimFields, plan.gangs);
      }},
     {"queues", [](PlanInput& in, JsonValue v,
                   ReadPlan& plan) { return json::read_list(in, v, kQueueClaimFields, plan.queues); }},
     {"objective",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) { return json::read_list(in, v, kLevelFields, plan.objective); }},
     {"solver",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) { return json::read_fields(in, v, kSolverFields, plan.solver); }},
     {"warnings",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) { return json::read_list(in, v, kWarningFields, plan.warnings); }},
     {"warningsOmitted",
      [](PlanInput& in, JsonValue v, ReadPlan& plan) { return in.read_integer(v, 1, kMost, plan.warnings_omitted); }},
     {"histories", [](PlanInput& in, JsonValue v, ReadPlan& plan) { return read_histories(in, v, plan.histories); }},
     {"error", [](PlanInput& in, JsonValue v, ReadPlan& plan) {
        in.error_object = v;
        return json::read_fields(in, v, kErrorFields, plan.error);
      }}}};

// Whether the line has the keys of its status, and none of the other status.
bool check_status(PlanInput& in, JsonValue root) {
  constexpr std::array<std::string_view, 6> kOfPlans = {"placements", "evictions", "gangs",
                                                        "queues",     "objective", "solver"};
  std::array<JsonValue, kOfPlans.size()> found;
  for (const JsonMember member : root.members()) {
    const auto at = std::ranges::find(kOfPlans, member.key);
    if (at != kOfPlans.end()) found[static_cast<std::size_t>(at - kOfPlans.begin())] = member.value;
  }
  if (in.out.is_error && !in.error_object) return in.fail_missing(root, "error");
  if (!in.out.is_error && in.error_object)
    return in.fail_value(in.error_object, "a plan with status ok must not have an error");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (in.out.is_error && found[i]) return in.fail_value(found[i], "an error record must not have this key");
    if (!in.out.is_error && !found[i]) return in.fail_missing(root, kOfPlans[i]);
  }
  return true;
}

bool check_gang_names(PlanInput& in, const PlanResolver& names) {
  std::size_t at = 0;
  for (const JsonValue element : in.gang_list.elements()) {
    const std::string& name = in.out.gangs[at++].name;
    if (!names.has_gang(name))
      return in.fail(element, ErrorCode::kUnknownName, "the snapshot has no gang \"" + name + "\"");
  }
  return true;
}

}  // namespace

Result<ReadPlan> read_plan(std::string_view line, const Problem* problem) {
  json::JsonDocument document;
  if (auto error = document.parse(line, kPlanLimits)) return *std::move(error);
  StringPool names;
  ReadPlan plan;
  PlanInput input(names, plan);
  const JsonValue root = document.root();
  if (!json::read_fields(input, root, kPlanFields, plan) || !check_status(input, root)) return std::move(input.error);
  if (problem == nullptr || plan.is_error) return plan;
  const PlanResolver names_of_problem(*problem);
  Result<Plan> resolved = names_of_problem.resolve(plan.named);
  if (!resolved) return resolved.error();
  plan.plan = *std::move(resolved);
  if (!check_gang_names(input, names_of_problem)) return std::move(input.error);
  return plan;
}

void fill_in_histories(std::string_view line, Snapshot& snapshot) {
  if (line.find(R"("histories")") == std::string_view::npos) return;
  if (Result<ReadPlan> plan = read_plan(line, nullptr)) fill_in(std::move(plan->histories), snapshot);
}

std::vector<KnownObject> known_plan_objects() {
  std::vector<KnownObject> objects = {known_object("plan", kPlanFields),
                                      known_object("placement", kPlacementFields),
                                      known_object("device", kDeviceFields),
                                      known_object("eviction", kEvictionFields),
                                      known_object("gang", kGangClaimFields),
                                      known_object("blocker", kBlockerFields),
                                      known_object("remedy", kRemedyFields),
                                      known_object("queue", kQueueClaimFields),
                                      known_object("queueAmounts", kQueueAmountFields),
                                      known_object("level", kLevelFields),
                                      known_object("solver", kSolverFields),
                                      known_object("warning", kWarningFields),
                                      known_object("error", kErrorFields)};
  add_history_objects(objects);
  return objects;
}

}  // namespace muster::muster_v1
