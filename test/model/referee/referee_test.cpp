// The referee as a whole: names and form, the exactness of its check of departures.
#include "model/referee/referee.h"

#include <cstdint>
#include <functional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "test/support/plan.h"

namespace muster::test {
namespace {

const std::string kTwoPods = R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":4},"gpus":{"count":2}}],
 "pods":[{"name":"p0","resources":{"cpu":1},"gpu":{"count":2}},{"name":"p1","resources":{"cpu":1}},{"name":"r0","resources":{"cpu":1},"node":"n1"}]})json";

std::set<referee::Rule> rules_broken(const Case& cluster, const Plan& plan) {
  std::set<referee::Rule> rules;
  for (const referee::Violation& violation : cluster.check(plan)) rules.insert(violation.rule);
  return rules;
}

TEST(Referee, NamesEveryRuleDifferently) {
  std::set<std::string_view> names;
  for (std::size_t rule = 0; rule < referee::kRuleCount; ++rule)
    names.insert(referee::rule_name(static_cast<referee::Rule>(rule)));
  EXPECT_EQ(names.size(), referee::kRuleCount);
  EXPECT_FALSE(names.contains(""));
}

TEST(Referee, FindsBrokenForm) {
  const Case cluster = Case::of_line(kTwoPods);
  const Plan valid = plan_of(cluster, "place p0 n1 gpus 0 1\nplace p1 n1\n");
  EXPECT_EQ(rules_broken(cluster, valid), std::set<referee::Rule>{});
  EXPECT_TRUE(referee::is_well_formed(cluster.snapshot(), cluster.problem(), valid));
  const auto after = [&](const std::function<void(Plan&)>& break_it) {
    Plan plan = valid;
    break_it(plan);
    EXPECT_FALSE(referee::is_well_formed(cluster.snapshot(), cluster.problem(), plan));
    return rules_broken(cluster, plan);
  };
  const std::set<referee::Rule> form{referee::Rule::kPlan};
  EXPECT_EQ(after([](Plan& plan) { std::swap(plan.placements[0], plan.placements[1]); }), form) << "out of order";
  EXPECT_EQ(after([](Plan& plan) { plan.placements.push_back(plan.placements[1]); }), form) << "a pod placed twice";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[1].pod = PodIndex(3); }), form) << "a pod that does not exist";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[1].pod = PodIndex(); }), form) << "no pod";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[0].devices = {1, 0}; }), form) << "devices out of order";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[0].after = {PodIndex(7)}; }), form)
      << "waits for what does not exist";
  EXPECT_EQ(after([](Plan& plan) {
              plan.evictions = {{PodIndex(9), EvictionReason::kStale, {}}};
            }),
            form)
      << "evicts what does not exist";
  EXPECT_EQ(after([](Plan& plan) {
              plan.evictions = {{PodIndex(2), EvictionReason::kPreempt, GangIndex(9)}};
            }),
            form)
      << "for what does not exist";
  const std::set<referee::Rule> node{referee::Rule::kNode}, devices{referee::Rule::kDevices};
  EXPECT_EQ(after([](Plan& plan) { plan.placements[1].node = NodeIndex(1); }), node) << "a node that does not exist";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[0].devices = {1, 1}; }), devices) << "a device twice";
  EXPECT_EQ(after([](Plan& plan) { plan.placements[0].devices = {0, 2}; }), devices) << "a device that does not exist";
}

TEST(Referee, TellsTheSameWhateverTheNumberOfThreads) {
  std::string nodes, pods;
  for (int i = 0; i < 500; ++i)
    nodes += (i ? "," : "") + std::string(R"({"name":"n)") + std::to_string(i) +
             R"(","resources":{"cpu":60},"gpus":{"count":2}})";
  for (int i = 0; i < 32'000; ++i) {
    pods +=
        (i ? "," : "") + std::string(R"({"name":"p)") + std::to_string(i) + R"(","queue":"q","resources":{"cpu":1})";
    if (i < 1'000) pods += R"(,"gpu":{"fraction":0.5})";
    if (i < 25'000) pods += R"(,"node":"n)" + std::to_string(i % 500) + "\"";
    pods += "}";
  }
  const Case cluster =
      Case::of_line(R"({"format":"muster/v1","time":1000,"queues":[{"name":"q","cpu":{"limit":26000}}],"nodes":[)" +
                    nodes + R"(],"pods":[)" + pods + "]}");
  Plan plan;
  for (std::size_t i = 0; i < 2; ++i) plan.evictions.push_back({PodIndex(i), EvictionReason::kStale, {}});
  for (std::size_t i = 25'000; i < 32'000; ++i) plan.placements.push_back({PodIndex(i), NodeIndex(i % 300), {}, {}});
  const auto told_on = [&](int threads) {
    return text_of(referee::check_plan(cluster.snapshot(), cluster.problem(), cluster.shares(), plan, threads));
  };
  const std::string alone = told_on(1);
  for (const char* part : {"Capacity: n0: ", "Capacity: n299: ", "Limit: q: ", "31998000m", "Stale: p0: "})
    EXPECT_NE(alone.find(part), std::string::npos) << part;
  for (const int threads : {2, 3, 8}) EXPECT_EQ(told_on(threads), alone) << threads;
}

TEST(Referee, EndsOnceItHasFoundAsManyViolationsAsAskedFor) {
  const Case cluster = Case::of_line(R"json({"format":"muster/v1",
    "nodes":[{"name":"n1","resources":{"cpu":1}},{"name":"n2","resources":{"cpu":1}},{"name":"n3","resources":{"cpu":1}}],
    "pods":[{"name":"a","resources":{"cpu":1},"node":"n1"},{"name":"b","resources":{"cpu":1},"node":"n2"},
            {"name":"claim","priority":9,"resources":{"cpu":1}}]})json");
  const Plan vain = plan_of(cluster, "evict a preempt claim\nevict b preempt claim\nplace claim n3\n");
  const auto found = [&](std::size_t most) {
    return referee::check_plan(cluster.snapshot(), cluster.problem(), cluster.shares(), vain, 1, most).size();
  };
  EXPECT_EQ(found(10), 2U);
  EXPECT_EQ(found(1), 1U);
}

TEST(Referee, LetsAMovedPodUseItsOwnRoom) {
  const Case cluster = Case::of_line(R"json({"format":"muster/v1","time":1000,
    "nodes":[{"name":"n1","resources":{"cpu":3},"gpus":{"count":2}}],
    "gangs":[{"name":"big","priority":5}],
    "pods":[{"name":"m","resources":{"cpu":2},"gpu":{"fraction":0.5},"node":"n1","gpus":[1]},
            {"name":"other","gpu":{"fraction":0.25},"node":"n1","gpus":[0]},
            {"name":"b","gang":"big","gpu":{"count":1}}]})json");
  EXPECT_EQ(text_of(cluster.check(
                plan_of(cluster, "evict m consolidate big\nplace m n1 gpus 0\nplace b n1 gpus 1 after m\n"))),
            "");
  EXPECT_TRUE(rules_broken(cluster, plan_of(cluster, "evict m consolidate big\nplace m n1 gpus 0\nplace b n1 gpus 1\n"))
                  .contains(referee::Rule::kAfter));
}

TEST(Referee, StaysRightNearTheLimitsOf64Bits) {
  const Case cluster = Case::of_line(R"json({"format":"muster/v1","time":"2261-01-01T00:00:00Z",
    "nodes":[{"name":"n","resources":{"memory":9000000000000000000,"nvidia.com/mig-7g.80gb":9000000000000000000},"gpus":{"count":2,"memory":"8Ei"}}],
    "gangs":[{"name":"old","staleSince":"1678-01-01T00:00:00Z","created":"1678-01-01T00:00:00Z","timeout":"1h"}],
    "pods":[{"name":"a","resources":{"memory":9000000000000000000}},
            {"name":"b","resources":{"memory":9000000000000000000,"nvidia.com/mig-7g.80gb":9000000000000000000}},
            {"name":"c","gpu":{"memory":"7Ei","devices":2}},
            {"name":"d","gpu":{"memory":"7Ei","devices":2}},
            {"name":"e","gang":"old"}]})json");
  const std::set<referee::Rule> broken = rules_broken(
      cluster, plan_of(cluster, "place a n\nplace b n\nplace c n gpus 0 1\nplace d n gpus 0 1\nplace e n\n"));
  EXPECT_EQ(broken,
            (std::set<referee::Rule>{referee::Rule::kCapacity, referee::Rule::kDevices, referee::Rule::kTimeout}));
}

// One node, some pods that stay, some that are releasing, some that come and wait for some of those.
struct Departures {
  std::int64_t capacity = 0;
  std::vector<std::int64_t> staying, leaving, arriving;
  std::vector<std::uint32_t> waits_for;  // by arrival: a bit for each leaving pod
};

std::int64_t sum_where(const std::vector<std::int64_t>& amounts, const std::function<bool(std::size_t)>& counts) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) sum += counts(i) ? amounts[i] : 0;
  return sum;
}

// By trying every set of those that are gone.
bool always_fits(const Departures& d) {
  const std::int64_t staying = sum_where(d.staying, [](std::size_t) { return true; });
  for (std::uint32_t gone = 0; gone < (1u << d.leaving.size()); ++gone) {
    const std::int64_t there = sum_where(d.leaving, [&](std::size_t p) { return ((gone >> p) & 1u) == 0; });
    const std::int64_t started = sum_where(d.arriving, [&](std::size_t w) { return (d.waits_for[w] & ~gone) == 0; });
    if (staying + there + started > d.capacity) return false;
  }
  return true;
}

Departures random_departures(std::mt19937& random) {
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  Departures d;
  for (int i = number(0, 2); i > 0; --i) d.staying.push_back(number(1, 4));
  for (int i = number(1, 5); i > 0; --i) d.leaving.push_back(number(1, 6));
  const std::uint32_t all = (1u << d.leaving.size()) - 1;
  for (int i = number(1, 5); i > 0; --i) {
    d.arriving.push_back(number(1, 5));
    d.waits_for.push_back(static_cast<std::uint32_t>(number(0, 63)) & static_cast<std::uint32_t>(number(0, 63)) & all);
  }
  const auto always = [](std::size_t) { return true; };
  d.capacity = sum_where(d.staying, always) + sum_where(d.leaving, always) + number(0, 6);
  return d;
}

// `request(amount)` is the part of a pod that asks for so much, `size(amount)` that of a node that has it.
Case case_of(const Departures& d, const std::string& node,
             const std::function<std::string(std::int64_t, bool)>& request) {
  std::string line = R"({"format":"muster/v1","time":1000,"nodes":[{"name":"n",)" + node + R"(}],"pods":[)";
  const auto add = [&](const std::string& name, std::int64_t amount, const std::string& status) {
    const bool is_there = status != "pending";
    line += line.back() == '[' ? "" : ",";
    line += R"({"name":")" + name + R"(","status":")" + status + R"(",)" + request(amount, is_there) +
            (is_there ? R"(,"node":"n"})" : "}");
  };
  for (std::size_t i = 0; i < d.staying.size(); ++i) add("s" + std::to_string(i), d.staying[i], "running");
  for (std::size_t i = 0; i < d.leaving.size(); ++i) add("l" + std::to_string(i), d.leaving[i], "releasing");
  for (std::size_t i = 0; i < d.arriving.size(); ++i) add("w" + std::to_string(i), d.arriving[i], "pending");
  return Case::of_line(line + "]}");
}

Plan plan_of(const Case& cluster, const Departures& d, const std::string& devices) {
  std::string text;
  for (std::size_t w = 0; w < d.arriving.size(); ++w) {
    text += "place w" + std::to_string(w) + " n " + devices + " after";
    for (std::size_t p = 0; p < d.leaving.size(); ++p) {
      if (((d.waits_for[w] >> p) & 1u) != 0) text += " l" + std::to_string(p);
    }
    text += "\n";
  }
  return plan_of(cluster, text);
}

TEST(Referee, ChecksCapacityInEveryOrderOfDeparturesAsExhaustiveSearchDoes) {
  std::mt19937 random(7);
  int fitting = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Departures d = random_departures(random);
    const Case cluster =
        case_of(d, R"("resources":{"cpu":)" + std::to_string(d.capacity) + "}",
                [](std::int64_t amount, bool) { return R"("resources":{"cpu":)" + std::to_string(amount) + "}"; });
    const Plan plan = plan_of(cluster, d, "");
    fitting += always_fits(d) ? 1 : 0;
    ASSERT_EQ(rules_broken(cluster, plan).contains(referee::Rule::kCapacity), !always_fits(d))
        << trial << "\n"
        << text_of(cluster.check(plan));
  }
  EXPECT_GT(fitting, 300);
  EXPECT_LT(fitting, 2700);
}

TEST(Referee, ChecksDevicesInEveryOrderOfDeparturesAsExhaustiveSearchDoes) {
  std::mt19937 random(8);
  int fitting = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Departures d = random_departures(random);
    const Case cluster = case_of(d, R"("gpus":{"count":1,"memory":")" + std::to_string(d.capacity) + R"(Mi"})",
                                 [](std::int64_t amount, bool is_there) {
                                   return R"("gpu":{"memory":")" + std::to_string(amount) + R"(Mi"})" +
                                          (is_there ? R"(,"gpus":[0])" : "");
                                 });
    const Plan plan = plan_of(cluster, d, "gpus 0");
    fitting += always_fits(d) ? 1 : 0;
    ASSERT_EQ(rules_broken(cluster, plan).contains(referee::Rule::kDevices), !always_fits(d))
        << trial << "\n"
        << text_of(cluster.check(plan));
  }
  EXPECT_GT(fitting, 300);
  EXPECT_LT(fitting, 2700);
}

}  // namespace
}  // namespace muster::test
