// The codes of a cluster's members as they lie in fetched bytes: the shape in which a scan hands
// them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec {

/// Valid until the source that handed it out returns or suspends. Located by layout/, estimated by
/// cluster/. Members have numbers from 0 in the order of their codes.
struct CodedMembers {
  ClusterId cluster = 0;
  const std::byte* codes = nullptr;       ///< whole blocks, at any alignment
  std::uint32_t grouped = 0;              ///< the first members, whose addresses follow one another
  std::uint32_t first = 0;                ///< the first one's address
  std::span<const std::uint32_t> strays;  ///< the addresses of the members behind those

  std::uint32_t size() const { return grouped + static_cast<std::uint32_t>(strays.size()); }
  std::uint32_t address(std::uint32_t member) const {
    return member < grouped ? first + member : strays[member - grouped];
  }
};

}  // namespace farvec
