// The tables of all dialects; each in a source of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/kubernetes/known/known.h"

namespace muster::kubernetes::known {

extern const Dialect kCore, kWorkloadApi, kKai, kVolcano, kCoscheduling, kKueue, kLeaderWorkerSet, kJobSet, kRay,
    kKoordinator, kYuniKorn, kHami, kDevices;

// All of them, in the order of the documentation.
std::span<const Dialect* const> dialects();

// "read", "harmless", "ignored", "held" or "protected".
std::string_view treatment_name(Treatment treatment);

// The table for people, in Markdown.
std::string table_text();

}  // namespace muster::kubernetes::known
