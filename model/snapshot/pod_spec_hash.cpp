#include "model/snapshot/pod_spec_hash.h"

#include <functional>
#include <string_view>
#include <vector>

namespace muster {
namespace {

// Mixes one more number in; the constant is 2^64 / golden ratio (Knuth, multiplicative hashing).
class ContentHash {
 public:
  void add(std::size_t number) { state_ = (state_ ^ number) * 0x9E37'79B9'7F4A'7C15U + (state_ >> 29); }
  void add(std::string_view text) { add(std::hash<std::string_view>()(text)); }
  std::size_t value() const { return state_; }

 private:
  std::size_t state_ = 0;
};

void add_requirements(ContentHash& hash, const std::vector<SelectorRequirement>& requirements) {
  hash.add(requirements.size());
  for (const SelectorRequirement& requirement : requirements) {
    hash.add(requirement.key);
    hash.add(static_cast<std::size_t>(requirement.op));
    for (const std::string_view value : requirement.values) hash.add(value);
  }
}

void add_term(ContentHash& hash, const NodeSelectorTerm& term) {
  add_requirements(hash, term.match_expressions);
  add_requirements(hash, term.match_fields);
}

void add_term(ContentHash& hash, const PodTerm& term) {
  hash.add(term.topology_key);
  if (term.selector) add_requirements(hash, term.selector->requirements);
  for (const std::string_view name : term.namespaces) hash.add(name);
}

}  // namespace

std::size_t content_hash(const PodTerm& term) {
  ContentHash hash;
  add_term(hash, term);
  return hash.value();
}

std::size_t content_hash(const PodSpec& spec) {
  ContentHash hash;
  for (const ResourceAmount& amount : spec.resources) {
    hash.add(amount.resource.value());
    hash.add(static_cast<std::size_t>(amount.amount));
  }
  hash.add(static_cast<std::size_t>(spec.gpu.kind));
  hash.add(static_cast<std::size_t>(spec.gpu.devices));
  hash.add(static_cast<std::size_t>(spec.gpu.share));
  for (const std::string_view model : spec.gpu_models) hash.add(model);
  for (const auto& [key, value] : spec.node_selector) {
    hash.add(key);
    hash.add(value);
  }
  for (const auto* terms : {&spec.node_affinity.required, &spec.volume_terms}) {
    if (!*terms) continue;
    for (const NodeSelectorTerm& term : **terms) add_term(hash, term);
  }
  for (const PreferredNodeTerm& preferred : spec.node_affinity.preferred) {
    hash.add(static_cast<std::size_t>(preferred.weight));
    add_term(hash, preferred.term);
  }
  for (const Toleration& toleration : spec.tolerations) {
    hash.add(toleration.key);
    hash.add(toleration.value);
  }
  for (const PodTerm& term : spec.anti_affinity) add_term(hash, term);
  for (const PodTerm& term : spec.affinity) add_term(hash, term);
  for (const PreferredPodTerm& preferred : spec.preferred_anti_affinity) add_term(hash, preferred.term);
  for (const PreferredPodTerm& preferred : spec.preferred_affinity) add_term(hash, preferred.term);
  for (const SpreadConstraint& constraint : spec.topology_spread) {
    hash.add(constraint.topology_key);
    hash.add(static_cast<std::size_t>(constraint.max_skew));
    if (constraint.selector) add_requirements(hash, constraint.selector->requirements);
  }
  for (const HostPort& port : spec.host_ports) {
    hash.add(static_cast<std::size_t>(port.port));
    hash.add(static_cast<std::size_t>(port.protocol));
    hash.add(port.address);
  }
  return hash.value();
}

}  // namespace muster
