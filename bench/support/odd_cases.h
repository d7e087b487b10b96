// The snapshots of bench_odd: each stresses one dimension that is small in most clusters, to expose super-linear cost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace muster::bench {

struct OddCase {
  std::string name, what;
  std::function<std::string()> line;
};

class OddLine {
 public:
  // Nodes of 96 cores, 700 GiB and 8 GPUs, 16 to a rack. `more`: further keys of node i, with a comma before each.
  using More = std::function<std::string(int)>;
  void add_nodes(int count, const std::string& gpus = R"({"count":8})", const More& more = {}) {
    for (int i = 0; i < count; ++i) {
      append(nodes_, fmt::format(R"({{"name":"n{}","resources":{{"cpu":96,"memory":"700Gi"{}}},"gpus":{},"labels":)"
                                 R"({{"rack":"r{}","host":"n{}"}}}})",
                                 i, more ? more(i) : "", gpus, i / 16, i));
    }
  }
  // Pods of one core and one GPU, unless the keys of pod i set other values.
  void add_pods(int count, const More& more, const std::string& gpu = R"({"count":1})") {
    for (int i = 0; i < count; ++i, ++pod_count_) {
      const std::string keys = more(i);
      const bool has_resources = keys.find("\"resources\"") != std::string::npos;
      append(pods_,
             fmt::format(R"({{"name":"p{}"{}{}{}}})", pod_count_, has_resources ? "" : R"(,"resources":{"cpu":1})",
                         gpu.empty() ? "" : R"(,"gpu":)" + gpu, keys));
    }
  }
  void add_gangs(int count, const More& keys) {
    for (int i = 0; i < count; ++i) append(gangs_, fmt::format(R"({{"name":"g{}"{}}})", i, keys(i)));
  }
  void add_queues(int count, const More& keys) {
    for (int i = 0; i < count; ++i) append(queues_, fmt::format(R"({{"name":"q{}"{}}})", i, keys(i)));
  }
  void set_topology() { topology_ = R"("rack","host")"; }
  std::string text() const {
    return R"({"format":"muster/v1","time":1767225600,"topology":[)" + topology_ + R"(],"nodes":[)" + nodes_ +
           R"(],"queues":[)" + (queues_.empty() ? R"({"name":"default"})" : queues_) + R"(],"gangs":[)" + gangs_ +
           R"(],"pods":[)" + pods_ + "]}";
  }

 private:
  static void append(std::string& list, const std::string& object) { list += (list.empty() ? "" : ",") + object; }
  std::string topology_, nodes_, pods_, gangs_, queues_;
  int pod_count_ = 0;
};

inline std::vector<OddCase> odd_cases() {
  const auto nothing = [](int) { return std::string(); };
  const auto of_gang = [](int size) { return [size](int i) { return fmt::format(R"(,"gang":"g{}")", i / size); }; };
  const auto line_of = [](const std::function<void(OddLine&)>& fill) {
    return [fill] {
      OddLine line;
      fill(line);
      return line.text();
    };
  };
  return {
      {"queues", "50,000 queues of two pods", line_of([=](OddLine& line) {
         line.add_nodes(5'000);
         line.add_queues(50'000, nothing);
         line.add_pods(100'000, [](int i) { return fmt::format(R"(,"queue":"q{}")", i % 50'000); });
       })},
      {"nested", "64 queues, each within another", line_of([=](OddLine& line) {
         line.add_nodes(1'000);
         line.add_queues(64, [](int i) { return i == 0 ? "" : fmt::format(R"(,"parent":"q{}")", i - 1); });
         line.add_pods(20'000, [](int) { return R"(,"queue":"q63")"; });
       })},
      {"priorities", "100,000 pods, each of another priority", line_of([=](OddLine& line) {
         line.add_nodes(1'000);
         line.add_pods(100'000, [](int i) { return fmt::format(R"(,"priority":{})", i); });
       })},
      {"classes", "100,000 pods, no two alike", line_of([=](OddLine& line) {
         line.add_nodes(1'000);
         line.add_pods(100'000, [](int i) { return fmt::format(R"(,"resources":{{"cpu":"{}m"}})", 1'000 + i); });
       })},
      {"decimals", "100,000 pods with decimals in any order", line_of([=](OddLine& line) {
         line.add_nodes(5'000);
         line.add_pods(
             100'000,
             [](int i) {
               return fmt::format(R"(,"resources":{{"cpu":{}.5}},"created":{}.25)", i % 8, 1'767'000'000 + i);
             },
             R"({"fraction":0.25})");
       })},
      {"selectors", "50,000 pods, each for one node", line_of([=](OddLine& line) {
         line.add_nodes(2'000);
         line.add_pods(50'000, [](int i) { return fmt::format(R"(,"nodeSelector":{{"host":"n{}"}})", i % 2'000); });
       })},
      {"apart", "60,000 pods of 6,000 services, each with anti-affinity", line_of([=](OddLine& line) {
         line.add_nodes(3'000);
         line.add_pods(60'000, [](int i) {
           const int app = i % 6'000;
           return fmt::format(
               R"(,"labels":{{"app":"a{}","pod":"x{}"}},"podAntiAffinity":{{"requiredDuringSchedulingIgnored)"
               R"(DuringExecution":[{{"topologyKey":"host","labelSelector":{{"matchLabels":{{"app":"a{}"}}}}}}]}})",
               app, i, app);
         });
       })},
      {"gangs-apart", "20,000 gangs of 3, the pods of each on other racks", line_of([=](OddLine& line) {
         line.add_nodes(1'000);
         line.add_gangs(20'000, [](int) { return R"(,"minMember":3)"; });
         line.add_pods(60'000, [=](int i) {
           return of_gang(3)(i) + R"(,"podAntiAffinity":{"topologyKey":"rack","matchGang":true})";
         });
       })},
      {"racks", "20,000 gangs of 3, each within one rack", line_of([=](OddLine& line) {
         line.set_topology();
         line.add_nodes(2'000);
         line.add_gangs(20'000, [](int) { return R"(,"minMember":3,"topology":{"required":"rack"})"; });
         line.add_pods(60'000, of_gang(3));
       })},
      {"min-resources", "5,000 gangs of 2 with minResources", line_of([=](OddLine& line) {
         line.add_nodes(2'000);
         line.add_gangs(5'000, [](int) { return R"(,"minMember":2,"minResources":{"cpu":3,"gpu":2})"; });
         line.add_pods(10'000, of_gang(2));
       })},
      {"subgroups", "10,000 gangs of ten subgroups", line_of([=](OddLine& line) {
         line.add_nodes(1'000);
         std::string groups;
         for (int s = 0; s < 10; ++s)
           groups += fmt::format(R"({}{{"name":"s{}","minMember":1}})", s == 0 ? "" : ",", s);
         line.add_gangs(10'000, [&](int) { return R"(,"subgroups":[)" + groups + "]"; });
         line.add_pods(100'000, [=](int i) { return of_gang(10)(i) + fmt::format(R"(,"subgroup":"s{}")", i % 10); });
       })},
      {"elastic", "one gang of 200,000 pods, one of them its minimum", line_of([=](OddLine& line) {
         line.add_nodes(10'000);
         line.add_gangs(1, [](int) { return R"(,"minMember":1)"; });
         line.add_pods(200'000, of_gang(200'000));
       })},
      {"elastic-rack", "one gang of 100,000 pods, all in one rack", line_of([=](OddLine& line) {
         line.set_topology();
         line.add_nodes(10'000);
         line.add_gangs(1, [](int) { return R"(,"minMember":1,"topology":{"required":"rack"})"; });
         line.add_pods(
             100'000, [=](int i) { return of_gang(100'000)(i) + R"(,"resources":{"cpu":"5m"})"; },
             R"({"fraction":0.0001})");
       })},
      {"one-victim", "one gang of 32,000 pods that runs, one of 50,000 that reclaims", line_of([=](OddLine& line) {
         line.add_nodes(4'000);
         line.add_queues(2, [](int i) { return fmt::format(R"(,"gpu":{{"quota":{}}})", 32'000 * i); });
         line.add_gangs(2, [](int i) { return fmt::format(R"(,"queue":"q{}","minMember":1)", i); });
         line.add_pods(32'000, [](int i) { return fmt::format(R"(,"gang":"g0","node":"n{}")", i / 8); });
         line.add_pods(50'000, [](int) { return R"(,"gang":"g1")"; });
       })},
      {"devices", "50 nodes of 5,000 GPUs", line_of([=](OddLine& line) {
         line.add_nodes(50, R"({"count":5000})");
         line.add_pods(100'000, nothing, R"({"fraction":0.3})");
       })},
      {"resources", "1,000 resources on 10,000 nodes", line_of([=](OddLine& line) {
         const auto one = [](int i) { return fmt::format(R"(,"example.com/r{}":5)", i % 1'000); };
         line.add_nodes(10'000, R"({"count":8})", one);
         line.add_pods(100'000,
                       [](int i) { return fmt::format(R"(,"resources":{{"cpu":1,"example.com/r{}":1}})", i % 1'000); });
       })},
  };
}

}  // namespace muster::bench
