// RaBitQ codes of all rows, and the header under which an index stores them.
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

/// The header of a codes region for these parameters.
layout::CodesHeader codes_header(const quantization::RabitqParameters& parameters,
                                 std::uint64_t count);

struct CodeTraining {
  /// Per dimension, 1 to 8 or kWholeVectors; of encode_split(), those in the record.
  std::uint32_t bits = 2;
  std::uint64_t seed = 1;  ///< of the rotation
  unsigned threads = 0;    ///< as in resolve_threads(); the codes do not depend on it
  /// Asked between runs of rows: true ends it with WorkInterrupted.
  Interruption interrupted = {};
  bool quiet = true;  ///< no progress line
};

/// Codes for DRAM and what the records hold of them.
struct EncodedRows {
  layout::CodesHeader header;
  std::vector<float> centroid;
  HugeBuffer codes;
  HugeBuffer extensions;  ///< one after another; empty of whole codes

  layout::CodesView view() const { return {header, centroid, codes.span()}; }
};

/// Trains on all rows (stored type) and encodes them. Throws Error as quantization::Rabitq::train()
/// does, and WorkInterrupted.
EncodedRows encode_whole(const VectorView& rows, Metric metric, const CodeTraining& training);

/// The same in two parts: one bit per dimension in DRAM, the rest with the record.
EncodedRows encode_split(const VectorView& rows, Metric metric, const CodeTraining& training);

/// The header and the centroid of codes that lie in records, and the vectors where searches start.
EncodedRows describe_neighbor_codes(const VectorView& rows, NodeId entry,
                                    const quantization::NeighborCodes& codes);

}  // namespace farvec::indexing
