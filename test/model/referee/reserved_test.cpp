// Rule Reserved: gangs that are kept back are found, others pass, and the referee agrees with the problem about them.
#include "model/referee/reserved.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/referee/fill.h"
#include "model/referee/forecast.h"
#include "model/snapshot/filters.h"
#include "test/model/breaches.h"
#include "test/support/cluster.h"

namespace muster::test {
namespace {

// Of the quota, 8 GPUs are free now and 8 more in an hour: then the head starts. It leaves nothing over.
const Scenario kForQuota{"for quota", R"json({"format":"muster/v1","time":1000000,
 "policy":{"overTime":{"order":"expectedDuration","reserveAfter":"24h"}},
 "nodes":[{"name":"a","gpus":{"count":8}},{"name":"b","gpus":{"count":8}},{"name":"c","gpus":{"count":16}}],
 "queues":[{"name":"q","gpu":{"quota":24}}],
 "gangs":[
  {"name":"r1","queue":"q","preemptible":false,"expectedDuration":"2h"},
  {"name":"r2","queue":"q","preemptible":false,"expectedDuration":"10h","expectedEnd":1010000},
  {"name":"head","queue":"q","preemptible":false,"expectedDuration":"10h","created":820000},
  {"name":"short","queue":"q","preemptible":false,"expectedDuration":"1h"},
  {"name":"small","queue":"q","preemptible":false,"expectedDuration":"3h"},
  {"name":"long","queue":"q","preemptible":false,"expectedDuration":"4h"}],
 "pods":[
  {"name":"r1-0","gang":"r1","gpu":{"count":8},"node":"a","started":996400},
  {"name":"r2-0","gang":"r2","gpu":{"count":8},"node":"b","started":996400},
  {"name":"head-0","gang":"head","gpu":{"count":16}},
  {"name":"short-0","gang":"short","gpu":{"count":4}},
  {"name":"small-0","gang":"small","gpu":{"count":4}},
  {"name":"long-0","gang":"long","gpu":{"count":4}}]})json",
                         "place short-0 c gpus 0 1 2 3\n"};

const Breach kForQuotaBreaches[] = {
    {"one that ends later than the head starts", referee::Rule::kReserved, "place short-0", "place small-0"},
    {"a second too long", referee::Rule::kReserved, R"("expectedDuration":"1h")", R"("expectedDuration":"3601s")"},
    {"what is left over is taken by one before it", referee::Rule::kReserved, R"("quota":24)", R"("quota":28)"},
};

TEST(RefereeOfReservations, PassesWhatEndsBeforeTheHeadStarts) { expect_valid(kForQuota); }

TEST(RefereeOfReservations, FindsWhatTakesQuotaFromTheHead) {
  for (std::size_t i = 0; i < 2; ++i) expect_found(kForQuota, kForQuotaBreaches[i]);
  Scenario second = kForQuota;  // four GPUs are left over, and `small` is senior to `long`
  second.plan = "place long-0 c gpus 0 1 2 3\n";
  expect_found(second, kForQuotaBreaches[2]);
}

TEST(RefereeOfReservations, PassesWhereNothingIsKeptForQuota) {
  Scenario placed = kForQuota;
  placed.plan = "place small-0 c gpus 0 1 2 3\n";
  const auto expect_valid_with = [&](const std::string& from, const std::string& to) {
    Scenario changed = placed;
    changed.name = to;
    replace_once(changed.snapshot, from, to);
    expect_valid(changed);
  };
  expect_valid_with(R"("quota":24)", R"("quota":28)");  // in what is left over
  expect_valid_with(R"("24h")", R"("never")");
  expect_valid_with(R"("24h")", R"("51h")");  // the head has waited for 50 hours
  expect_valid_with(R"("order":"expectedDuration")", R"("order":"waited")");
  expect_valid_with(R"("policy":{)", R"("policy":{"nonPreemptibleWithinQuota":false,)");
  expect_valid_with(R"("small","queue":"q","preemptible":false)", R"("small","queue":"q","preemptible":true)");
  expect_valid_with(R"("created":820000)", R"("created":820000,"timeout":"1h")");
  expect_valid_with(R"("name":"head-0","gang":"head","gpu":{"count":16})",
                    R"("name":"head-0","gang":"head","gpu":{"count":25})");
}

// Of 12 GPUs of the quota, `large` has 8 and `small` 4; `large` has its node in an hour.
const Scenario kForNodes{"for nodes", R"json({"format":"muster/v1","time":1000000,
 "policy":{"overTime":{"order":"expectedDuration","reserveAfter":"24h"}},
 "nodes":[{"name":"a","gpus":{"count":8}},{"name":"b","gpus":{"count":8}}],
 "queues":[{"name":"q","gpu":{"quota":12}},{"name":"other"}],
 "gangs":[
  {"name":"r1","queue":"other","preemptible":true,"expectedDuration":"2h"},
  {"name":"r2","queue":"other","preemptible":true,"expectedDuration":"3h"},
  {"name":"large","queue":"q","preemptible":false,"expectedDuration":"10h"},
  {"name":"small","queue":"q","preemptible":false,"expectedDuration":"3h"},
  {"name":"long","queue":"q","preemptible":false,"expectedDuration":"4h"},
  {"name":"short","queue":"q","preemptible":false,"expectedDuration":"1h","priority":-1}],
 "pods":[
  {"name":"r1-0","gang":"r1","gpu":{"count":4},"node":"a","gpus":[0,1,2,3],"started":996400},
  {"name":"r2-0","gang":"r2","gpu":{"count":4},"node":"b","gpus":[0,1,2,3],"started":996400},
  {"name":"large-0","gang":"large","gpu":{"count":8}},
  {"name":"small-0","gang":"small","gpu":{"count":4}},
  {"name":"long-0","gang":"long","gpu":{"count":4}},
  {"name":"short-0","gang":"short","gpu":{"count":4}}]})json",
                         "place small-0 b gpus 4 5 6 7\nplace short-0 a gpus 4 5 6 7\n"};

TEST(RefereeOfReservations, PassesWhatHasItsTurnOrEndsBeforeTheNodesAreEmpty) { expect_valid(kForNodes); }

TEST(RefereeOfReservations, FindsWhatTakesNodesFromALargeGang) {
  expect_found(kForNodes, {"no turn", referee::Rule::kReserved, "place small-0", "place long-0"});
  expect_found(kForNodes, {"a second too long", referee::Rule::kReserved, R"("expectedDuration":"1h")",
                           R"("expectedDuration":"3601s")"});
}

TEST(RefereeOfReservations, PassesWhereNothingIsKeptForNodes) {
  Scenario placed = kForNodes;
  placed.plan = "place long-0 b gpus 4 5 6 7\n";
  expect_found(placed, {"as it is", referee::Rule::kReserved, "place long-0 b", "place long-0 a"});
  const auto expect_valid_with = [&](const std::string& from, const std::string& to) {
    Scenario changed = placed;
    changed.name = to;
    replace_once(changed.snapshot, from, to);
    expect_valid(changed);
  };
  // The large gang has no node at all.
  expect_valid_with(R"("gang":"large","gpu":{"count":8}})", R"("gang":"large","gpu":{"count":8},"gpuModels":["x"]})");
  expect_valid_with(R"("24h")", R"("never")");
  expect_valid_with(R"("order":"expectedDuration")", R"("order":"waited")");
  // `small` and `long` may change places.
  expect_valid_with(R"("expectedDuration":"4h")", R"("expectedDuration":"10800.5s")");
}

// `large` has its node now, and `small` its devices.
TEST(RefereeOfReservations, FindsWhatTakesTheQuotaOfThoseThatHaveTheirTurn) {
  Scenario placed = kForNodes;
  replace_once(placed.snapshot, R"({"name":"b","gpus":{"count":8}})",
               R"({"name":"b","gpus":{"count":8}},{"name":"c","gpus":{"count":15}})");
  placed.plan = "place large-0 c gpus 0 1 2 3 4 5 6 7\nplace small-0 b gpus 4 5 6 7\n";
  expect_valid(placed);
  expect_found(placed, {"no turn", referee::Rule::kReserved, "place small-0", "place long-0"});
  placed.plan = "place long-0 b gpus 4 5 6 7\n";
  const std::string small = R"({"name":"small-0","gang":"small","gpu":{"count":4}})";
  for (const char* more : {R"("gpuModels":["x"])", R"("resources":{"cpu":1})", R"("hostPorts":[{"port":80}])"}) {
    Scenario changed = placed;
    changed.name = more;
    replace_once(changed.snapshot, small, small.substr(0, small.size() - 1) + "," + more + "}");
    expect_valid(changed);  // `small` waits for more than devices
  }
}

// The node of `large` is empty in an hour. It is held, for the pods of all queues.
TEST(RefereeOfReservations, FindsWhatIsPlacedOnAHeldNode) {
  Scenario placed = kForNodes;
  replace_once(placed.snapshot, R"({"name":"long","queue":"q","preemptible":false,"expectedDuration":"4h"})",
               R"({"name":"long","queue":"other","preemptible":true,"expectedDuration":"1h"})");
  placed.plan = "place long-0 a gpus 4 5 6 7\n";
  expect_valid(placed);
  const std::string hour = R"("preemptible":true,"expectedDuration":"1h")";
  expect_found(placed, {"a second too long", referee::Rule::kReserved, hour,
                        R"("preemptible":true,"expectedDuration":"3601s")"});
  replace_once(placed.snapshot, hour, R"("preemptible":true,"expectedDuration":"3601s")");
  const auto expect_valid_with = [&](const std::string& from, const std::string& to) {
    Scenario changed = placed;
    changed.name = to;
    replace_once(changed.snapshot, from, to);
    expect_valid(changed);
  };
  expect_valid_with(R"("reserveAfter":"24h")", R"("reserveAfter":"24h","holds":0)");
  expect_valid_with(R"("reserveAfter":"24h")", R"("reserveAfter":"never")");
  expect_valid_with(R"("preemptible":false,"expectedDuration":"10h")",
                    R"("preemptible":true,"expectedDuration":"10h")");
  placed.plan = "place long-0 b gpus 4 5 6 7\n";
  expect_valid(placed);
}

TEST(RefereeOfReservations, TakesTheNodesThatAreEmptyFirst) {
  Scenario placed = kForNodes;
  placed.plan = "place long-0 a gpus 4 5 6 7\n";
  replace_once(placed.snapshot, R"("name":"r1","queue":"other","preemptible":true,"expectedDuration":"2h")",
               R"("name":"r1","queue":"other","preemptible":true,"expectedDuration":"6h")");
  replace_once(placed.snapshot, R"("name":"r2","queue":"other","preemptible":true,"expectedDuration":"3h")",
               R"("name":"r2","queue":"other","preemptible":true,"expectedDuration":"5h")");
  expect_valid(placed);  // by then
  expect_found(placed,
               {"earlier", referee::Rule::kReserved, R"("expectedDuration":"5h")", R"("expectedDuration":"4h")"});
}

TEST(RefereeOfReservations, SlicesTakeNoNodes) {
  const Case slices(
      Cluster()
          .queue("q", R"("gpu":{"quota":16})")
          .node("a", R"("resources":{"nvidia.com/mig-7g.80gb":8})")
          .gang("g", R"("queue":"q","preemptible":false,"expectedDuration":"1h")")
          .pod("g-0", R"("gang":"g","resources":{"nvidia.com/mig-7g.80gb":8},"nodeSelector":{"no":"node"})")
          .pod("alone", 1, R"("queue":"q","preemptible":false)"));
  EXPECT_TRUE(slices->gangs[slices.gang("g")].times.has_turn);
  EXPECT_TRUE(slices->gangs[slices.gang("alone")].times.may_start());
  EXPECT_TRUE(referee::kept_back(slices.snapshot(), slices.problem()).certain.empty());
}

TEST(RefereeForecast, RoundsPowersDown) {
  EXPECT_EQ(referee::thousand_times_two_thirds_power(0), 0);
  EXPECT_EQ(referee::thousand_times_two_thirds_power(1), 1000);
  EXPECT_EQ(referee::thousand_times_two_thirds_power(2), 1587);
  EXPECT_EQ(referee::thousand_times_two_thirds_power(8), 4000);
  EXPECT_EQ(referee::thousand_times_two_thirds_power(27), 9000);
  EXPECT_EQ(referee::thousand_times_two_thirds_power(1'000'000), 10'000'000);
}

// The turns of the items, by every choice.
std::vector<referee::Inclusion> turns_by_trial(const std::vector<referee::FillItem>& items, MicroGpu room) {
  std::vector<referee::Inclusion> turns(items.size(), referee::Inclusion::kNo);
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].priority == items[begin].priority) ++end;
    std::pair<MicroGpu, std::int64_t> best{-1, -1};
    std::vector<std::uint32_t> choices;
    for (std::uint32_t choice = 0; choice < (1u << (end - begin)); ++choice) {
      std::pair<MicroGpu, std::int64_t> value{0, 0};
      for (std::size_t i = begin; i < end; ++i) {
        if ((choice >> (i - begin) & 1u) == 0) continue;
        value.first += items[i].gpus;
        value.second += items[i].gpus * items[i].seniority;
      }
      if (value.first > room || value < best) continue;
      if (value > best) choices.clear();
      best = value;
      choices.push_back(choice);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const auto with = std::ranges::count_if(choices, [&](std::uint32_t c) { return (c >> (i - begin) & 1u) != 0; });
      if (with > 0)
        turns[i] =
            static_cast<std::size_t>(with) == choices.size() ? referee::Inclusion::kYes : referee::Inclusion::kOpen;
    }
    room -= best.first;
  }
  return turns;
}

TEST(RefereeFill, AgreesWithTrial) {
  std::mt19937 random(7);
  const auto upto = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  for (int round = 0; round < 3000; ++round) {
    const int seniorities = 1 + upto(8), unit = 1 + upto(2);
    std::vector<referee::FillItem> items;
    for (int i = upto(9); i >= 0; --i) items.push_back({unit * (1 + upto(5)), upto(seniorities), upto(3) == 0 ? 1 : 0});
    std::ranges::stable_sort(items, std::ranges::greater{}, &referee::FillItem::priority);
    const MicroGpu room = upto(30);
    ASSERT_EQ(referee::fill(items, room), turns_by_trial(items, room)) << "round " << round;
  }
}

TEST(RefereeFill, LeavesOpenWhatTakesTooManyUnits) {
  using referee::Inclusion;
  EXPECT_EQ(referee::fill(std::vector<referee::FillItem>{{2048, 1, 0}, {1, 2, 0}}, 2048),
            (std::vector<Inclusion>{Inclusion::kYes, Inclusion::kNo}));
  EXPECT_EQ(referee::fill(std::vector<referee::FillItem>{{2048, 1, 0}, {1, 2, 0}, {3000, 1, 0}}, 2049),
            (std::vector<Inclusion>{Inclusion::kYes, Inclusion::kYes, Inclusion::kNo}));
  EXPECT_EQ(referee::fill(std::vector<referee::FillItem>{{2048, 1, 0}, {3, 2, 0}, {3000, 1, 0}, {5, 1, -1}}, 2049),
            (std::vector<Inclusion>{Inclusion::kOpen, Inclusion::kOpen, Inclusion::kNo, Inclusion::kOpen}));
}

// Small clusters with gangs that run and wait, of 1 to 16 GPUs.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {}
  Cluster make();

 private:
  int upto(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }
  bool once_in(int times) { return upto(times - 1) == 0; }
  std::string seconds(int most) { return std::to_string(upto(most)); }
  void make_policy();
  void make_nodes();
  void make_queues();
  std::string terms();
  void make_running();
  void make_releasing();
  void make_waiting(int number);
  std::string pod_of(const std::string& gang, int gpus);
  void make_alone(int number);

  std::mt19937 random_;
  Cluster cluster_;
  std::vector<int> free_;
  std::vector<std::string> running_;
  int queues_ = 1;
  bool is_tree_ = false;
  int step_ = 1;  // of instants and durations, so that some are equal
};

void RandomCluster::make_policy() {
  std::string histories;
  if (!once_in(3)) {
    for (const char* queue : {"", "q0", "q1"}) {
      for (int from = 1; from < 20; from += 1 + upto(8)) {
        if (once_in(2)) continue;
        if (!histories.empty()) histories += ",";
        histories += "{" + (*queue == 0 ? std::string() : R"("queue":")" + std::string(queue) + R"(",)") +
                     R"("gpus":[)" + std::to_string(from) + "," + std::to_string(from) + R"(],"count":)" +
                     std::to_string(upto(40)) + R"(,"mean":)" + seconds(100'000) + "}";
      }
    }
    histories = R"("expectedDurations":[)" + histories + "],";
  }
  const std::array<const char*, 5> after = {"0", "3600", "86400", "\"24h\"", "\"never\""};
  cluster_.policy(histories + (once_in(20) ? R"("nonPreemptibleWithinQuota":false,)" : "") +
                  (once_in(8) ? R"("agingInterval":"20h",)" : "") + R"("overTime":{"order":")" +
                  (once_in(20) ? "waited" : "expectedDuration") + R"(","reserveAfter":)" +
                  after[static_cast<std::size_t>(upto(once_in(4) ? 4 : 2))] + R"(,"holds":)" + std::to_string(upto(3)) +
                  "}");
}

void RandomCluster::make_nodes() {
  const bool is_mixed = once_in(3);
  for (int i = 1 + upto(4); i >= 0; --i) {
    const int gpus = is_mixed && once_in(3) ? 4 << upto(2) : 8;
    cluster_.node("n" + std::to_string(free_.size()), gpus,
                  std::string(R"("labels":{"kind":")") + (is_mixed && once_in(2) ? "x" : "y") + R"("})" +
                      (once_in(20) ? R"(,"unschedulable":true)" : ""));
    free_.push_back(gpus);
  }
}

void RandomCluster::make_queues() {
  queues_ = 1 + upto(2);
  is_tree_ = queues_ > 1 && once_in(2);
  for (int i = 0; i < queues_; ++i) {
    const std::string quota =
        once_in(6) ? "" : R"("gpu":{"quota":)" + std::to_string(4 + upto(28)) + (once_in(10) ? ".5" : "") + "}";
    const std::string parent = is_tree_ && i > 0 ? R"("parent":"q0")" : "";
    std::string more = quota + (quota.empty() || parent.empty() ? "" : ",") + parent;
    if (once_in(8))
      more += (more.empty() ? "" : ",") + std::string(R"("cpu":{"limit":)") + std::to_string(upto(3)) + "}";
    cluster_.queue("q" + std::to_string(i), more);
  }
}

std::string RandomCluster::terms() {
  const int first = is_tree_ && !once_in(20) ? 1 : 0;
  std::string text = R"("queue":"q)" + std::to_string(first + upto(queues_ - 1 - first)) + R"(","preemptible":)" +
                     (once_in(6) ? "true" : "false") + R"(,"created":)" +
                     std::to_string(1'000'000 - step_ * upto(250'000 / step_));
  if (!once_in(3)) text += R"(,"expectedDuration":)" + std::to_string(step_ * (1 + upto(100'000 / step_)));
  if (once_in(4)) text += R"(,"priority":)" + std::to_string(upto(1));
  if (once_in(15)) text += R"(,"weight":3)";
  if (once_in(15)) text += R"(,"timeout":100000)";
  if (once_in(6)) text += R"(,"expectedEnd":)" + std::to_string(999'000 + step_ * upto(100'000 / step_));
  return text;
}

void RandomCluster::make_running() {
  for (int g = upto(6); g > 0; --g) {
    const std::string name = "r" + std::to_string(g);
    std::string pods;
    int number = 0;
    const int most = once_in(2) ? 1 : 3, gpus = 1 << upto(3);
    for (std::size_t n = static_cast<std::size_t>(upto(2)); n < free_.size() && number < most; ++n) {
      if (free_[n] < gpus || once_in(3)) continue;
      if (number == 0) cluster_.gang(name, terms() + R"(,"minMember":1)");
      free_[n] -= gpus;
      cluster_.running(
          name + "-" + std::to_string(number++), "n" + std::to_string(n), gpus,
          R"("gang":")" + name + R"(","started":)" + std::to_string(1'000'000 - step_ * upto(90'000 / step_)));
    }
    if (number > 0) running_.push_back(name);
    if (number > 0 && once_in(5)) cluster_.pod(name + "-x", 1, R"("gang":")" + name + R"(")");
  }
}

void RandomCluster::make_releasing() {
  for (std::size_t n = 0; n < free_.size(); ++n) {
    if (free_[n] < 2 || !once_in(8)) continue;
    free_[n] -= 2;
    cluster_.running(
        "gone" + std::to_string(n), "n" + std::to_string(n), 2,
        R"("status":"releasing",)" + (running_.empty() ? terms() : R"("gang":")" + running_.back() + R"(")"));
  }
}

std::string RandomCluster::pod_of(const std::string& gang, int gpus) {
  std::string text = R"("gang":")" + gang + R"(",)";
  text += once_in(15) ? R"("gpu":{"fraction":0.5})" : R"("gpu":{"count":)" + std::to_string(gpus) + "}";
  if (once_in(20)) text += once_in(2) ? R"(,"status":"succeeded")" : R"(,"status":"failed")";
  if (once_in(40)) text += R"(,"status":"gated")";
  return text.find("status") == text.rfind("status") ? text : R"("gang":")" + gang + R"(","gpu":{"count":1})";
}

void RandomCluster::make_waiting(int number) {
  const std::string name = "w" + std::to_string(number);
  const int gpus = once_in(2) ? 8 : 1 + upto(7), count = gpus > 4 ? 1 + upto(1) : 1 + upto(3);
  if (once_in(12)) {
    cluster_.gang(name, terms()).pods(name, count, gpus, R"("status":"succeeded","gang":")" + name + R"(")");
    return;
  }
  const std::string selector = once_in(4) ? R"(,"nodeSelector":{"kind":"x"})" : "";
  if (once_in(8)) {
    cluster_.gang(name, terms() + R"(,"minSubgroups":)" + std::to_string(1 + upto(1)) +
                            R"(,"subgroups":[{"name":"s0","minMember":)" + std::to_string(1 + upto(2)) +
                            R"(},{"name":"s1","minMember":1}])");
    for (int i = 0; i < count + 1; ++i)
      cluster_.pod(name + "-" + std::to_string(i),
                   pod_of(name, gpus) + selector + R"(,"subgroup":"s)" + (i % 2 == 0 ? "0\"" : "1\""));
    return;
  }
  cluster_.gang(name, terms() + (once_in(3) ? R"(,"minMember":)" + std::to_string(1 + upto(count)) : ""));
  for (int i = 0; i < count; ++i)
    cluster_.pod(name + "-" + std::to_string(i), pod_of(name, once_in(6) ? 1 + upto(7) : gpus) + selector);
  if (once_in(20)) cluster_.pod(name + "-port", R"("gang":")" + name + R"(","hostPorts":[{"port":80}])");
  if (once_in(10)) cluster_.pod(name + "-cpu", R"("gang":")" + name + R"(","resources":{"cpu":1})");
}

void RandomCluster::make_alone(int number) {
  cluster_.pod("alone" + std::to_string(number), once_in(3) ? 8 : 1 + upto(3), terms());
}

Cluster RandomCluster::make() {
  step_ = once_in(2) ? 1 : 10'000;
  make_policy();
  make_nodes();
  make_queues();
  make_running();
  make_releasing();
  for (int i = 2 + upto(6); i > 0; --i) make_waiting(i);
  for (int i = upto(2); i > 0; --i) make_alone(i);
  return cluster_;
}

// The nodes are held that the referee takes for held, for the same gangs, and closed to the same pods.
void expect_equal_holds(const Case& built, const referee::KeptBack& told, unsigned seed) {
  const Problem& problem = built.problem();
  const referee::Forecast forecast(built.snapshot(), problem);
  std::map<NodeIndex, const referee::KeptBack::Hold*> hold_of;
  for (const referee::KeptBack::Hold& hold : told.holds) {
    for (const NodeIndex node : hold.nodes) hold_of[node] = &hold;
  }
  for (const NodeIndex node : problem.nodes.indices()) {
    const auto at = hold_of.find(node);
    const NodeClass& node_class = problem.class_of(node);
    if (at == hold_of.end()) {
      EXPECT_TRUE(node_class.held_for.is_none() || told.more_holds) << "seed " << seed << ", node " << node.value();
      continue;
    }
    EXPECT_EQ(node_class.held_for, at->second->for_gang) << "seed " << seed << ", node " << node.value();
    for (const Pod& pod : problem.pods) {
      const PodClass& pod_class = problem.pod_classes[pod.pod_class];
      const bool passes =
          passes_filters(built.snapshot().pod_specs[pod_class.spec], built.snapshot().nodes[node.value()]);
      const bool ends = built.snapshot().time + forecast.duration(pod.gang) <= at->second->until;
      EXPECT_EQ(pod_class.allowed[problem.nodes[node].node_class.value()],
                passes && (!pod_class.counts_as_gpu || pod.gang == at->second->for_gang || ends))
          << "seed " << seed << ", gang " << problem.gangs[pod.gang].name << ", node " << node.value();
    }
  }
}

TEST(RefereeOfReservations, AgreesWithTheProblem) {
  constexpr unsigned kRounds = 4000;
  std::size_t kept = 0, kept_for_nodes = 0, undecided = 0, held = 0, clusters = 0;
  for (unsigned seed = 0; seed < kRounds && !HasFailure(); ++seed) {
    const Cluster cluster = RandomCluster(seed).make();
    const auto built = Case::if_valid(cluster.line());
    if (!built) continue;
    ++clusters;
    const referee::KeptBack told = referee::kept_back(built->snapshot(), built->problem());
    held += told.holds.size();
    expect_equal_holds(*built, told, seed);
    kept += told.certain.size();
    undecided += told.undecided.size();
    for (const referee::KeptBack::Entry& entry : told.certain)
      kept_for_nodes += built->problem().gangs[entry.for_gang].times.has_turn ? 1 : 0;
    for (const GangIndex gang : built->problem().gangs.indices()) {
      const bool is_open = std::ranges::binary_search(told.undecided, gang);
      const bool is_kept = std::ranges::binary_search(told.certain, gang, {}, &referee::KeptBack::Entry::gang);
      if (is_open) continue;
      EXPECT_EQ(is_kept, !built->problem().gangs[gang].times.kept_back_for.is_none())
          << "seed " << seed << ", gang " << built->problem().gangs[gang].name << " in\n"
          << cluster.line();
    }
  }
  EXPECT_GT(clusters, kRounds * 9 / 10);
  EXPECT_GT(kept, kRounds / 8);
  EXPECT_GT(kept_for_nodes, kRounds / 50);
  EXPECT_GT(kept, 4 * undecided);
  EXPECT_GT(held, kRounds / 10);
}

}  // namespace
}  // namespace muster::test
