// Turns the words of a command line into access that may change a collection.
#pragma once

#include <cstdint>
#include <string>

#include "collection/write/collection.h"

namespace farvec::measure {

/// Says how a command changes a collection.
struct CollectionWrite {
  std::string durability = "commit";
  unsigned build_threads = 0;  ///< threads that build, and as many that merge
  std::uint64_t merge_bytes_per_s = 0;
};

/// Throws an Error that names the option.
collection::CollectionAccess write_access(const CollectionWrite& write);

}  // namespace farvec::measure
