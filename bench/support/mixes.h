// What plain contended clusters have not: cores or memory that bind, gangs that may shrink, topology, parts of the
// cluster. Options of `muster generate --preset contended`.
#pragma once

#include <array>
#include <string>

namespace muster::bench {

struct Mix {
  const char *name, *options;
};

inline constexpr std::array<Mix, 5> kMixes{
    {{"cores", "--cores-per-node 64"},
     {"memory", "--memory-per-node 600"},
     {"elastic", "--elastic 0.5 --subgroups 0.3"},
     {"topology", "--zones 4 --racks-per-zone 5 --topology-required 0.3 --one-a-node 0.2"},
     {"parts", "--tainted 0.3 --selecting 0.3 --gpu-models A100,H100 --selecting-models 0.3 --queues 12 --limit 1.5"}}};

// Of a snapshot line that sets no policy.
inline void forbid_moves(std::string& line) {
  line.insert(1, R"("policy":{"actions":["place","reclaim","preempt","stale"]},)");
}

}  // namespace muster::bench
