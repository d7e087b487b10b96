#include "solver/online/type_balance.h"

#include <algorithm>
#include <numeric>

namespace muster::online {

TypeBalance::TypeBalance(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node)
    : used_of_type_(types.size(), 0),
      all_of_type_(types.size(), 0),
      hashes_(types.size()),
      set_of_type_(types.size()),
      shift_(types.size(), 0) {
  std::iota(set_of_type_.begin(), set_of_type_.end(), std::size_t{0});
  for (const std::size_t type : type_of_node) {
    devices_ += types[type].devices;
    all_of_type_[type] += types[type].devices;
  }
}

void TypeBalance::group(const std::vector<const policies::OnlineClass*>& classes) {
  set_of_type_.assign(hashes_.size(), 0);
  for (std::size_t t = 0; t < hashes_.size(); ++t) {
    std::uint64_t hash = 1;
    for (const policies::OnlineClass* one : classes) {
      if (one->devices > 0) hash = hash * 0x9E3779B97F4A7C15U + (one->accepts_type(t) ? 1 : 2);
    }
    for (std::size_t other = 0; other < t; ++other) {
      if (hashes_[other] == hash) set_of_type_[t] = set_of_type_[other];
    }
    hashes_[t] = hash;
    const auto here = hashes_.begin() + static_cast<std::ptrdiff_t>(t);
    if (std::find(hashes_.begin(), here, hash) == here) set_of_type_[t] = t;
  }
  renew_shifts();
}

void TypeBalance::use(std::size_t type, double devices) {
  used_of_type_[type] += devices;
  renew_shifts();
}

double TypeBalance::balance() const {
  double sum = 0;
  for (const Use& use : uses()) sum -= use.devices * use.above * use.above / 2;
  return sum;
}

// By set of types: its used part, less that of the cluster; and its devices.
std::vector<TypeBalance::Use> TypeBalance::uses() const {
  std::vector<Use> result(hashes_.size());
  double used_sum = 0;
  for (std::size_t t = 0; t < hashes_.size(); ++t) {
    result[set_of_type_[t]].above += used_of_type_[t];
    result[set_of_type_[t]].devices += all_of_type_[t];
    used_sum += used_of_type_[t];
  }
  for (Use& use : result) use.above = use.devices > 0 ? use.above / use.devices - used_sum / devices_ : 0;
  return result;
}

void TypeBalance::renew_shifts() {
  const std::vector<Use> of_set = uses();
  for (std::size_t t = 0; t < shift_.size(); ++t) shift_[t] = static_cast<float>(-of_set[set_of_type_[t]].above);
}

}  // namespace muster::online
