// What is exported of a plan, and in which shape. See docs/export.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::exporting {

enum class ExportFormat : std::uint8_t { kBindings, kPatches, kVolcano, kKai, kDeltas };

// What may be carried out when: placements that wait for nothing; evictions, those of moves included; placements that
// wait for evictions or for pods on their way out, and the new places of moved pods.
enum class ExportPhase : std::uint8_t { kNow, kEvictions, kAfterEvictions, kAll };

// Whether Bindings are written for pods that share devices, which a Binding does not reserve.
enum class SharedDevices : std::uint8_t { kLeaveOut, kAllow };

struct ExportOptions {
  ExportFormat format = ExportFormat::kBindings;
  ExportPhase phase = ExportPhase::kAll;
  std::vector<std::string> gates = {};  // scheduling gates that patches take away; empty: all that there are
  SharedDevices shared = SharedDevices::kLeaveOut;
  // Leaves out gangs that are placed on nodes where pods run that a scheduler which the policy does not name has
  // placed, other than those of DaemonSets and static pods: the two schedulers would overcommit the nodes.
  bool own_nodes_only = false;
};

}  // namespace muster::exporting
