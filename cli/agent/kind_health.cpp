#include "cli/agent/kind_health.h"

#include <algorithm>

#include "io/kubernetes/object/kinds.h"

namespace muster::cli {

namespace {

using api_server::KindReport;
using api_server::WatchState;

bool contains(const std::vector<const kubernetes::KnownKind*>& kinds, const kubernetes::KnownKind* known) {
  return std::ranges::find(kinds, known) != kinds.end();
}

}  // namespace

bool KindHealth::is_essential(const kubernetes::KnownKind& known) const {
  switch (known.meaning) {
    case kubernetes::KubernetesKind::kNode:
    case kubernetes::KubernetesKind::kPod:
      return true;
    case kubernetes::KubernetesKind::kBindRequest:
      return mode_ == ApplyMode::kKai;
    default:
      return false;
  }
}

std::vector<std::pair<std::string, bool>> KindHealth::update(const std::vector<KindReport>& reports, Time now) {
  std::vector<std::pair<std::string, bool>> sentences;
  std::vector<const kubernetes::KnownKind*> aside;
  std::map<const kubernetes::KnownKind*, Time> failing;
  interrupted_.clear();
  next_ = Time::max();
  is_complete_ = !reports.empty();
  const bool answers = std::ranges::all_of(reports, [&](const KindReport& kind) {
    return !is_essential(*kind.kind.known) || kind.state == WatchState::kWatching;
  });
  for (const KindReport& kind : reports) {
    const kubernetes::KnownKind* known = kind.kind.known;
    const bool was_aside = contains(set_aside_, known);
    const bool is_forbidden = kind.state == WatchState::kForbidden;
    const bool is_followed = kind.state == WatchState::kWatching || kind.state == WatchState::kGone;
    const auto before = failing_since_.find(known);
    const bool is_failing = is_forbidden || kind.state == WatchState::kRetrying ||
                            (kind.state == WatchState::kListing && before != failing_since_.end());
    if (is_failing && !is_essential(*known)) {
      const Time since = before == failing_since_.end() || !answers ? now : before->second;
      failing.emplace(known, since);
      if (is_forbidden || was_aside || now >= since + patience_) {
        aside.push_back(known);
        if (!was_aside)
          sentences.emplace_back(kind.kind.title() + " cannot be read and is set aside; what depends on it is held: " +
                                     (kind.error.empty() ? "the API server does not answer" : kind.error),
                                 true);
        continue;
      }
      if (answers) next_ = std::min(next_, since + patience_);
    } else if (was_aside) {
      sentences.emplace_back(kind.kind.title() + " is read again", false);
    }
    is_complete_ = is_complete_ && (kind.is_listed || is_forbidden || kind.state == WatchState::kGone);
    if (kind.is_listed && !is_followed && interrupted_.empty()) interrupted_ = kind.kind.title();
  }
  if (aside != set_aside_) ++revision_;
  set_aside_ = std::move(aside);
  failing_since_ = std::move(failing);
  return sentences;
}

}  // namespace muster::cli
