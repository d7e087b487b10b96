// A value of a node that is found once, until the node changes.
#pragma once

#include <cstdint>
#include <optional>

namespace muster::slots {

template <class Value>
class KnownValue {
 public:
  // `version`: of the node (ClusterState::version). `find`: the value now; none: there is none.
  template <class Find>
  const std::optional<Value>& of(std::uint32_t version, const Find& find) {
    if (version_ != version) value_ = find();
    version_ = version;
    return value_;
  }

 private:
  std::optional<std::uint32_t> version_;
  std::optional<Value> value_;
};

}  // namespace muster::slots
