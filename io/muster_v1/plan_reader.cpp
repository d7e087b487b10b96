#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/reading.h"
#include "io/muster_v1/known_objects.h"
#include "io/muster_v1/plan_line.h"
#include "io/muster_v1/plan_share.h"

namespace muster::muster_v1 {

using json::Field, json::JsonKind, json::JsonMember, json::JsonValue, json::KnownObject, json::Reading,
    json::known_object;

namespace {

constexpr std::string_view kFormat = "muster/v1";
constexpr json::JsonLimits kPlanLimits = {std::size_t{1} << 30, 64};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// The values of a name and of the object that it names, kept until names can be resolved.
struct DeviceDraft {
  std::int64_t index = 0;
  JsonValue share;
};

struct PlacementDraft {
  JsonValue pod, node;
  std::vector<DeviceDraft> devices;
  std::vector<JsonValue> after;
  std::int64_t step = 0;
};

struct EvictionDraft {
  JsonValue pod, node, for_gang;
  EvictionReason reason = EvictionReason::kPreempt;
};

struct PlanInput : Reading {
  PlanInput(json::JsonDocument& parsed, StringPool& pool, ReadPlan& into)
      : Reading{parsed, false, &pool, {}}, out(into) {}
  ReadPlan& out;
  JsonValue error_object, gang_list;
  std::vector<PlacementDraft> placements;
  std::vector<EvictionDraft> evictions;
};

template <class Target, JsonValue Target::*Member>
bool note_name(PlanInput& in, JsonValue v, Target& target) {
  target.*Member = v;
  return in.expect(v, JsonKind::kString);
}

bool read_text(PlanInput& in, JsonValue v, std::string& out) {
  if (!in.expect(v, JsonKind::kString)) return false;
  out = v.string();
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

constexpr std::array<Field<PlanInput, DeviceDraft>, 2> kDeviceFields = {
    {{"index",
      [](PlanInput& in, JsonValue v, DeviceDraft& d) {
        return in.read_integer(v, 0, std::numeric_limits<std::int32_t>::max(), d.index);
      },
      true},
     {"share",
      [](PlanInput& in, JsonValue v, DeviceDraft& d) {
        d.share = v;
        return read_amount_claim(in, v);
      },
      true}}};

bool read_after(PlanInput& in, JsonValue list, PlacementDraft& placement) {
  if (!in.expect(list, JsonKind::kArray)) return false;
  for (const JsonValue name : list.elements()) {
    if (!in.expect(name, JsonKind::kString)) return false;
    placement.after.push_back(name);
  }
  return true;
}

constexpr std::array<Field<PlanInput, PlacementDraft>, 5> kPlacementFields = {
    {{"pod", note_name<PlacementDraft, &PlacementDraft::pod>, true},
     {"node", note_name<PlacementDraft, &PlacementDraft::node>, true},
     {"gpus",
      [](PlanInput& in, JsonValue v, PlacementDraft& p) { return json::read_list(in, v, kDeviceFields, p.devices); }},
     {"after", read_after},
     {"step", [](PlanInput& in, JsonValue v, PlacementDraft& p) {
        return in.read_integer(v, 1, std::numeric_limits<std::int32_t>::max(), p.step);
      }}}};

constexpr std::array<Field<PlanInput, EvictionDraft>, 4> kEvictionFields = {
    {{"pod", note_name<EvictionDraft, &EvictionDraft::pod>, true},
     {"node", note_name<EvictionDraft, &EvictionDraft::node>, true},
     {"reason",
      [](PlanInput& in, JsonValue v, EvictionDraft& e) { return json::read_choice(in, v, kEvictionReasons, e.reason); },
      true},
     {"for", note_name<EvictionDraft, &EvictionDraft::for_gang>}}};

// gangs[]

using GangClaim = ReadPlan::GangClaim;

template <std::string GangClaim::*Member>
bool read_gang_text(PlanInput& in, JsonValue v, GangClaim& gang) {
  return read_text(in, v, gang.*Member);
}

template <std::int64_t GangClaim::*Member>
bool read_gang_count(PlanInput& in, JsonValue v, GangClaim& gang) {
  return in.read_integer(v, 0, kMost, gang.*Member);
}

bool read_phase(PlanInput& in, JsonValue v, GangClaim& gang) {
  if (!read_text(in, v, gang.phase)) return false;
  for (const explain::GangPhase phase : explain::kGangPhases) {
    if (explain::phase_name(phase) == gang.phase) return true;
  }
  return in.fail_value(v, "\"" + gang.phase + "\" is not a phase of a gang");
}

constexpr std::array<Field<PlanInput, explain::Blocker>, 2> kBlockerFields = {
    {{"code", [](PlanInput& in, JsonValue v, explain::Blocker& blocker) { return read_text(in, v, blocker.code); },
      true},
     {"nodes",
      [](PlanInput& in, JsonValue v, explain::Blocker& blocker) { return in.read_integer(v, 0, kMost, blocker.nodes); },
      true}}};

bool read_blockers(PlanInput& in, JsonValue list, GangClaim& gang) {
  return json::read_list(in, list, kBlockerFields, gang.blockers);
}

constexpr std::array<Field<PlanInput, GangClaim>, 10> kGangClaimFields = {
    {{"name", read_gang_text<&GangClaim::name>, true},
     {"phase", read_phase, true},
     {"running", read_gang_count<&GangClaim::running>, true},
     {"placed", read_gang_count<&GangClaim::placed>, true},
     {"evicted", read_gang_count<&GangClaim::evicted>, true},
     {"pending", read_gang_count<&GangClaim::pending>, true},
     {"reason", read_gang_text<&GangClaim::reason>},
     {"makeRoom", read_gang_text<&GangClaim::make_room>},
     {"message", read_gang_text<&GangClaim::message>},
     {"blockers", read_blockers}}};

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
  for (auto kind = LevelKind::kShare; kind <= LevelKind::kFragmentation;
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

constexpr std::array<Field<PlanInput, SolverClaim>, 7> kSolverFields = {
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

constexpr std::array<Field<PlanInput, InputError>, 4> kErrorFields = {
    {{"code", [](PlanInput& in, JsonValue v, InputError& e) { return read_text(in, v, e.code); }, true},
     {"path", [](PlanInput& in, JsonValue v, InputError& e) { return read_text(in, v, e.path); }, true},
     {"message", [](PlanInput& in, JsonValue v, InputError& e) { return read_text(in, v, e.message); }, true},
     {"line",
      [](PlanInput& in, JsonValue v, InputError&) {
        std::int64_t line = 0;
        return in.read_integer(v, 1, kMost, line);
      },
      true}}};

constexpr std::array<Field<PlanInput, Warning>, 4> kWarningFields = {
    {{"object", [](PlanInput& in, JsonValue v, Warning& w) { return read_text(in, v, w.object); }, true},
     {"name", [](PlanInput& in, JsonValue v, Warning& w) { return read_text(in, v, w.name); }, true},
     {"code", [](PlanInput& in, JsonValue v, Warning& w) { return read_text(in, v, w.code); }, true},
     {"message", [](PlanInput& in, JsonValue v, Warning& w) { return read_text(in, v, w.message); }, true}}};

constexpr std::array<Field<PlanInput, ReadPlan>, 13> kPlanFields = {
    {{"format",
      [](PlanInput& in, JsonValue v, ReadPlan&) {
        return in.expect(v, JsonKind::kString) &&
               (v.string() == kFormat || in.fail(v, "UnsupportedFormat", "the format must be \"muster/v1\""));
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
     {"placements",
      [](PlanInput& in, JsonValue v, ReadPlan&) { return json::read_list(in, v, kPlacementFields, in.placements); }},
     {"evictions",
      [](PlanInput& in, JsonValue v, ReadPlan&) { return json::read_list(in, v, kEvictionFields, in.evictions); }},
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

// Names to indices.
class Resolver {
 public:
  Resolver(PlanInput& input, const Problem& problem);
  bool resolve();

 private:
  template <class Index>
  using Names = std::unordered_map<std::string_view, Index>;
  template <class Index>
  bool find(const Names<Index>& names, JsonValue name, std::string_view kind, Index& out);
  bool resolve(const PlacementDraft& draft, Placement& placement);
  bool resolve(const EvictionDraft& draft, Eviction& eviction);
  bool read_devices(const PlacementDraft& draft, Placement& placement);
  template <class Draft>
  bool refuse_twice(const std::vector<Draft>& drafts);

  PlanInput& in_;
  const Problem& problem_;
  Names<PodIndex> pods_;
  Names<NodeIndex> nodes_;
  Names<GangIndex> gangs_;
};

Resolver::Resolver(PlanInput& input, const Problem& problem) : in_(input), problem_(problem) {
  const Snapshot& snapshot = *problem.snapshot;
  for (std::size_t i = 0; i < snapshot.pods.size(); ++i) pods_.emplace(snapshot.pods[i].name, PodIndex(i));
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) nodes_.emplace(snapshot.nodes[i].name, NodeIndex(i));
  for (const GangIndex gang : problem.gangs.indices()) gangs_.emplace(problem.gangs[gang].name, gang);
}

template <class Index>
bool Resolver::find(const Names<Index>& names, JsonValue name, std::string_view kind, Index& out) {
  const auto found = names.find(name.string());
  if (found == names.end()) {
    return in_.fail(name, "UnknownName",
                    "the snapshot has no " + std::string(kind) + " \"" + std::string(name.string()) + "\"");
  }
  out = found->second;
  return true;
}

template <class Draft>
bool Resolver::refuse_twice(const std::vector<Draft>& drafts) {
  std::unordered_map<std::string_view, bool> seen;
  for (const Draft& draft : drafts) {
    if (seen.emplace(draft.pod.string(), true).second) continue;
    return in_.fail(draft.pod, "DuplicateName", "duplicate pod in this list");
  }
  return true;
}

bool Resolver::read_devices(const PlacementDraft& draft, Placement& placement) {
  const std::int64_t share =
      device_share(problem_.class_of(placement.pod).gpu, problem_.class_of(placement.node).device_memory_mib);
  for (const DeviceDraft& device : draft.devices) {
    Quantity claimed;
    if (!in_.read_number(device.share, claimed)) return false;
    const Result<std::int64_t> millionths = count_units(claimed, QuantityUnit::kMillionth, Rounding::kRefuse);
    if (!millionths || *millionths != share) {
      return in_.fail_value(device.share,
                            "wrong share; the pod uses " + std::to_string(share) + " millionths of the device");
    }
    placement.devices.push_back(static_cast<std::int32_t>(device.index));
  }
  return true;
}

bool Resolver::resolve(const PlacementDraft& draft, Placement& placement) {
  if (!find(pods_, draft.pod, "pod", placement.pod) || !find(nodes_, draft.node, "node", placement.node)) return false;
  if (!read_devices(draft, placement)) return false;
  for (const JsonValue name : draft.after) {
    if (!find(pods_, name, "pod", placement.after.emplace_back())) return false;
  }
  placement.step = static_cast<std::int32_t>(draft.step);
  return true;
}

bool Resolver::resolve(const EvictionDraft& draft, Eviction& eviction) {
  NodeIndex node;
  if (!find(pods_, draft.pod, "pod", eviction.pod) || !find(nodes_, draft.node, "node", node)) return false;
  if (problem_.pods[eviction.pod].node != node) return in_.fail_value(draft.node, "the pod does not run on this node");
  eviction.reason = draft.reason;
  eviction.for_gang = GangIndex::none();
  return !draft.for_gang || find(gangs_, draft.for_gang, "gang", eviction.for_gang);
}

bool Resolver::resolve() {
  if (!refuse_twice(in_.placements) || !refuse_twice(in_.evictions)) return false;
  Plan& plan = in_.out.plan;
  for (const PlacementDraft& draft : in_.placements) {
    if (!resolve(draft, plan.placements.emplace_back())) return false;
  }
  for (const EvictionDraft& draft : in_.evictions) {
    if (!resolve(draft, plan.evictions.emplace_back())) return false;
  }
  std::size_t at = 0;
  for (const JsonValue element : in_.gang_list.elements()) {
    if (gangs_.contains(in_.out.gangs[at].name)) {
      ++at;
      continue;
    }
    return in_.fail(element, "UnknownName", "the snapshot has no gang \"" + in_.out.gangs[at].name + "\"");
  }
  normalise(plan);
  return true;
}

void keep_names(PlanInput& in) {
  NamedPlan& named = in.out.named;
  for (const PlacementDraft& draft : in.placements) {
    auto& placement = named.placements.emplace_back();
    placement.pod = draft.pod.string();
    placement.node = draft.node.string();
    for (const DeviceDraft& device : draft.devices) {
      placement.devices.push_back({device.index, std::string(in.number_text(device.share))});
    }
    for (const JsonValue name : draft.after) placement.after.emplace_back(name.string());
    placement.step = draft.step;
  }
  for (const EvictionDraft& draft : in.evictions) {
    auto& eviction = named.evictions.emplace_back();
    eviction.pod = draft.pod.string();
    eviction.node = draft.node.string();
    if (draft.for_gang) eviction.for_gang = draft.for_gang.string();
    eviction.reason = draft.reason;
  }
}

}  // namespace

Result<ReadPlan> read_plan(std::string_view line, const Problem* problem) {
  json::JsonDocument document;
  if (auto error = document.parse(line, kPlanLimits)) return *std::move(error);
  StringPool names;
  ReadPlan plan;
  PlanInput input(document, names, plan);
  const JsonValue root = document.root();
  if (!json::read_fields(input, root, kPlanFields, plan) || !check_status(input, root)) return std::move(input.error);
  if (problem == nullptr)
    keep_names(input);
  else if (!plan.is_error && !Resolver(input, *problem).resolve())
    return std::move(input.error);
  return plan;
}

std::vector<KnownObject> known_plan_objects() {
  return {known_object("plan", kPlanFields),        known_object("placement", kPlacementFields),
          known_object("device", kDeviceFields),    known_object("eviction", kEvictionFields),
          known_object("gang", kGangClaimFields),   known_object("blocker", kBlockerFields),
          known_object("queue", kQueueClaimFields), known_object("queueAmounts", kQueueAmountFields),
          known_object("level", kLevelFields),      known_object("solver", kSolverFields),
          known_object("warning", kWarningFields),  known_object("error", kErrorFields)};
}

}  // namespace muster::muster_v1
