// What the parent and its worker say to each other, as bytes. Both sides are the same binary: native byte order, no
// versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solver/backend.h"
#include "solver/milp.h"

namespace muster {

enum class MessageType : std::uint32_t {
  kSolve = 1,  // parent: a model and a request; the LP that is open stays so
  kOpenLp,     // parent: the same, kept in the worker
  kExtendLp,   // parent: more columns for it
  kIncumbent,  // worker: a solution found while solving, with the bound so far
  kAnswer      // worker: the last word on a request
};

struct Question {
  Milp milp;
  MilpRequest request;
};

std::vector<std::byte> encode(const Milp& milp, const MilpRequest& request);
std::vector<std::byte> encode(const MilpAnswer& answer);

// Nothing if the bytes are not what encode() writes, or describe a model whose arrays do not fit together.
std::optional<Question> decode_question(std::span<const std::byte> bytes);
std::optional<MilpAnswer> decode_answer(std::span<const std::byte> bytes);

}  // namespace muster
