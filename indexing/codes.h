// These functions make RaBitQ codes of all rows, and the header under which an index stores them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "base/progress.h"
#include "base/types.h"
#include "layout/graph/codes_region.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"
#include "quantization/split_rabitq.h"

namespace farvec::indexing {

/// Returns the header of a codes region for these parameters.
layout::CodesHeader codes_header(const quantization::RabitqParameters& parameters,
                                 std::uint64_t count);

struct CodeTraining {
  /// Bits per dimension, 1 to 8 or kWholeVectors; for encode_split(), those in the record.
  std::uint32_t bits = 2;
  std::uint64_t seed = 1;  ///< for the rotation
  unsigned threads = 0;    ///< see resolve_threads(); the codes do not depend on it
  /// Asked between runs of rows; true ends the work with WorkInterrupted.
  Interruption interrupted = {};
  bool quiet = true;  ///< no progress line
};

/// Codes for DRAM, and the part of them that records hold.
struct EncodedRows {
  layout::CodesHeader header;
  std::vector<float> centroid;
  HugeBuffer codes;
  HugeBuffer extensions;  ///< one after another; empty for whole codes

  layout::CodesView view() const { return {header, centroid, codes.span()}; }
};

/// Trains on all rows (stored type) and encodes them. Throws Error where
/// quantization::Rabitq::train() does, and WorkInterrupted.
EncodedRows encode_whole(const VectorView& rows, Metric metric, const CodeTraining& training);

/// Encodes in two parts: one bit per dimension for DRAM, the rest for the record.
EncodedRows encode_split(const VectorView& rows, Metric metric, const CodeTraining& training);

/// Makes the header and the centroid for codes that are stored in records, and keeps the vectors
/// where searches start.
EncodedRows describe_neighbor_codes(const VectorView& rows, NodeId entry,
                                    const quantization::NeighborCodes& codes);

}  // namespace farvec::indexing
