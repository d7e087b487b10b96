#include "solver/lp/fillings.h"

#include <algorithm>
#include <functional>

#include "model/base/require.h"

namespace muster::lp {
namespace {

class FillingSearch {
 public:
  FillingSearch(const std::vector<Sharers>& shares, std::size_t& tries)
      : shares_(shares), tries_(tries), filling_(shares.size(), 0) {}

  // With this share and those after it. False: there are no tries left.
  bool fill(DeviceUnits free, std::size_t share) {
    if (tries_ == 0) return false;
    --tries_;
    if (share == shares_.size()) {
      if (is_maximal(free)) found_.push_back(filling_);
      return true;
    }
    const auto& [units, stock] = shares_[share];
    for (std::int64_t count = std::min<std::int64_t>(stock, free / units); count >= 0; --count) {
      filling_[share] = static_cast<std::int32_t>(count);
      if (!fill(free - count * units, share + 1)) return false;
    }
    return true;
  }
  std::vector<Filling>& found() { return found_; }

 private:
  bool is_maximal(DeviceUnits free) const {
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (shares_[i].units <= free && filling_[i] < shares_[i].stock) return false;
    return true;
  }

  const std::vector<Sharers>& shares_;
  std::size_t& tries_;
  Filling filling_;
  std::vector<Filling> found_;
};

}  // namespace

std::optional<std::vector<Filling>> maximal_fillings(DeviceUnits free, const std::vector<Sharers>& shares,
                                                     std::size_t& tries) {
  MUSTER_REQUIRE(std::ranges::is_sorted(shares, std::ranges::greater(), &Sharers::units));
  MUSTER_REQUIRE(shares.empty() || shares.back().units > 0);
  FillingSearch search(shares, tries);
  if (!search.fill(free, 0)) return std::nullopt;
  return std::move(search.found());
}

std::int64_t most_devices(std::int64_t idle, const std::vector<Amount>& free, const std::vector<WholeSize>& sizes,
                          std::size_t count) {
  if (count == 0 || idle <= 0) return 0;
  const WholeSize& size = sizes[count - 1];
  std::int64_t most = idle / size.devices;
  for (std::size_t r = 0; r < free.size(); ++r)
    if (size.request[r] > 0) most = std::min(most, std::max<Amount>(0, free[r]) / size.request[r]);
  std::int64_t best = 0;
  std::vector<Amount> rest = free;
  for (std::int64_t n = 0; n <= most && best < idle; ++n) {
    for (std::size_t r = 0; r < free.size(); ++r) rest[r] = free[r] - n * size.request[r];
    best = std::max(best, n * size.devices + most_devices(idle - n * size.devices, rest, sizes, count - 1));
  }
  return best;
}

}  // namespace muster::lp
