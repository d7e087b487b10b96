// The messages between the parent and its worker, as bytes. Both sides are the same binary: native byte order, no
// versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solver/cbc/milp_request.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

enum class MessageType : std::uint32_t {
  kSolve = 1,  // parent: a model and a request; the LP that is open stays so
  kOpenLp,     // parent: the same, kept in the worker
  kExtendLp,   // parent: more columns for it
  kIncumbent,  // worker: a solution found while solving, with the bound so far
  kAnswer      // worker: the last word on a request
};

std::vector<std::byte> encode(const lp::Milp& milp, const MilpRequest& request);
std::vector<std::byte> encode(const MilpAnswer& answer);

// None if the bytes are not what encode() writes, or describe a model with inconsistent arrays.
std::optional<Question> decode_question(std::span<const std::byte> bytes);
std::optional<MilpAnswer> decode_answer(std::span<const std::byte> bytes);

}  // namespace muster::cbc
