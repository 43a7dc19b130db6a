// fetch_held_file() reads what a memory node holds beside the index of a segment, or as a
// collection's catalogue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/memory.h"
#include "layout/index/manifest.h"
#include "tiers/attach/attach_options.h"

namespace farvec::tiers {

struct HeldFile {
  layout::Manifest manifest;  ///< that of the segment's index; empty for a catalogue
  HugeBuffer bytes;           ///< not compared with anything
};

/// A HeldFileRequest says what to read.
struct HeldFileRequest {
  std::optional<std::uint64_t> bytes = {};  ///< the length that it must have; none: whatever it has
  /// Called with the number of bytes that have come; may be empty. An exception from it ends the
  /// reading.
  std::function<void(std::uint64_t bytes)> on_bytes = {};
};

/// Attaches to options.segment, whose number may be layout::kCatalogueNumber, reads the file and
/// gives the lease back. Throws UnreachableError saying why the node cannot be read now, Error when
/// it holds no file there or one of another length.
HeldFile fetch_held_file(const AttachOptions& options, const HeldFileRequest& request = {});

}  // namespace farvec::tiers
