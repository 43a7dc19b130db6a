// Writes an index on disk: manifest.json and one file per region.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "base/node_record.h"
#include "base/progress.h"
#include "base/types.h"
#include "layout/graph/codes_region.h"
#include "layout/graph/record_encoder.h"
#include "layout/index/index_directory.h"
#include "layout/index/manifest.h"

namespace farvec::layout {

/// IndexContents are the parts of an index; borrowed from the code that built it.
struct IndexContents {
  RecordContents records;
  CodesView codes;
};

struct WriteOptions {
  bool overwrite = false;  ///< replace an index that is already there
  unsigned threads = 0;    ///< 0: one per processor
  bool quiet = false;      ///< no progress line
  /// Called by the writing thread after each chunk of 4 MiB, or less at a region's end, with the
  /// number of its bytes. What it throws ends the writing and passes through to the caller; then
  /// nothing stays.
  std::function<void(std::uint64_t bytes)> on_chunk = {};
  Interruption interrupted = {};
};

/// For the beginning of a long build: it fails where write_index() would fail at the end. Throws
/// Error or SystemError when `directory` exists (unless overwrite, and it is an index), cannot be
/// made, is being written by another process, or has less room than `least_bytes`. Leaves no files.
void check_destination(const std::filesystem::path& directory, bool overwrite,
                       std::uint64_t least_bytes);

/// Writes `directory`. The caller has filled in metric, types, layout, record_checksum, max_degree
/// and build of a GraphDescription, dataset and farvec_*; count, dimension, edges, entry, bytes of
/// lists, code bits and regions are filled in here. Everything goes to `directory`.partial first,
/// each region's header after its payload is on the disk, and the directory gets its name at the
/// very end. Throws Error when `directory` exists (unless overwrite, and it is an index), when the
/// disk has too little room (says how much is needed), or on any failed write, and WorkInterrupted;
/// then nothing stays. Returns the manifest as written.
Manifest write_index(const std::filesystem::path& directory, Manifest manifest,
                     const IndexContents& contents, const WriteOptions& options = {});

/// Gives the index the placement that `place` returns, or none: its manifest is replaced in one
/// step, its regions stay. No other process writes the index meanwhile. Throws Error, also when
/// another process does, and SystemError; then the manifest is unchanged.
void write_placement(const std::filesystem::path& directory,
                     const std::function<std::optional<Placement>(const IndexDirectory&)>& place);

}  // namespace farvec::layout
