#include "io/muster_v1/pod_specs.h"

#include <utility>

#include "model/snapshot/pod_spec_hash.h"

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
  const std::size_t hash = content_hash(spec);
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
