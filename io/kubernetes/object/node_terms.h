// Required node affinity as an OR of terms that can be joined: that of a pod, and that of its volumes.
#pragma once

#include <compare>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

struct NodeRequirement {
  std::string_view key, op;              // as Kubernetes writes it: In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string_view> values;  // sorted, distinct
  bool is_field = false;                 // of matchFields: `metadata.name`
  friend auto operator<=>(const NodeRequirement&, const NodeRequirement&) = default;
};

using NodeTerm = std::vector<NodeRequirement>;  // all of them; sorted, distinct, never empty
using NodeTerms = std::vector<NodeTerm>;        // one of them; empty: no node

// A term that asks for a value of a label.
NodeTerm label_term(std::string_view key, std::vector<std::string_view> values);
// Nodes by their name.
NodeTerm name_term(std::vector<std::string_view> names);

// Reads `nodeSelectorTerms`; a term without requirements, which no node meets, is left out. Errors: WrongType.
[[nodiscard]] bool read_node_terms(KubernetesReading& reading, json::JsonValue list, NodeTerms& out);

// Nodes that meet a term of both. Terms of `In` over one key become one, with the values that both name. Cost:
// O(product).
NodeTerms both(const NodeTerms& a, const NodeTerms& b);

}  // namespace muster::kubernetes
