// pack_by_bnf() places neighbours together: Starling's block neighbour frequency (Wang et al.,
// SIGMOD 2024).
#pragma once

#include "layout/pages/page_plan.h"
#include "ssd_baseline/slotted/packing/packing.h"

namespace farvec::slotted {

/// Begins with every vertex followed by its neighbours. Then up to kBnfRounds rounds give every
/// vertex, in a shuffled order, the page with the largest count * (1 - used / capacity). `count` is
/// how many of its in- and out-neighbours have that page in this round or, if they had no turn yet,
/// in the one before. A vertex that has no such page with room goes where there is room. Ends when
/// the overlap (layout::page_overlap) has grown by less than 1%, and takes the best round. Batches
/// of vertices are scored by all threads before any vertex of them moves, so the plan does not
/// depend on the number of threads. Memory: 8 bytes for each edge.
layout::PagePlan pack_by_bnf(const PackingInput& input);

inline constexpr int kBnfRounds = 16;

}  // namespace farvec::slotted
