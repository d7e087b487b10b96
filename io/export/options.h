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
};

}  // namespace muster::exporting
