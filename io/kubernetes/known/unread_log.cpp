#include "io/kubernetes/known/unread_log.h"

#include <algorithm>
#include <utility>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kUnknown = "unknown", kAnything = "anything";

UnreadKey entry_of(std::string_view kind, std::string_view name, const Unread& found) {
  UnreadKey entry;
  entry.kind = kind;
  entry.name = name;
  entry.place = place_name(found.place);
  entry.key = found.key;
  entry.value = found.value;
  entry.treatment = found.rule == nullptr ? kUnknown : treatment_name(found.rule->treatment);
  entry.may_change = found.rule == nullptr ? kAnything : found.rule->may_change;
  return entry;
}

// What must be seen first.
int rank_of(const UnreadKey& entry) {
  if (entry.treatment == treatment_name(Treatment::kHeld)) return 0;
  if (entry.treatment == treatment_name(Treatment::kProtected)) return 1;
  return entry.treatment == kUnknown ? 2 : 3;
}

}  // namespace

Hold UnreadLog::add(std::string_view kind, std::string_view name, std::span<const Unread> found) {
  Hold hold;
  for (const Unread& unread : found) {
    const Key key{std::string(kind), unread.place, unread.key, unread.rule};
    auto known = entries_.find(key);
    const bool is_new = known == entries_.end();
    const bool is_omitted = is_new && unread.rule == nullptr && unknown_ >= kMostUnknown;
    if (is_omitted) ++omitted_;
    if (is_new && !is_omitted) {
      known = entries_.emplace(key, entry_of(kind, name, unread)).first;
      if (unread.rule == nullptr) ++unknown_;
    } else if (!is_new) {
      ++known->second.count;
    }
    if (unread.rule == nullptr) continue;
    Effect& effect = unread.rule->unless_key.empty() ? hold.always : hold.ungrouped;
    effect.protects = effect.protects || unread.rule->treatment == Treatment::kProtected;
    if (unread.rule->treatment != Treatment::kHeld || !effect.why.empty()) continue;
    effect.why = keep(unread_title(entry_of(kind, name, unread))
                          .append(" is not read; it may change ")
                          .append(unread.rule->may_change));
  }
  return hold;
}

std::vector<UnreadKey> UnreadLog::entries() const {
  std::vector<UnreadKey> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry);
  std::ranges::sort(all, {}, [](const UnreadKey& entry) {
    return std::tuple(rank_of(entry), std::string_view(entry.kind), std::string_view(entry.place),
                      std::string_view(entry.key), std::string_view(entry.value));
  });
  return all;
}

}  // namespace muster::kubernetes::known
