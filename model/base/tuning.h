// Every tuned number of the product: a number that changes which plan is found, or when, and whose value comes from
// measuring. Each states its unit, its meaning, where the value comes from, and the measured range if one is known.
//
// Not here: what docs/semantics.md defines (model/base/semantics.h), tolerances of CBC, limits of formats, sentinels,
// and sizes that change only the speed of a loop (prefetch distances, tasks of a thread, reads of the clock). A number
// that the program can measure while it runs is learnt (solver/budget/forecast.h); here is only what it starts with.
// docs/benchmarks/speed.md and bench_forecast compare the times below with measured ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster {

// Parts of time, in 0 .. 1. Without a clock they are parts of the counted work (solver/budget/deadline.h). Of what is
// left when the stage begins, unless said otherwise. Chosen by the plans of OpenB and of contended clusters; no ranges
// were recorded. Parts of one meaning share one number.
struct TimeParts {
  double aside = 0.1;  // a quick attempt beside the main one: priced columns first, relief, reasons
  double side = 0.3;   // what the main stage begins with: more starts, pricing
  double half = 0.5;   // preparing: what takes longer is given up; CBC on a part; without a clock, on one level
  double main = 0.7;   // an engine or a pass that another one follows
  double most = 0.9;   // a stage that leaves the rest for what ends it, or for others that find little
};

// Times and rates of the end of a cycle and of what is repeated in it.
struct ForecastTuning {
  std::int64_t few_items = 1'000;  // pods and nodes: from fewer, no rate is learnt, as fixed costs prevail
  std::int64_t few_kinds = 100;    // of gangs, likewise
  double margin = 2;               // kept for a step, as a multiple of the time expected; 1.75 to 2 were in use
  double repeat = 3;               // the same for verifying, which runs again with more to do
  double first_end_ns = 300;       // per item: referee and report of the first line, then learnt; 293 to 504
  double glance_ns = 100;   // per item: to visit it once: to stop a search, begin reasons, write a name; 80 to 100
  double waking_ms = 0.2;   // for the writing thread to start
  double answer_ms = 2;     // for the worker to answer, at least; with less, it is not asked
  std::size_t lines = 100;  // whose delays are remembered: one line in so many is later than all of them
  double start_ms = 15;     // for a process to start, 0.2 to 6 with both cores busy; to return, at most
};

// What the engines need, for clusters that are too large to finish everything. An item is a pod or a node.
struct NeedTuning {
  double greedy_start_us = 10;  // per pod, for greedy's first start; then learnt. 0.5 to 2.5, 11 to 83 with evictions
  double first_plan_us = 5;     // per item: the MILP engine's first better plan; then learnt. 3 to 7
  double choice_us = 2'000;     // per kind of gangs: choosing beside greedy, until it has a better plan; then learnt.
                                // 1'500 to 2'300 without dealing its places
  double gain_times = 10;       // first plans: for 90 % of its gain if nodes differ; measured 5, alike nodes 1
};

// From which size a problem is treated differently, and limits of counted work.
struct SizeTuning {
  std::int64_t large = 5'000;  // items; smaller problems get all starts of greedy and the MILP engine in any budget
  std::int64_t very_large = 30'000;        // items; beyond, greedy's third and later orders have found no better plan
  std::int32_t starts = 2;                 // of greedy on very large clusters
  std::size_t many_kinds = 300;            // kinds of nodes: beyond, none is listed, and blocks of them are priced
  std::int64_t work_per_node = 2'000'000;  // units of WorkLimit for the MILP engine: 12 to 50 ns each, on 4 to 99 nodes
  std::int64_t least_work_nodes = 100;     // that are counted at least; the longest solve took 10.3 s
  std::int64_t trials_per_item = 20;       // of a search without a clock, on clusters that are not large
};

// How much is listed or given to CBC whole.
struct ListingTuning {
  std::size_t most_states = 200'000;  // intermediate states of all lists, ways to share devices that are examined
  std::size_t few = 2'000;  // states of one kind of nodes, or columns without a clock, in a model of all nodes;
                            // lists this short need no plan from elsewhere first
  std::size_t most_columns = 20'000;  // configurations of all kinds; of a model of all nodes or of places
  std::int64_t state_us = 10;         // of the budget for each state that may be listed; listing it takes 2 to 3
  std::size_t state_devices = 64;     // free devices of a node, with which each of its states counts as one more in
                                      // the limits above; by nodes of 65,536 devices, no range was recorded
  std::int64_t column_us = 300;       // of the time left for each column of all nodes: about what CBC takes
};

// Pricing of one node: a Lagrangian dual of its resources and counts.
struct PricingTuning {
  std::int64_t grains = 2'000;    // levels of a device that the table of shares distinguishes
  int rounds = 2;                 // over all resources; times the effort
  int thorough = 5;               // effort where less finds no column any more
  int bisections = 9;             // of one multiplier
  int steps = 3;                  // of all multipliers together, and of prices for pods of which there are few
  double factor = 1.25;           // of a multiplier, from one try to the next, at most
  double least_stride = 0.005;    // of a quick step, relative
  double first_multiplier = 0.1;  // of the one at which no pod is worth placing any more
  std::size_t bundles = 4;        // different devices of one content that are mixed
  std::size_t mix_levels = 64;    // of the scarcest resource in the mix
  int mixed = 3;                  // smaller and larger multipliers of it in the mix, each
};

// Multipliers of two resources, at which all nodes of a kind are priced together; and plans at known prices. By half
// occupied clusters of 1,200 to 97,000 nodes of OpenB.
struct GridTuning {
  std::size_t first = 32, second = 8;  // multipliers of the scarcest resource, and of the next one, 0 among them
  double most = 4;                     // the largest, in multiples of the mean price of pods by what they use
  double range = 1'000;                // from the smallest above 0 to the largest
  std::size_t blocks = 8;              // of nodes in the master; 4 to 32, with more a round costs more
  std::size_t sampled = 4'000;         // rooms that are priced until prices are good, then all; 1,000 are too few
  double smoothing = 0.75;             // weight of the best known prices in those that are priced at; 0.4 to 0.9
  double gap = 0.002;                  // relative, at which prices are good enough for a plan
  int idle = 20;                       // rounds without progress, after which only rounding is left
  std::size_t renewals = 60;  // of prices while nodes are filled; with 16, 0.5 % is lost, with 250 no more gained
  double few = 3;             // pods more or fewer than expected, which say nothing
  double response = 0.2;      // power of what is left over what was expected, in a price; 0.1 to 0.3
  double stalled = 0.01;      // of the gap: blocks that gain less in a round get contents by rooms; 0.003 to 0.03
  std::size_t shards = 2;     // independent parts of a fill, with any number of threads; with 8, 0.14 % is lost
  std::size_t tried = 4;      // larger and smaller multipliers each, at which a node's content is tried
};

// Column generation, over kinds of nodes and over blocks of them.
struct GenerationTuning {
  double smoothing = 0.4;     // weight of the best known prices in those that are priced at
  double smaller_part = 0.9;  // of the summed capacity, if all pods fit into the whole of it
  std::size_t blocks = 200;   // of nodes that nearly all differ
  GridTuning grid;
};

// Parts of a choice model around its incumbent (solver/choice/improvement.h). By contended clusters of 200 and 1,000
// nodes without moves, with topology and with parts.
struct LoopTuning {
  double first = 100;     // columns of gangs that the first part frees; 100 to 800
  double growth = 2;      // of that, when a part is solved in less than its time
  double shrink = 0.7;    // of that, when it is stopped without a gain
  double share = 0.05;    // of the time left, for a part
  double seconds = 0.1;   // of it, at most; 0.08 to 0.15 are alike
  double stop = 4;        // times that, after which a part is stopped
  double memory = 0.9;    // weight of what a kind of parts gained before, in each step
  double least = 0.1;     // of all gains, that every kind counts as at least
  double waiting = 0.33;  // of the columns, those of gangs that wait, where they are chosen by priority
  double patience = 8;    // vain steps of a level, after which the next one has as many turns
};

// The MILP engine beyond pricing.
struct MilpTuning {
  LoopTuning loop;
  std::int64_t share_ways = 128;       // ways in which a gang's units fill a share, that get a column each
  std::int64_t iteration_units = 200;  // of WorkLimit, of a simplex iteration on a model of any size
};

// Places of a choice (solver/slots). By contended clusters of 20 to 1,000 nodes; no ranges were recorded.
struct SlotTuning {
  std::size_t ejecting_nodes = 32;     // the cheapest, that are tried for one pod
  std::size_t ejections_per_pod = 4;   // on average, after which no more are tried
  int repair_trials = 1'000;           // for one unit without places
  std::size_t options = 500;           // ways in which pods leave or fill one node or shared device, before some are
                                       // left out
  int in_any_case = 16;                // pods for which room is made without time, too: some milliseconds on
                                       // thousands of nodes
  std::size_t most_known = 3'000'000;  // costs that are remembered, 32 bytes each, before all are forgotten: OpenB x 4
                                       // has 0.9 million at most; with those of one rank, dealing takes twice as long
};

// Bounds of levels by sums (model/objective): with more, a bound is weaker or left out.
struct BoundTuning {
  std::int64_t steps = 200'000;          // of one search: sums of work that are kept, looks at pods that may leave,
                                         // pairs of queues
  std::int64_t gang_steps = 20'000'000;  // of counting copies of gangs' pods on nodes
  std::int64_t packing_depth = 4'000;    // kinds of pods x nodes, a call each: a search for a packing that is deeper
                                       // would not end within `steps`; 52 to 208 were needed, 10^5 overflowed the stack
  std::int64_t priced_devices = 64;  // of a node, for which prices by devices are tried
};

// Choices of places and victims. By the levels of 52 contended and full clusters of 12 to 100 nodes and of the plans of
// test/golden; no ranges were recorded unless said.
struct HeuristicsTuning {
  std::size_t promising = 64;  // nodes that are examined for victims of one pod
  std::size_t tried = 24;      // of them, the cheapest, if victims have to be moved; also ways to bring a pod back
  std::size_t enough = 16;     // nodes to clear, or domains of an affinity, after which others are passed over; with
                               // 8 to 64, early levels of a fifth of the plans change, for better and for worse
  std::size_t few = 4;         // drawn at most: nodes and gangs of a trial, nodes that are opened for a return
  int passes = 4;              // in which a choice is made anew; the later passes find less, 3 the same
  std::int64_t return_trials = 4'000;     // of all pods together
  std::int64_t binding_checks = 1 << 18;  // for an order in which pods may be bound; some 20 ms
  std::size_t most_names = 50'000'000;  // in all lists `after` of a plan, half a gigabyte of text; else it is given up.
                                        // By a plan of 1.6 billion names, no range was recorded
  std::size_t kept = 8;                 // tables of all nodes, for victims of different kinds; 4 and 8 were in use
  std::size_t priorities = 32;          // of which each is counted apart in what a queue uses
  std::int64_t room_steps = 8;          // of what is free on a device, that distinguish nodes
  std::size_t forecast_tries = 8;       // nodes with enough devices that a forecast looks at for cpu and memory
};

// Large neighbourhood search, and repacking. By the plans of test/golden; no ranges were recorded unless said.
struct SearchTuning {
  std::size_t parts = 8;  // searched at the same time, with any number of threads
  std::size_t part_nodes = 64;
  std::int64_t part_trials = 200;     // in a round
  std::size_t vain_rounds = 20;       // after which the search ends, for each visit of all nodes
  std::size_t trial_nodes = 12;       // at most, of a gang
  double noise = 0.3;                 // relative, of what pods and nodes are ranked by; 0.1 to 0.5 were in use
  std::size_t repacked = 2'000;       // pods: with 1,636 it left one more whole node, with 3,468 none
  std::int64_t repacking_steps = 10;  // nodes examined, for every two items; with 20, 10 ms of 50 more and no gain
  // Of one round. Gangs with more pods stay where they are.
  constexpr std::size_t round_nodes() const { return parts * part_nodes; }
};

// Of `muster agent`. No ranges were recorded, but for the first.
struct AgentTuning {
  double least_share = 0.5;     // of the budget, for the solver; with 0.05, plans for 30,000 pods ended after 15 gangs
  std::int64_t held_s = 30;     // room is held for its gang after the last pod was seen to leave it
  std::int64_t written_s = 30;  // a write is awaited in the watch before the next plan
  std::int64_t unanswered_s = 5;  // the same of a write without an answer
  std::int64_t binding_s = 20;    // kube-scheduler's call for a pod waits for those of its gang
  std::int64_t stale_s = 60;      // beyond --idle-period: the extender does not follow an older plan
};

// The online placer (solver/online, heuristics/policies/online_*), by the lost GPUs of OpenB's online track:
// docs/online.md has the measured values.
struct OnlineTuning {
  double segment = 0.1;     // of the cluster's devices: a step of the demand to come, which ends one beyond the cluster
  double slope = 3;         // by which later demand counts for less: exp(-slope) a cluster
  double interval = 1.25;   // pods between two solves, for each class of pods and type of nodes
  double step = 2;          // classes with cpu of the same power of it share a bid; prices of cpu rise by it, those of
                            // memory, which are fewer, by its square
  double core_worth = 0.2;  // devices, of a core of a pod without devices; with 0.1 a fifth more is lost
  double least_gain = 1e-4;                       // devices: for less, neither a column is added nor a place changed
  std::size_t cpu_prices = 8, memory_prices = 4;  // of the grid, with 0; 14 and 7 were no better
  std::size_t buckets = 20;        // of what a node has free, by the most frequent classes that still fit
  double usable = 0.02;            // devices, for each that pods seen so far could use; 0.015 to 0.03
  double premium = 0.1;            // of the devices of a pod that would be missed; 0.1 to 0.15
  std::size_t trials_per_pod = 4;  // of a batch; with 12 it changes by -0.04 to +0.08
  AgentTuning agent;
};

// How answers about a cluster divide their time, and what ends them if no clock does. Chosen by the situations of users
// and by OpenB; no ranges were recorded. Shares are of what is left when the step begins.
struct AnswerTuning {
  double base = 0.4;         // the first plan, or bound, of several steps
  double step = 0.3;         // of each step after it
  int variations = 10;       // plans that share the time of one: most are settled long before
  int remedies = 3;          // times the budget of a plan: all remedies of one gang
  std::int64_t tests = 200;  // plans at most for the remedies of one gang, and for the prices
  double lean = 0.001;       // the part by which a gang is worth more or less, to see whether a plan is as good without
  std::int64_t least_ms = 100;  // for a greedy plan, in any case: a late one is better than none
  std::size_t drained = 12;     // nodes that are tried for the next one of a drain
  int repairs = 16;             // of a purchase of nodes, until its plan places all pods
  double knapsack_gap = 0.01;   // relative, at first: what remains may take ten times as long
  std::int64_t knapsack_nodes = 2'000, mix_nodes = 5'000;  // of branch and bound
  std::size_t value_rows = 8;                              // of the bound by patterns, the last ones, in a mix of nodes
};

struct Tuning {
  TimeParts parts;
  ForecastTuning forecast;
  NeedTuning needs;
  SizeTuning size;
  ListingTuning listing;
  PricingTuning pricing;
  GenerationTuning generation;
  MilpTuning milp;
  SlotTuning slots;
  BoundTuning bounds;
  HeuristicsTuning heuristics;
  SearchTuning search;
  OnlineTuning online;
  AnswerTuning answers;
};

inline constexpr Tuning kTuning;

}  // namespace muster
