// How evenly an online placer uses types of nodes that the same classes of pods accept: a type that is wholly used up
// while all others are idle is more expensive by a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/policies/online_value.h"

namespace muster::online {

class TypeBalance {
 public:
  // Nothing is used yet, and each type is a set of its own until group().
  TypeBalance(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node);

  double devices() const { return devices_; }
  // Types that the same ones of the classes accept are one set.
  void group(const std::vector<const policies::OnlineClass*>& classes);
  // Negative: that much is free again.
  void use(std::size_t type, double devices);
  // How the balance changes by a device that is taken of the type.
  float shift(std::size_t type) const { return shift_[type]; }
  // The higher the more even; <= 0.
  double balance() const;

 private:
  struct Use {
    double above = 0, devices = 0;
  };
  std::vector<Use> uses() const;
  void renew_shifts();

  double devices_ = 0;
  std::vector<double> used_of_type_, all_of_type_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> set_of_type_;
  std::vector<float> shift_;
};

}  // namespace muster::online
