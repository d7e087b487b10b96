#include "io/muster_v1/pod_specs.h"

#include <functional>
#include <utility>

namespace muster::muster_v1 {

namespace {

void append_bytes(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

void append_text(std::string& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  append_bytes(out, &size, sizeof size);
  out.append(text);
}

// Writes the value such that two values have equal signatures only if they have the same meaning. Numbers with a point
// or an exponent are compared as text: equal doubles may have come from different decimals.
void append_signature(json::Reading& reading, json::JsonValue value, std::string& out) {
  out.push_back(static_cast<char>(value.kind()));
  switch (value.kind()) {
    case json::JsonKind::kObject:
      for (const json::JsonMember member : value.members()) {
        append_text(out, member.key);
        append_signature(reading, member.value, out);
      }
      out.push_back('}');
      break;
    case json::JsonKind::kArray:
      for (const json::JsonValue element : value.elements()) append_signature(reading, element, out);
      out.push_back(']');
      break;
    case json::JsonKind::kString:
      append_text(out, value.string());
      break;
    case json::JsonKind::kInteger:
    case json::JsonKind::kUnsigned: {
      const std::uint64_t number = value.unsigned_integer();
      append_bytes(out, &number, sizeof number);
      break;
    }
    case json::JsonKind::kDouble:
      append_text(out, reading.number_text(value));
      break;
    case json::JsonKind::kTrue:
    case json::JsonKind::kFalse:
    case json::JsonKind::kNull:
      break;
  }
}

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

std::size_t hash_of(const PodSpec& spec) {
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

}  // namespace

std::optional<PodSpecIndex> PodSpecs::find(json::Reading& reading, const SpecValues& values) {
  signature_.clear();
  for (const json::JsonValue value : values) {
    if (value) {
      append_signature(reading, value, signature_);
    } else {
      signature_.push_back('-');
    }
  }
  if (!last_.is_none() && signature_ == last_signature_) return last_;
  const auto found = by_signature_.find(signature_);
  if (found == by_signature_.end()) return std::nullopt;
  last_signature_ = signature_;
  last_ = found->second;
  return last_;
}

PodSpecIndex PodSpecs::keep(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all) {
  const std::size_t hash = hash_of(spec);
  PodSpecIndex index = PodSpecIndex::none();
  const auto [begin, end] = by_content_.equal_range(hash);
  for (auto candidate = begin; candidate != end && index.is_none(); ++candidate) {
    if (all[candidate->second] == spec) index = candidate->second;
  }
  if (index.is_none()) {
    index = all.push_back(std::move(spec));
    by_content_.emplace(hash, index);
  }
  return index;
}

PodSpecIndex PodSpecs::add(PodSpec spec, Indexed<PodSpecIndex, PodSpec>& all) {
  const PodSpecIndex index = keep(std::move(spec), all);
  by_signature_.emplace(signature_, index);
  return index;
}

}  // namespace muster::muster_v1
