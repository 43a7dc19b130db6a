// Writes a slotted index on disk: pages, codes, page map, entries, and vectors for re-ranking.
#pragma once

#include <filesystem>

#include "base/node_record.h"
#include "base/types.h"
#include "layout/graph/codes_region.h"
#include "layout/index/index_writer.h"
#include "layout/index/manifest.h"
#include "layout/pages/page_encoder.h"
#include "layout/pages/page_plan.h"

namespace farvec::layout {

/// SlottedContents are the parts of a slotted index; borrowed from the code that built it.
struct SlottedContents {
  AdjacencyView graph;
  VectorView vectors;  ///< stored type
  PayloadView payloads;
  CodesView codes;
  const RecordCosts& costs;
  const PagePlan& plan;
  const SampledGraphView& entries;
};

/// Works like write_index(). The caller has filled in metric, types, dataset, farvec_*, and in a
/// GraphDescription record_checksum (false), block_bytes, max_degree, build, and its `slotted`,
/// which is present, except for `pages` and `entries`. A region of vectors is written when
/// slotted->rerank says so.
Manifest write_slotted_index(const std::filesystem::path& directory, Manifest manifest,
                             const SlottedContents& contents, const WriteOptions& options = {});

}  // namespace farvec::layout
