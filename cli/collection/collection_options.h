// Options that the commands below `farvec collection` share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "collection/collection.h"
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

/// Types, options, and what the collection holds.
nlohmann::ordered_json shape_json(const layout::CollectionManifest& manifest);
nlohmann::ordered_json view_json(const collection::View& view);
/// A merge that is under way.
nlohmann::ordered_json merge_json(const std::string& phase, const collection::BuildProgress& merge);
/// The view, and what only the writer knows.
nlohmann::ordered_json state_json(const collection::View& view,
                                  const collection::WriterState& state);
nlohmann::ordered_json recovery_json(const collection::Recovery& recovery);
/// A line on stderr when the log had something to bring back.
void tell_recovery(const collection::Recovery& recovery, bool quiet);

}  // namespace farvec::cli
