// Which gangs fill what is free of a quota (docs/semantics.md, "Reservations", rule 2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/problem/problem.h"

namespace muster::referee {

struct FillItem {
  MicroGpu gpus = 0;  // more than 0
  std::int64_t seniority = 0;
  std::int32_t priority = 0;
};

// Whether an item is in all best choices, in none, or in some (or that it is not known).
enum class Turn : std::uint8_t { kYes, kNo, kOpen };

// By item. Items are in turn: higher priorities first. Beyond 2,048 units what is not plain stays open.
std::vector<Turn> fill(std::span<const FillItem> items, MicroGpu room);

}  // namespace muster::referee
