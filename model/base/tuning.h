// Every tuned number of the product: a number that changes which plan is found, or when, and whose value comes from
// measuring. Each states its unit, its meaning, where the value comes from, and the measured range if one is known.
//
// Not here: tolerances of CBC, limits of formats, sentinels, and sizes that change only the speed of a loop (prefetch
// distances, tasks of a thread, reads of the clock). A number that the program can measure while it runs is learnt
// (solver/budget/forecast.h); here is only what it starts with. docs/benchmarks/speed.md and bench_forecast compare the
// times below with measured ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster {

// Parts of time, in 0 .. 1. Without a clock they are parts of the counted work (solver/budget/work_limit.h). Of what is
// left when the stage begins, unless said otherwise. Chosen by the plans of OpenB and of contended clusters; no ranges
// were recorded. Parts of one meaning share one number.
struct TimeParts {
  double aside = 0.1;           // a quick attempt beside the main one: priced columns first, relief, reasons
  double more_starts = 0.2;     // of the budget: greedy's starts but the first, if another engine follows
  double side = 0.3;            // a bound or a plan that the main stage begins with: oldest first, samples, branches
  double half = 0.5;            // preparing: what takes longer is given up; without a clock also CBC on one level
  double main = 0.7;            // an engine or a pass that another one follows
  double most = 0.9;            // a stage that leaves the rest for what ends it, or for others that find little
  double first_search = 0.03;   // the search before the MILP engine, and gathering
  double pricing = 0.35;        // column generation on one level
  double pricing_alone = 0.75;  // the same if no pod may leave: rounding its last solution gives a good plan
};

// Times and rates of the end of a cycle and of what is repeated in it.
struct ForecastTuning {
  std::int64_t few_items = 1'000;  // pods and nodes: from fewer, no rate is learnt, as fixed costs prevail
  double margin = 2;               // kept for a step, as a multiple of the time expected; 1.75 to 2 were in use
  double repeat = 3;               // the same for a step that runs again with more to do: verifying, the last search
  double first_end_ns = 300;       // per item: referee and report of the first line, then learnt; 293 to 504
  double glance_ns = 100;          // per item: to visit it once, which is to stop a search or begin reasons; 80 to 100
  double waking_ms = 0.2;          // for the writing thread to start
  double written_bytes_per_ns = 0.5;  // text of a plan on one thread; 0.55 to 0.8
  double answer_ms = 2;               // for the worker to answer, at least; with less, it is not asked
  double start_ms = 15;               // for a process to start, 0.2 to 6 with both cores busy; to return, at most
};

// What the engines need, for clusters that are too large to finish everything. An item is a pod or a node.
struct NeedTuning {
  double greedy_start_us = 10;  // per pod, for greedy's first start; then learnt. 0.5 to 2.5, 11 to 83 with evictions
  double first_plan_us = 5;     // per item: the MILP engine's first better plan; then learnt. 5.0 to 7.2
  double first_plan_occupied_us = 14;  // the same if most nodes differ by what runs on them; 8.8 to 17
  double gain_times = 10;              // first plans: for 90 % of its gain if nodes differ; measured 5, alike nodes 1
  double supply_ns = 50;               // per kind of nodes and class of pods: before there is a model; 25 to 50
};

// From which size a problem is treated differently, and limits of counted work.
struct SizeTuning {
  std::int64_t large = 5'000;  // items; smaller problems get all starts of greedy and the MILP engine in any budget
  std::int64_t very_large = 30'000;        // items; beyond, greedy's third and later orders have found no better plan
  std::int32_t starts = 2;                 // of greedy on very large clusters
  std::size_t many_kinds = 300;            // kinds of nodes: beyond, none is listed, and blocks of them are priced
  double full = 0.001;                     // relative distance from a bound by sums, at which a level has no room left
  std::int64_t work_per_node = 2'000'000;  // units of WorkLimit for the MILP engine: 12 to 50 ns each, on 4 to 99 nodes
  std::int64_t least_work_nodes = 100;     // that are counted at least; the longest solve took 10.3 s
  std::int64_t most_trials = 100'000;      // of a search without a clock
  std::int64_t trials_per_item = 20;       // the same, for smaller clusters
  std::int64_t settled_trials_per_item = 2;  // the same if all levels are proven
};

// How much is listed or given to CBC whole.
struct ListingTuning {
  std::size_t most_states = 200'000;         // intermediate states of all lists of configurations
  std::size_t few_states = 2'000;            // of one kind of nodes in a model of all nodes; lists this short need no
                                             // plan from elsewhere first
  std::size_t most_columns = 20'000;         // configurations of all kinds; states of a model of all nodes
  std::size_t most_node_columns = 10'000;    // integer columns of a model of all nodes
  std::size_t counted_node_columns = 2'000;  // the same without a clock
  std::int64_t state_us = 10;                // of the budget for each state that may be listed; listing it takes 2 to 3
  std::int64_t column_us = 300;              // of the time left for each column of all nodes: about what CBC takes
  std::size_t tries_per_column = 40;         // ways to share a device that are examined, of all devices together
  std::size_t maximal = 100;                 // configurations of one kind in a model of all nodes
  std::size_t residents = 12;                // that share one device: 2^12 sets
  std::size_t parts = 4;                     // of the states, for one kind of nodes: a multiple of its even part
  std::size_t devices_per_state = 32;        // a state of a node with more devices counts several times
};

// Pricing of one node: a Lagrangian dual of its resources and counts.
struct PricingTuning {
  std::int64_t grains = 2'000;                      // levels of a device that the table of shares distinguishes
  int rounds = 2;                                   // over all resources; times the effort
  int thorough = 5;                                 // effort where less finds no column any more
  int bisections = 9;                               // of one multiplier
  int stock_steps = 6;                              // subgradient steps for pods of which there are few
  int quick_steps = 3;                              // of all multipliers together
  double first_stride = 0.3, least_stride = 0.005;  // of a multiplier in a quick step, and its growth, relative
  double bracket = 1.25;                            // around the last multiplier, where bisection begins
  double first_multiplier = 0.1;                    // of the one at which no pod is worth placing any more
  std::size_t bundles = 4;                          // different devices of one content that are mixed
  std::size_t mix_levels = 64;                      // of the scarcest resource in the mix
  std::array<double, 8> mixed{0.0, 0.5, 0.8, 0.95, 1.0, 1.05, 1.3, 2.0};  // multiples of its multiplier
};

// Column generation, over kinds of nodes and over blocks of them.
struct GenerationTuning {
  int counted_rounds = 60;       // of pricing, without a clock
  double smoothing = 0.4;        // weight of the best known prices in those that are priced at
  double penalty = 1'000;        // of a gang too few in a branch, in multiples of what is to be gained
  int counted_branches = 16;     // of one level without a clock
  double known_part = 0.95;      // of the waiting pods, that prices of the last cycle must cover
  double smaller_part = 0.9;     // of the summed capacity, if all pods fit into the whole of it
  std::size_t blocks = 200;      // of nodes that nearly all differ
  std::size_t sampled = 2;       // nodes of each block in its sample
  std::size_t rough_blocks = 4;  // divisor of the number of blocks in the first, rough sample
  double sample_gap = 0.01;      // relative, at which prices of a sample are good enough
  int fill_every = 3;            // rounds of blocks between two fills of all nodes
  std::size_t most_fills = 3;    // of a sample, that the whole begins with
  std::size_t fill_shards = 4;   // independent parts of a fill; fixed, so that threads do not matter
};

// The MILP engine beyond pricing.
struct MilpTuning {
  std::array<double, 3> dive_parts{1.0, 0.8, 0.5};  // of the LP's solution that a dive starts with
  int dive_depth = 6;                               // smaller and smaller problems after the whole one
  double near = 1;                     // nodes that CBC may add to or take from the LP's count (RENS, Berthold 2014)
  std::int64_t share_ways = 128;       // ways in which a gang's units fill a share, that get a column each
  std::int64_t iteration_units = 200;  // of WorkLimit, of a simplex iteration on a model of any size
};

// Places of a choice (solver/slots). By contended clusters of 20 to 1,000 nodes; no ranges were recorded.
struct SlotTuning {
  std::size_t ejecting_nodes = 32;     // the cheapest, that are tried for one pod
  std::size_t ejections_per_pod = 4;   // on average, after which no more are tried
  int repair_trials = 1'000;           // for one unit without places
  int passes = 4;                      // of bringing moved pods back; the later passes find less
  std::size_t options = 512;           // ways in which pods may leave one node, before the best are kept
  std::size_t device_options = 64;     // the same of one shared device
  std::size_t patterns = 400;          // ways to fill one kind of shared devices
  std::int32_t most_columns = 20'000;  // of the model
  double model_part = 0.8;             // of the time, for CBC
};

// Bounds of levels by sums (model/objective): with more, a bound is weaker or left out.
struct BoundTuning {
  std::size_t capped_queues = 128;       // of which each caps what the others contribute
  std::size_t loss_steps = 200'000;      // of the choice which pods leave; halved a level deeper,
  int loss_depth = 10;                   // at most so deep
  std::int64_t searched_sums = 1 << 16;  // divisors of a queue's rest, for which all sums are searched
  std::int64_t gang_steps = 20'000'000;  // of counting copies of gangs' pods on nodes
  std::int64_t priced_devices = 64;      // of a node, for which prices by devices are tried
  std::size_t listed_sums = 1 << 20;     // sums of work that are kept, the largest
};

// Greedy and the placement of single gangs.
struct GreedyTuning {
  std::array<double, 3> tiers{0.97, 0.999, 1.0};  // of the free devices: gangs that fit up to there come first
  int sharer_rounds = 4;                          // of choosing which sharers fill devices together
  double noise = 0.4;                             // of sizes, in starts beyond the fixed orders
  std::size_t domains = 16;               // of an affinity that are tried; each costs as much as placing the gang
  std::int64_t binding_checks = 1 << 18;  // for an order in which pods may be bound; some 20 ms
};

// Choosing victims, and needing fewer of them.
struct PreemptionTuning {
  std::size_t promising = 64;          // nodes that are examined for one pod
  std::size_t cleared = 24;            // of them, the cheapest, if victims have to be moved
  std::size_t enough = 16;             // after which less promising nodes are passed over
  int rounds = 3;                      // in which a choice is made anew; the later rounds find less
  int passes = 4;                      // over all evicted gangs; the later passes find less
  std::int64_t shorter_percent = 90;   // of a victim's running time: another victim must have run no longer
  std::size_t opened = 4;              // nodes, in addition to those that pods return to
  std::size_t return_attempts = 10;    // with other nodes
  std::int64_t return_trials = 4'000;  // of all pods together
};

// Large neighbourhood search.
struct SearchTuning {
  std::size_t parts = 8;  // searched at the same time, with any number of threads
  std::size_t part_nodes = 64;
  std::int64_t part_trials = 200;                      // in a round
  std::size_t vain_rounds = 20;                        // after which the search ends, for each visit of all nodes
  std::size_t trial_nodes = 12;                        // at most
  std::array<std::size_t, 6> nodes{1, 2, 2, 2, 3, 4};  // of a trial, one number as likely as another
  std::size_t gang_every = 3;                          // trials: one drops a gang
  std::size_t rarely = 4;                              // trials: one is for a waiting gang, one begins at any node
  std::size_t candidates = 4;                          // drawn, for the best of them: nodes, gangs
  double order_noise = 0.3, node_noise = 0.1, fill_noise = 0.5;  // relative
  double least_cpu = 100;  // thousandths of a core, added to each request when pods are ranked by worth for their cpu
};

// Repacking the pods of a plan on fewer nodes, and gangs closer together.
struct RepackingTuning {
  std::size_t whole_gang = 512;     // pods; larger gangs stay where they are
  std::size_t repacked = 2'000;     // pods: with 1,636 it left one more whole node, with 3,468 none
  std::int64_t steps_per_item = 5;  // nodes that are examined
  std::int64_t least_steps = 50'000;
};

// Batches of the online placer.
struct OnlineBatchTuning {
  std::size_t trials_per_pod = 4;
  std::size_t priced_every = 16;  // trials
  std::size_t most_taken = 5;     // pods, in one trial
  double reward = 2;              // for each device that is given out: more than it is worth later
};

// Bids of the online placer (solver/online), by the lost GPUs of OpenB's online track, see docs/online.md.
struct OnlineTuning {
  double segment = 0.1;  // of the cluster's devices: a step of the demand to come, which ends one beyond 1
  double slope = 3;      // by which later demand counts for less: exp(-slope) a cluster
  int least_segments = 3;
  int most_rounds = 12;              // of column generation
  double balance = 0.2;              // devices, for a type that is wholly used up while all others are idle
  std::int64_t first_solve = 10;     // pods seen
  std::int64_t premiums_every = 20;  // pods
  double least_coming = 0.02;        // of the cluster's devices
  double core_worth = 0.2;           // devices, of a core of a pod without devices
  double least_gain = 1e-4;          // devices: for less, neither a column is added nor a place changed
  OnlineBatchTuning batch;
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
  GreedyTuning greedy;
  PreemptionTuning preemption;
  SearchTuning search;
  RepackingTuning repacking;
  OnlineTuning online;
};

inline constexpr Tuning kTuning;

}  // namespace muster
