// These functions read the words of the tiers, one for each kind, each in a file beside the tier:
// memory_tier.cc, ...
#pragma once

#include <string_view>

#include "tiers/tier_spec.h"

namespace farvec::tiers {

/// Reads what follows the kind's word: nothing, or ":..." or ",...". Returns null when it does not
/// fit; throws Error where more can be said.
using TierReader = TierSpecPointer (*)(std::string_view rest);

/// Returns what follows the colon; empty where there is no colon, or nothing follows it.
constexpr std::string_view after_colon(std::string_view rest) {
  return rest.starts_with(':') ? rest.substr(1) : std::string_view();
}

TierSpecPointer read_dram(std::string_view rest);
TierSpecPointer read_shm(std::string_view rest);
TierSpecPointer read_numa(std::string_view rest);
TierSpecPointer read_file(std::string_view rest);
TierSpecPointer read_devdax(std::string_view rest);
TierSpecPointer read_pmem(std::string_view rest);
TierSpecPointer read_emulated(std::string_view rest);
TierSpecPointer read_verbs(std::string_view rest);
TierSpecPointer read_fabric(std::string_view rest);
TierSpecPointer read_ssd(std::string_view rest);

}  // namespace farvec::tiers
