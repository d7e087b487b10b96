#include "model/forecast/start_obstacle.h"

#include "model/base/code_table.h"

namespace muster::forecast {
namespace {

constexpr CodeTable<StartObstacle, kStartObstacles> kObstacles = {{{StartObstacle::kQuota, "Quota"},
                                                                   {StartObstacle::kLimit, "Limit"},
                                                                   {StartObstacle::kNodes, "Nodes"},
                                                                   {StartObstacle::kDevices, "Devices"},
                                                                   {StartObstacle::kResources, "Resources"},
                                                                   {StartObstacle::kReserved, "Reserved"},
                                                                   {StartObstacle::kOther, "Other"}}};
static_assert(is_in_order(kObstacles));

}  // namespace

std::string_view start_obstacle_text(StartObstacle obstacle) { return text_of(kObstacles, obstacle); }

std::optional<StartObstacle> find_start_obstacle(std::string_view text) { return code_of(kObstacles, text); }

}  // namespace muster::forecast
