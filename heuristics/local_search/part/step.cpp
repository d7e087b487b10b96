#include "heuristics/local_search/part/step.h"

#include <cstddef>

namespace muster::local_search {

Gain& Gain::operator+=(const Gain& other) {
  worth += other.worth;
  seniority += other.seniority;
  for (std::size_t i = 0; i < wholeness.size(); ++i) wholeness[i] += other.wholeness[i];
  preference += other.preference;
  last_level += other.last_level;
  usable += other.usable;
  preferred_terms += other.preferred_terms;
  return *this;
}

}  // namespace muster::local_search
