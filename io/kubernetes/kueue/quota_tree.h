// Quotas of ClusterQueues and Cohorts, by flavor and resource, and what each may use in its tree of cohorts.
//
// Source: Kueue, pkg/cache/scheduler/resource_node.go. A node of the tree has a quota of its own and that of its
// children, less what these do not lend; it may use all of that, and what its parent has, up to its borrowing limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// Amounts in thousandths of a core, else in ones.
struct KueueQuota {
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing, lending;  // limits; none: no limit
};

struct KueueResourceGroup {
  std::vector<std::string_view> flavors, resources;
  bool covers(std::string_view resource) const;
};

struct KueueQuotas {
  using Key = std::pair<std::string_view, std::string_view>;  // flavor, resource
  std::vector<KueueResourceGroup> groups;
  std::map<Key, KueueQuota> by_flavor;

  bool covers(std::string_view resource) const;
  // How many flavors have a quota of it.
  std::size_t flavors_of(std::string_view resource) const;
  std::int64_t nominal(std::string_view resource) const;  // over all flavors
};

// The largest number if the sum has more bits.
std::int64_t capped_sum(std::int64_t a, std::int64_t b);

// The thousandths of a GPU that one MIG slice of this resource is; 0: it is none.
std::int64_t mig_thousandths(std::string_view resource);

// `spec.resourceGroups`. Errors: those of the values.
[[nodiscard]] bool read_kueue_quotas(KubernetesReading& reading, json::JsonValue groups, KueueQuotas& out);

class KueueQuotaTree {
 public:
  // Returns the node's position. The quotas outlive the tree.
  std::size_t add(const KueueQuotas& quotas);
  void set_parent(std::size_t node, std::size_t parent) { nodes_[node].parent = parent; }
  // Sums everything up. A node whose ancestors are a circle becomes a root, is_in_circle. Cost: O(nodes x flavors).
  void settle();

  bool is_in_circle(std::size_t node) const { return nodes_[node].is_in_circle; }
  std::optional<std::size_t> parent(std::size_t node) const { return nodes_[node].parent; }
  std::size_t root(std::size_t node) const;
  // Whether several of its tree may borrow of one that limits what it lends: together they may use less than their
  // limits add up to.
  bool shares_limited_loan(std::size_t node) const;

  struct Bounds {
    std::int64_t quota = 0;             // what it has, its children included
    std::optional<std::int64_t> limit;  // the most that it may use; none: that of its parent holds it back
  };
  Bounds bounds(std::size_t node, std::string_view resource) const;
  // The most of one flavor that a ClusterQueue may use if nothing else runs.
  std::int64_t most(std::size_t node, const KueueQuotas::Key& key) const;
  // Resources of which it or a child has a quota.
  std::set<std::string_view> resources(std::size_t node) const;

 private:
  struct Flow {
    KueueQuota quota;
    std::int64_t subtree = 0;    // what is visible here: quota and what children lend
    std::int64_t hidden = 0;     // what children keep to themselves
    std::int64_t potential = 0;  // the most that may be used of it here, borrowed included
    std::int64_t local() const;
  };
  struct Node {
    const KueueQuotas* quotas;
    std::optional<std::size_t> parent = {};
    std::size_t depth = 0;
    bool is_in_circle = false;
    std::map<KueueQuotas::Key, Flow> flows = {};
  };
  void cut_circles();
  std::int64_t limit(const Node& node, std::string_view resource) const;

  std::vector<Node> nodes_;
};

}  // namespace muster::kubernetes
