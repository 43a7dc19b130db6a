// pack_records() decides which records share a page of a slotted index. It is pure computation,
// without I/O.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/node_record.h"
#include "base/progress.h"
#include "graph/affine_sets.h"
#include "layout/pages/page_plan.h"

namespace farvec::slotted {

/// affinity: affine records together, VeloANN section 3.4. bnf: the records of neighbours together,
/// Starling's block neighbour frequency. id: in the order of ids, for comparison.
enum class PackingKind : std::uint8_t { affinity = 0, bnf = 1, id = 2 };

/// Returns "affinity", "bnf" or "id".
std::string_view to_string(PackingKind kind);
/// Throws Error naming the accepted words.
PackingKind parse_packing_kind(std::string_view text);

/// A PackingInput is what is packed. It is borrowed from a build.
struct PackingInput {
  AdjacencyView graph;
  const layout::RecordCosts& costs;
  const graph::AffineSets&
      affine;  ///< may be empty except for kind affinity; the other kinds color by it
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< see resolve_threads(); the plan does not depend on it
  bool quiet = true;     ///< no progress
  Interruption interrupted = {};
};

/// Returns the plan of every vertex of the graph. Affine records of one page have one color. Throws
/// WorkInterrupted.
layout::PagePlan pack_records(PackingKind kind, const PackingInput& input);

/// AffinePairs are counts of pairs of affine vertices. A pair is counted once, whether it stands at
/// one of its vertices or at both.
struct AffinePairs {
  std::uint64_t all = 0;
  std::uint64_t together = 0;  ///< pairs in one page
};

AffinePairs count_affine_pairs(const graph::AffineSets& affine, const layout::PagePlan& plan);

}  // namespace farvec::slotted
