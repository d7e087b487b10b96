// Plan lines: what is written is read back as the same plan, and what is no true plan line is refused.
#include "io/muster_v1/plan_line.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/support/case.h"

namespace muster::muster_v1 {
namespace {

// Names need escapes on purpose; "z" comes before "a" in the snapshot, so that lists must be sorted to be by name.
constexpr const char* kLine = R"({"format":"muster/v1","id":"a \"line\"\n","time":1000,
  "nodes":[{"name":"n\"1","resources":{"cpu":8},"gpus":{"count":2,"memory":"3Mi"}},{"name":"n2","gpus":{"count":2}}],
  "queues":[{"name":"q","gpu":{"quota":0.143}},{"name":"default"}],
  "pods":[{"name":"z\\pod","gpu":{"memory":"1Mi"},"queue":"q"},{"name":"a\tpod","gpu":{"count":2},"queue":"q"},
          {"name":"half","gpu":{"fraction":0.29}},{"name":"plain"},
          {"name":"runs","node":"n\"1","gpu":{"count":1},"gpus":[0],"started":10},{"name":"old","node":"n2","status":"releasing"}]})";

// With a plan.
test::Case instance() {
  test::Case made = test::Case::of_line(kLine);
  made.place("z\\pod", "n\"1", {1}).place("a\tpod", "n2", {0, 1}, {"old"});
  made.place("half", "n\"1", {0}, {"runs", "old"}).place("plain", "n\"1");
  return std::move(made.evict("runs", EvictionReason::kPreempt, "half"));
}

explain::Report report_of(const test::Case& of) {
  explain::Report report;
  report.gangs.resize(2);
  report.gangs[0].gang = of.gang("z\\pod");
  report.gangs[0].phase = explain::GangPhase::kScheduled;
  report.gangs[0].placed = 1;
  report.gangs[1].gang = of.gang("a\tpod");
  report.gangs[1].pending = 1;
  report.gangs[1].reason = {explain::ReasonCode::kInsufficient, "gpu"};
  report.gangs[1].make_room = explain::MakeRoomCode::kPriority;
  report.gangs[1].message = "1/1 \"pods\"\x01";
  report.gangs[1].blockers = {{{explain::FilterCode::kInsufficientGpu}, 2}};
  report.queues = {{QueueIndex(0), {143'000, kUnlimited, 5}, {1'500'000, 2'500, 7}, {333'333, 1, 0}}};
  report.objective = {{{LevelKind::kShare, 50}, 8000, 9000},
                      {{LevelKind::kPreference, 0}, -150, 5},
                      {{LevelKind::kFragmentation, 0}, 1'000'001, std::nullopt}};
  return report;
}

SolverStatement statement() {
  SolverStatement solver;
  solver.origin = Origin::kMilp;
  solver.proof = Proof::kOptimal;
  solver.gap = 0.125;
  solver.budget_ms = 200;
  solver.elapsed_ms = 41.2;
  solver.phases_ms = {{"parse", 1.9}, {"model", 0.0004}};
  return solver;
}

std::string written(const test::Case& of, const Plan& plan, bool with_timings) {
  const explain::Report report = report_of(of);
  std::string line;
  write_plan({*of, plan, report, statement(), with_timings}, line);
  return line;
}

TEST(PlanLine, HasTheExpectedStartOfAGang) {
  const test::Case i = instance();
  explain::Report report = report_of(i);
  report.gangs[1].expected_start = {1'500'500'000'000, forecast::StartObstacle::kQuota};
  std::string line;
  write_plan({*i, i.plan(), report, statement()}, line);
  const nlohmann::json gangs = nlohmann::json::parse(line)["gangs"];
  EXPECT_EQ(gangs[0]["expectedStart"], 1500.5);
  EXPECT_EQ(gangs[0]["expectedStartReason"], "Quota");
  EXPECT_FALSE(gangs[1].contains("expectedStart"));
  EXPECT_FALSE(gangs[1].contains("expectedStartReason"));
  const auto read = read_plan(line, &*i);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  EXPECT_EQ(read->gangs[0].expected_start, 1'500'500'000'000);
  EXPECT_EQ(read->gangs[0].waits_for, Claimed<forecast::StartObstacle>(forecast::StartObstacle::kQuota));
  EXPECT_FALSE(read->gangs[1].expected_start);
}

// More gangs than one thread writes by itself.
TEST(PlanLine, IsTheSameHoweverManyThreadsWriteIt) {
  const test::Case i = instance();
  explain::Report report = report_of(i);
  const std::vector<explain::GangReport> two = report.gangs;
  while (report.gangs.size() < 10'000) report.gangs.insert(report.gangs.end(), two.begin(), two.end());
  for (std::size_t at = 0; at < report.gangs.size(); ++at) report.gangs[at].running = static_cast<std::int64_t>(at);
  const Plan plan = i.plan();
  std::string by_one;
  write_plan({*i, plan, report, statement(), true, 1}, by_one);
  EXPECT_EQ(nlohmann::json::parse(by_one)["gangs"].size(), 10'000U);
  for (const int threads : {2, 3}) {
    std::string line;
    write_plan({*i, plan, report, statement(), true, threads}, line);
    EXPECT_TRUE(line == by_one) << threads;
  }
}

TEST(PlanLine, IsWrittenAsTheContractShowsIt) {
  const test::Case i = instance();
  EXPECT_EQ(
      written(i, i.plan(), true),
      R"({"format":"muster/v1","id":"a \"line\"\n","status":"ok","time":1000,)"
      R"("placements":[{"pod":"a\tpod","node":"n2","gpus":[{"index":0,"share":1},{"index":1,"share":1}],"after":["old"]},)"
      R"({"pod":"half","node":"n\"1","gpus":[{"index":0,"share":0.29}],"after":["old","runs"]},)"
      R"({"pod":"plain","node":"n\"1"},)"
      R"({"pod":"z\\pod","node":"n\"1","gpus":[{"index":1,"share":0.333333}]}],)"
      R"("evictions":[{"pod":"runs","node":"n\"1","reason":"preempt","for":"half"}],)"
      R"("gangs":[{"name":"a\tpod","phase":"Unschedulable","running":0,"placed":0,"evicted":0,"pending":1,"reason":"InsufficientGpu",)"
      R"("makeRoom":"Priority","message":"1/1 \"pods\"\u0001","blockers":[{"code":"InsufficientGpu","nodes":2}]},)"
      R"({"name":"z\\pod","phase":"Scheduled","running":0,"placed":1,"evicted":0,"pending":0}],)"
      R"("queues":[{"name":"q","gpu":{"quota":0.143,"fairShare":1.5,"allocated":0.333333},)"
      R"("cpu":{"fairShare":2.5,"allocated":0.001},"memory":{"quota":5,"fairShare":7,"allocated":0}}],)"
      R"("objective":[{"level":"share","priority":50,"value":8000,"bound":9000},{"level":"preference","value":-1.5,"bound":0.05},)"
      R"({"level":"fragmentation","value":1.000001}],)"
      R"("solver":{"origin":"milp","proof":"optimal","gap":0.125,"budgetMs":200,"elapsedMs":41.2,"deadlineMissed":false,)"
      R"("phasesMs":{"parse":1.9,"model":0}}})");
}

TEST(PlanLine, IsReadBackAsTheSamePlan) {
  const test::Case i = instance();
  const Plan plan = i.plan();
  const auto read = read_plan(written(i, plan, true), &*i);
  ASSERT_TRUE(read) << read.error().path << " " << read.error().message;
  EXPECT_EQ(read->id, "a \"line\"\n");
  EXPECT_FALSE(read->is_error);
  EXPECT_EQ(read->plan, plan);
  EXPECT_EQ(read->solver.origin, Origin::kMilp);
  EXPECT_EQ(read->solver.proof, Proof::kOptimal);
  EXPECT_EQ(read->solver.gap, 0.125);
  ASSERT_EQ(read->gangs.size(), 2U);
  EXPECT_EQ(read->gangs[0].name, "a\tpod");
  EXPECT_EQ(explain::phase_name(read->gangs[0].phase), "Unschedulable");
  EXPECT_EQ(claimed_text(read->gangs[0].reason, explain::reason_text), "InsufficientGpu");
  EXPECT_EQ(claimed_text(read->gangs[0].make_room, explain::make_room_text), "Priority");
  EXPECT_EQ(read->gangs[0].message, "1/1 \"pods\"\x01");
  EXPECT_EQ(read->gangs[0].pending, 1);
  ASSERT_EQ(read->objective.size(), 3U);
  EXPECT_EQ(read->objective[0].level, "share");
  EXPECT_EQ(read->objective[0].priority, 50);
  EXPECT_EQ(read->objective[0].bound, "9000");
  EXPECT_EQ(read->objective[1].value, "-1.5");
  EXPECT_EQ(read->objective[2].value, "1.000001");
  EXPECT_EQ(read->objective[2].bound, std::nullopt);
}

TEST(PlanLine, IsReadWithoutAProblemToo) {
  const test::Case i = instance();
  const auto read = read_plan(written(i, i.plan(), true), nullptr);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plan, Plan{});
  EXPECT_EQ(read->gangs.size(), 2U);
}

TEST(PlanLine, OfEqualPlansIsEqualBytesWithoutTimings) {
  const test::Case i = instance();
  const Plan plan = i.plan();
  Plan shuffled = plan;
  std::swap(shuffled.placements[0], shuffled.placements[3]);
  std::swap(shuffled.placements[2].after[0], shuffled.placements[2].after[1]);
  EXPECT_EQ(written(i, plan, false), written(i, shuffled, false));
  const auto json = nlohmann::json::parse(written(i, plan, false));
  for (const char* key : {"budgetMs", "elapsedMs", "phasesMs"}) EXPECT_FALSE(json["solver"].contains(key)) << key;
  EXPECT_TRUE(read_plan(json.dump(), &*i));
}

TEST(PlanLine, OfAnErrorIsReadBack) {
  std::string line;
  write_error("x\"y", {ErrorCode::kInvalidValue, "$.pods[\"a\"]", "no\nway"}, 17, line);
  EXPECT_EQ(
      line,
      R"({"format":"muster/v1","id":"x\"y","status":"error","error":{"code":"InvalidValue","path":"$.pods[\"a\"]","message":"no\nway","line":17}})");
  const auto read = read_plan(line, nullptr);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->is_error);
  EXPECT_EQ(read->id, "x\"y");
  EXPECT_EQ(claimed_text(read->error.code, error_code_text), "InvalidValue");
  EXPECT_EQ(read->error.path, "$.pods[\"a\"]");
  EXPECT_EQ(read->error.message, "no\nway");
}

TEST(PlanLine, OfAnErrorIsValidUtf8WhateverItQuotes) {
  std::string line;
  write_error("\xFF", {ErrorCode::kInvalidJson, "$", "broken: \xC2"}, 1, line);
  EXPECT_TRUE(nlohmann::json::accept(line));
}

// Replaces the first occurrence.
std::string with(std::string line, const std::string& from, const std::string& to) {
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? line : line.replace(at, from.size(), to);
}

TEST(PlanLine, IsRefusedWhereItIsNotTrueToTheFormatOrTheSnapshot) {
  const test::Case i = instance();
  const std::string good = written(i, i.plan(), true);
  struct Broken {
    std::string line;
    const char *code, *path;
  };
  const Broken table[] = {
      {with(good, "muster/v1", "muster/v2"), "UnsupportedFormat", "$.format"},
      {with(good, R"("status":"ok",)", ""), "MissingKey", "$.status"},
      {with(good, R"("status":"ok")", R"("status":"fine")"), "InvalidValue", "$.status"},
      {with(good, R"("status":"ok")", R"("status":"error")"), "MissingKey", "$.error"},
      {with(good, R"("status":"ok")", R"("status":"ok","extra":1)"), "UnknownKey", "$.extra"},
      {with(good, R"("status":"ok")", R"("status":"ok","status":"ok")"), "DuplicateKey", "$.status"},
      {with(good, R"("status":"ok")", R"("status":"ok","error":{"code":"","path":"","message":"","line":1})"),
       "InvalidValue", "$.error"},
      {with(good, R"({"pod":"half")", R"({"pod":"whole")"), "UnknownName", "$.placements[1].pod"},
      {with(good, R"("node":"n2")", R"("node":"n3")"), "UnknownName", "$.placements[0].node"},
      {with(good, R"("after":["old"])", R"("after":["new"])"), "UnknownName", "$.placements[0].after[0]"},
      {with(good, R"({"pod":"plain")", R"({"pod":"half")"), "DuplicateName", "$.placements[2].pod"},
      {with(good, R"("share":0.29)", R"("share":0.3)"), "InvalidValue", "$.placements[1].gpus[0].share"},
      {with(good, R"("share":1})", R"("share":0.5})"), "InvalidValue", "$.placements[0].gpus[0].share"},
      {with(good, R"("index":0)", R"("index":-1)"), "InvalidValue", "$.placements[0].gpus[0].index"},
      {with(good, R"("index":0)", R"("index":"0")"), "WrongType", "$.placements[0].gpus[0].index"},
      {with(good, R"({"pod":"runs","node":"n\"1")", R"({"pod":"runs","node":"n2")"), "InvalidValue",
       "$.evictions[0].node"},
      {with(good, R"("reason":"preempt")", R"("reason":"whim")"), "InvalidValue", "$.evictions[0].reason"},
      {with(good, R"("for":"half")", R"("for":"missing")"), "UnknownName", "$.evictions[0].for"},
      {with(good, R"({"name":"z\\pod")", R"({"name":"missing")"), "UnknownName", "$.gangs[1]"},
      {with(good, R"("phase":"Scheduled")", R"("phase":"Happy")"), "InvalidValue", "$.gangs[1].phase"},
      {with(good, R"("pending":1)", R"("pending":-1)"), "InvalidValue", "$.gangs[0].pending"},
      {with(good, R"("fairShare":1.5,)", ""), "MissingKey", "$.queues[0].gpu.fairShare"},
      {with(good, R"("level":"share")", R"("level":"sharing")"), "InvalidValue", "$.objective[0].level"},
      {with(good, R"("value":8000)", R"("value":"8000")"), "WrongType", "$.objective[0].value"},
      {with(good, R"("origin":"milp")", R"("origin":"magic")"), "InvalidValue", "$.solver.origin"},
      {with(good, R"("gap":0.125)", R"("gap":-1)"), "InvalidValue", "$.solver.gap"},
      {with(good, R"("parse":1.9)", R"("parse":"1.9")"), "WrongType", "$.solver.phasesMs.parse"},
      {good + "}", "InvalidJson", "$"},
  };
  ASSERT_TRUE(read_plan(good, &*i));
  for (const Broken& broken : table) {
    const auto read = read_plan(broken.line, &*i);
    ASSERT_FALSE(read) << broken.line;
    EXPECT_EQ(error_code_text(read.error().code), broken.code) << broken.line << "\n" << read.error().message;
    EXPECT_EQ(read.error().path, broken.path) << broken.line << "\n" << read.error().message;
  }
}

}  // namespace
}  // namespace muster::muster_v1
