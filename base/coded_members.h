// CodedMembers describes the codes of a cluster's members in fetched bytes. A scan hands them out
// in this shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec {

/// It is valid until the source that handed it out returns or suspends. layout/ locates it,
/// cluster/ estimates distances from it. Members are numbered from 0 in the order of their codes.
struct CodedMembers {
  ClusterId cluster = 0;
  const std::byte* codes = nullptr;  ///< whole blocks, at any alignment
  std::uint32_t grouped = 0;         ///< the first members, whose addresses follow one another
  std::uint32_t first = 0;           ///< the first one's address
  /// The addresses of the members that follow the grouped ones.
  std::span<const std::uint32_t> strays;

  std::uint32_t size() const { return grouped + static_cast<std::uint32_t>(strays.size()); }
  std::uint32_t address(std::uint32_t member) const {
    return member < grouped ? first + member : strays[member - grouped];
  }
};

}  // namespace farvec
