// How many volumes of each CSI driver can be attached to a node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::kubernetes {

// A driver of which some node has a limit.
struct AttachLimit {
  std::string resource;  // that stands for an attached volume of the driver
  std::map<std::string_view, std::int64_t> of_node;
};

// Views into the document, whose drivers and nodes it names.
struct AttachLimits {
  std::map<std::string_view, AttachLimit> of_driver;
  bool is_known = false;  // there is a CSINode
};

}  // namespace muster::kubernetes
