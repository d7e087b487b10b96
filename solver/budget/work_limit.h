// A limit on counted work instead of time, so that a plan is the same on any machine, busy or idle.
//
// Unit: one simplex iteration on one row or column of its model; each iteration counts some units more. Copies share
// one count; a part of a limit ends earlier on the same count. Spend only while no tasks run in parallel: the results
// of their queries in between are then the same for any number of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

namespace muster {

class WorkLimit {
 public:
  WorkLimit() = default;  // none
  explicit WorkLimit(std::int64_t units) : spent_(std::make_shared<std::int64_t>(0)), until_(units) {}

  bool is_none() const { return spent_ == nullptr; }
  bool is_reached() const { return spent_ && *spent_ >= until_; }
  std::int64_t spent() const { return spent_ ? *spent_ : 0; }
  // At least nothing; without a limit, more than anything needs.
  std::int64_t left() const {
    if (!spent_) return std::numeric_limits<std::int64_t>::max();
    return *spent_ < until_ ? until_ - *spent_ : 0;
  }
  void spend(std::int64_t units) const {
    if (spent_) *spent_ += units;
  }
  // The end of a share of what is left.
  WorkLimit part(double share) const {
    WorkLimit part = *this;
    if (spent_) part.until_ = *spent_ + static_cast<std::int64_t>(share * static_cast<double>(left()));
    return part;
  }

 private:
  std::shared_ptr<std::int64_t> spent_;
  std::int64_t until_ = 0;
};

}  // namespace muster
