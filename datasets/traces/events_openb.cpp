#include "datasets/traces/events_openb.h"

#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "datasets/generator/options.h"
#include "model/base/require.h"

namespace muster::traces {

std::string openb_workload(const OpenbInput& input, const OpenbOptions& options) {
  MUSTER_REQUIRE_SLOW(!openb_fault(input, options));
  std::vector<std::uint32_t> rows = input.order;
  if (rows.empty()) {
    rows.resize(input.pods.size());
    std::iota(rows.begin(), rows.end(), 0U);
  }
  if (options.arrived_percent) rows.resize(openb_arrival(input, *options.arrived_percent).events);
  generator::Instance frame;
  frame.id = options.id;
  frame.time = 0;
  frame.place_only = options.place_only;
  frame.nodes = input.nodes;
  generator::ShapeTable shapes;
  std::vector<std::int32_t> times(input.pods.size(), 0);
  std::string events;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const OpenbPod& pod = input.pods[rows[i]];
    const std::int32_t time = ++times[rows[i]];
    const std::string suffix = time == 1 ? "" : fmt::format("-r{}", time);
    fmt::format_to(std::back_inserter(events),
                   FMT_COMPILE(R"({{"time":{},"event":"submit","pods":[{{"name":"{}{}","template":"t{}"}}]}})"
                               "\n"),
                   i + 1, pod.name, suffix, shapes.position_of(pod.shape, frame));
  }
  return generator::write_instance(frame) + '\n' + events;
}

}  // namespace muster::traces
