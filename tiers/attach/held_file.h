// fetch_held_files() reads what a memory node holds beside the index of a segment, or as a
// collection's catalogue.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/memory.h"
#include "layout/index/manifest.h"
#include "tiers/attach/attach_options.h"

namespace farvec::tiers {

struct HeldFiles {
  layout::Manifest manifest;      ///< that of the segment's index; empty for a catalogue
  std::vector<HugeBuffer> files;  ///< a segment's ids and attributes; not compared with anything
};

/// A HeldFilesRequest says what to read.
struct HeldFilesRequest {
  /// The lengths that the files must have, in the node's order. None: one file, whatever it has.
  std::vector<std::uint64_t> bytes = {};
  /// Called with the number of bytes that have come; may be empty. An exception from it ends the
  /// reading.
  std::function<void(std::uint64_t bytes)> on_bytes = {};
};

/// Attaches to options.segment, whose number may be layout::kCatalogueNumber, reads the files and
/// gives the lease back. Throws UnreachableError saying why the node cannot be read now, Error when
/// it holds other files there, or files of another length.
HeldFiles fetch_held_files(const AttachOptions& options, const HeldFilesRequest& request = {});

}  // namespace farvec::tiers
