#include "solver/slots/fillings.h"

#include <algorithm>

namespace muster::slots {
namespace {

class FillingSearch {
 public:
  FillingSearch(const std::vector<DeviceUnits>& units, const std::vector<std::int64_t>& stock, std::size_t most)
      : units_(units), stock_(stock), most_(most), tries_left_(most * (units.size() + 1)), filling_(units.size(), 0) {}

  bool fill(DeviceUnits free, std::size_t size) {
    if (tries_left_-- == 0 || found_.size() > most_) return false;
    if (size == units_.size()) {
      if (is_maximal(free)) found_.push_back(filling_);
      return true;
    }
    const std::int64_t most = std::min<std::int64_t>(stock_[size], free / units_[size]);
    for (std::int64_t count = most; count >= 0; --count) {
      filling_[size] = static_cast<std::int32_t>(count);
      // What is not taken now has to be too little for one more, in the end, too: the rest must fill it.
      const bool is_done = fill(free - count * units_[size], size + 1);
      if (!is_done) return false;
    }
    return true;
  }
  std::vector<Filling>& found() { return found_; }

 private:
  bool is_maximal(DeviceUnits free) const {
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (units_[i] <= free && filling_[i] < stock_[i]) return false;
    return true;
  }

  const std::vector<DeviceUnits>& units_;
  const std::vector<std::int64_t>& stock_;
  std::size_t most_, tries_left_;
  Filling filling_;
  std::vector<Filling> found_;
};

}  // namespace

std::optional<std::vector<Filling>> maximal_fillings(DeviceUnits free, const std::vector<DeviceUnits>& units,
                                                     const std::vector<std::int64_t>& stock, std::size_t most) {
  FillingSearch search(units, stock, most);
  if (!search.fill(free, 0) || search.found().size() > most) return std::nullopt;
  std::erase_if(search.found(),
                [](const Filling& one) { return std::ranges::all_of(one, [](int n) { return n == 0; }); });
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

}  // namespace muster::slots
