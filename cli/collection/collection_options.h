// Options that the commands below `farvec collection` share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "collection/collection.h"
#include "collection/facts.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::cli {

/// How a command changes a collection.
struct CollectionWrite {
  std::string durability = "commit";
  unsigned build_threads = 0;  ///< and as many that merge
  std::uint64_t merge_bytes_per_s = 0;
};

void add_write_options(Command& command, CollectionWrite& write);
/// Throws Error naming the option.
collection::CollectionAccess write_access(const CollectionWrite& write);

/// Of an empty collection: what its segments are made with.
struct CollectionShape {
  std::string metric;
  std::string type;
  std::uint32_t dimension = 0;
  layout::CollectionOptions options;
  std::string layout = "csr";
  std::optional<std::uint32_t> code_bits;
};

void add_shape_options(Command& command, CollectionShape& shape);
/// Throws Error naming the option.
layout::CollectionManifest shape_manifest(const CollectionShape& shape);

/// A line on stderr when the log had something to bring back.
void tell_recovery(const collection::Recovery& recovery, bool quiet);

}  // namespace farvec::cli
