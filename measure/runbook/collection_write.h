// How collections are opened for changes, as command lines say it.
#pragma once

#include <cstdint>
#include <string>

#include "collection/write/collection.h"

namespace farvec::measure {

/// How a command changes a collection.
struct CollectionWrite {
  std::string durability = "commit";
  unsigned build_threads = 0;  ///< and as many that merge
  std::uint64_t merge_bytes_per_s = 0;
};

/// Throws Error naming the option.
collection::CollectionAccess write_access(const CollectionWrite& write);

}  // namespace farvec::measure
