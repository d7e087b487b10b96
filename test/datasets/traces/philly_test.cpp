// The Philly trace and the inventory: what is carried, how jobs become gangs, and how a load is drawn.
#include "datasets/traces/philly.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "datasets/simulation/simulation.h"
#include "io/snapshot_reader/event_reader.h"

namespace muster::traces {
namespace {

PhillyInput carried() {
  const std::string folder = datasets_source_directory() + "/philly";
  auto input = load_philly(folder + "/jobs_mix1.csv", folder + "/vc_nodes.csv");
  EXPECT_TRUE(input) << input.error().path << " " << input.error().message;
  return *std::move(input);
}

std::int64_t work_of(const PhillyInput& input, const std::vector<PhillyArrival>& arrivals) {
  std::int64_t work = 0;
  for (const PhillyArrival& arrival : arrivals) {
    work += input.jobs[arrival.job].gpus * input.jobs[arrival.job].duration_minutes;
  }
  return work;
}

Workload read(const std::string& text) {
  muster_v1::EventReader reader;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const auto error = reader.read(text.substr(at, end - at));
    EXPECT_FALSE(error) << error->path << " " << error->message;
    if (error) break;
    at = end + 1;
  }
  return reader.take();
}

TEST(Philly, CarriesTheJobsAndNodesOfItsOrigin) {
  const PhillyInput input = carried();
  EXPECT_EQ(input.jobs.size(), 30'940U);
  EXPECT_EQ(input.clusters.size(), 11U);
  EXPECT_EQ(philly_nodes(input).size(), 352U);
  EXPECT_EQ(std::ranges::count(input.jobs, 0, &PhillyJob::gpus), 184);
  EXPECT_EQ(std::ranges::count(input.jobs, PhillyKind::kBest, &PhillyJob::kind), 9'216);
  EXPECT_EQ(work_of(input, philly_arrivals(input, {})), 22'279'688);
}

TEST(Inventory, HasTheNodesOfItsOrigin) {
  const auto nodes = load_inventory(datasets_source_directory() + "/spot2026/nodes.csv");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->size(), 4'278U);
  std::int64_t gpus = 0;
  for (const generator::InstanceNode& node : *nodes) gpus += node.gpu_count;
  EXPECT_EQ(gpus, 10'412);
}

TEST(Philly, AJobIsAGangOfOneGpuWorkersOrOfWholeNodes) {
  const auto jobs = parse_philly_jobs(
      "job_id,user,num_gpu,submit_time,duration,job_type\n7,vc_a,1,3,10,strict\n8,vc_a,4,4,20,soft\n9,vc_a,20,5,30,"
      "best\n",
      "jobs");
  ASSERT_TRUE(jobs);
  const Workload workload = read(philly_workload({*jobs, {{"a", 4}}}, {}));
  const Snapshot& all = workload.all;
  ASSERT_EQ(workload.events.size(), 3U);
  EXPECT_EQ(workload.events[0].time, 180 * kNanosecondsPerSecond);
  EXPECT_EQ(workload.events[0].duration, 600 * kNanosecondsPerSecond);
  EXPECT_EQ(all.pods[0].name, "job-7");
  EXPECT_EQ(workload.events[1].pods.size(), 4U);
  EXPECT_EQ(all.gangs.at(0).terms.priority_class, "soft");
  std::vector<std::int32_t> workers;
  for (std::size_t i = workload.events[2].pods.begin; i < workload.events[2].pods.end; ++i) {
    workers.push_back(all.pods[i].gang == "job-9" ? all.pod_specs[all.pods[i].spec].gpu.devices : -1);
  }
  EXPECT_EQ(workers, (std::vector<std::int32_t>{8, 8, 4}));
  ASSERT_EQ(all.queues.size(), 1U);
  EXPECT_EQ(all.queues[0].gpu.quota, 32'000'000);
  ASSERT_EQ(all.definitions.priority_classes.size(), 3U);
  EXPECT_EQ(all.definitions.priority_classes[0].value, 125);
}

TEST(Philly, JobsOfAWholeNodeAndMoreMayHaveAWeightAndAPriorityOfTheirOwn) {
  const auto jobs = parse_philly_jobs(
      "job_id,user,num_gpu,submit_time,duration,job_type\n7,vc_a,7,3,10,strict\n8,vc_a,8,4,20,strict\n9,vc_a,20,5,30,"
      "best\n",
      "jobs");
  ASSERT_TRUE(jobs);
  PhillyOptions options;
  options.large_weight = 1.5;
  options.large_priority = 2;
  const Workload workload = read(philly_workload({*jobs, {{"a", 4}}}, options));
  const Snapshot& all = workload.all;
  ASSERT_EQ(all.pods.size(), 7U + 1 + 3);
  ASSERT_EQ(all.gangs.size(), 2U);
  ASSERT_EQ(all.own_gang_terms.size(), 1U);
  const GangTerms &seven = all.gangs[0].terms, &eight = all.own_gang_terms[0], &twenty = all.gangs[1].terms;
  EXPECT_EQ(seven.weight, 1);
  EXPECT_EQ(seven.priority_class, "strict");
  EXPECT_EQ(eight.weight, 1.5);
  EXPECT_EQ(eight.priority, 127);
  EXPECT_EQ(twenty.weight, 1.5);
  EXPECT_EQ(twenty.priority, 52);
  options.large_weight = 0;
  EXPECT_EQ(philly_fault(options)->path, "large-weight");
  options.large_weight = 1;
  options.large_priority = -1;
  EXPECT_EQ(philly_fault(options)->path, "large-priority");
}

TEST(Philly, JobsMayTellHowLongTheyTake) {
  const PhillyInput input = carried();
  PhillyOptions options;
  options.days = 1;
  options.load = 0.2;
  const auto factors = [&](PhillyEstimates estimates) {
    options.estimates = estimates;
    const Workload workload = read(philly_workload(input, options));
    std::vector<double> all;
    for (const WorkloadEvent& event : workload.events) {
      const SnapshotPod& pod = workload.all.pods[event.pods.begin];
      const GangTerms& terms = pod.gang.empty() ? workload.all.own_gang_terms.at(static_cast<std::size_t>(pod.own_gang))
                                                : workload.all.gangs.at(event.gangs.begin).terms;
      if (terms.expected_duration)
        all.push_back(static_cast<double>(*terms.expected_duration) / static_cast<double>(*event.duration));
    }
    return all;
  };
  EXPECT_TRUE(factors(PhillyEstimates::kNone).empty());
  const std::vector<double> exact = factors(PhillyEstimates::kExact), noisy = factors(PhillyEstimates::kNoisy);
  ASSERT_GT(exact.size(), 1'000U);
  EXPECT_EQ(noisy.size(), exact.size());
  EXPECT_TRUE(std::ranges::all_of(exact, [](double factor) { return factor == 1; }));
  EXPECT_TRUE(std::ranges::all_of(noisy, [](double factor) { return factor > 0.28 && factor < 3.01; }));
  const auto below = static_cast<double>(std::ranges::count_if(noisy, [](double factor) { return factor < 0.949; }));
  EXPECT_NEAR(below / static_cast<double>(noisy.size()), 0.5, 0.05) << "as likely too short as too long";
}

TEST(Philly, DrawsTheLoadThatIsAskedFor) {
  const PhillyInput input = carried();
  for (const double load : {0.9, 1.3}) {
    PhillyOptions options;
    options.days = 7;
    options.load = load;
    const auto arrivals = philly_arrivals(input, options);
    EXPECT_NEAR(static_cast<double>(work_of(input, arrivals)) / (2816.0 * 7 * 1440), load, 0.03);
    EXPECT_TRUE(std::ranges::is_sorted(arrivals, {}, &PhillyArrival::minutes));
    EXPECT_LT(arrivals.back().minutes, 7 * 1440);
    PhillyOptions other = options;
    other.seed = 2;
    EXPECT_NE(philly_workload(input, options), philly_workload(input, other));
    EXPECT_EQ(philly_workload(input, options), philly_workload(input, options));
  }
}

TEST(Philly, QuotasShareOutAnyInventory) {
  const PhillyInput input{{}, {{"a", 2}, {"b", 1}}};
  PhillyOptions options;
  generator::InstanceNode node;
  node.name = "n";
  node.gpu_count = 8;
  options.nodes = {node};
  const Workload workload = read(philly_workload(input, options));
  ASSERT_EQ(workload.all.queues.size(), 2U);
  EXPECT_EQ(workload.all.queues[0].gpu.quota, 5'000'000);
  EXPECT_EQ(workload.all.queues[1].gpu.quota, 3'000'000);
}

TEST(Philly, OneQueueTakesAllJobsAndAllGpus) {
  PhillyOptions options;
  options.days = 1;
  options.load = 0.1;
  options.one_queue = true;
  const Workload workload = read(philly_workload(carried(), options));
  ASSERT_EQ(workload.all.queues.size(), 1U);
  const SnapshotQueue& queue = workload.all.queues.front();
  EXPECT_EQ(queue.gpu.quota, Amount{352} * 8 * 1'000'000);
  ASSERT_FALSE(workload.all.gangs.empty());
  for (const SnapshotGang& gang : workload.all.gangs) EXPECT_EQ(gang.terms.queue, queue.name);
  for (const GangTerms& terms : workload.all.own_gang_terms) EXPECT_EQ(terms.queue, queue.name);
}

TEST(Philly, NamesTheFieldThatIsWrong) {
  const std::string header = "job_id,user,num_gpu,submit_time,duration,job_type\n";
  const auto path_of = [&](const std::string& row) {
    const auto jobs = parse_philly_jobs(header + row, "f");
    return jobs ? std::string() : jobs.error().path;
  };
  EXPECT_EQ(path_of("1,vc_a,x,1,1,best\n"), "f:2:num_gpu");
  EXPECT_EQ(path_of("1,vc_a,1,1,0,best\n"), "f:2:duration");
  EXPECT_EQ(path_of("1,vc_a,1,1,1,good\n"), "f:2:job_type");
  EXPECT_EQ(path_of("1,vc_a,1,1,1,best\n1,vc_a,1,1,1,best\n"), "f:3:job_id");
  EXPECT_EQ(error_code_text(load_philly("/nowhere", "/nowhere").error().code), "NoInput");
}

TEST(CarriedTraces, HaveTheirChecksums) {
  for (const char* folder : {"/philly", "/spot2026"}) {
    const std::string command =
        "cd '" + datasets_source_directory() + folder + "' && sha256sum --strict --quiet -c SHA256SUMS 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 256> said{};
    const std::size_t count = std::fread(said.data(), 1, said.size(), pipe);
    EXPECT_EQ(pclose(pipe), 0) << std::string(said.data(), count);
  }
}

}  // namespace
}  // namespace muster::traces
