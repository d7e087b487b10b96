#include "io/muster_v1/pod_specs.h"

#include <utility>

#include "model/snapshot/pod_spec_hash.h"

namespace muster::muster_v1 {

namespace {

void append_bytes(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
}

}  // namespace

void SpecSignature::add(std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  append_bytes(text_, &size, sizeof size);
  text_.append(text);
}

void SpecSignature::add(std::int64_t number) { append_bytes(text_, &number, sizeof number); }

void SpecSignature::add(json::Reading& reading, json::JsonValue value) {
  if (!value) return text_.push_back('-');
  text_.push_back(static_cast<char>(value.kind()));
  switch (value.kind()) {
    case json::JsonKind::kObject:
      add(static_cast<std::int64_t>(value.size()));
      for (const json::JsonMember member : value.members()) {
        add(member.key);
        add(reading, member.value);
      }
      break;
    case json::JsonKind::kArray:
      add(static_cast<std::int64_t>(value.size()));
      for (const json::JsonValue element : value.elements()) add(reading, element);
      break;
    case json::JsonKind::kString:
      add(value.string());
      break;
    case json::JsonKind::kInteger:
    case json::JsonKind::kUnsigned:
      add(static_cast<std::int64_t>(value.unsigned_integer()));
      break;
    case json::JsonKind::kDouble:
      add(reading.number_text(value));
      break;
    case json::JsonKind::kTrue:
    case json::JsonKind::kFalse:
    case json::JsonKind::kNull:
      break;
  }
}

std::optional<PodSpecIndex> PodSpecs::find(json::Reading& reading, const SpecValues& values) {
  signature_.clear();
  for (const json::JsonValue value : values) signature_.add(reading, value);
  return find_signature();
}

std::optional<PodSpecIndex> PodSpecs::find(const SpecSignature& signature) {
  signature_ = signature;
  return find_signature();
}

std::optional<PodSpecIndex> PodSpecs::find_signature() {
  if (!last_.is_none() && signature_.text() == last_signature_) return last_;
  const auto found = by_signature_.find(signature_.text());
  if (found == by_signature_.end()) return std::nullopt;
  last_signature_ = signature_.text();
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
  by_signature_.emplace(signature_.text(), index);
  return index;
}

}  // namespace muster::muster_v1
