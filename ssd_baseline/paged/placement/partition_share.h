// These functions say when a partition of a paged HNSW gets an insert page of its own, and when it
// loses it. The source is section 6.1 of Shim et al., Turbocharging Vector Databases using Modern
// SSDs (PVLDB 18(11), 2025), which adjusts the share of partitions with insert pages and does not
// say how.
#pragma once

#include <cstdint>

#include "layout/hnsw/hnsw_meta.h"

namespace farvec::paged {

/// Returns how many wishes earn a partition an insert page: half of the vertices that a page takes,
/// at least one. So a page that is given is expected to be filled at least as far.
std::uint32_t wishes_for_a_page(const layout::HnswShape& shape);

/// Returns whether one more partition may get an insert page. Each partition has one page that is
/// not full at most, so this bounds the pages that a graph has more than its vertices need: to
/// `most_insert_pages` for a million pages of vertices. Partitions that had insert pages from the
/// beginning count too, and keep theirs.
bool may_have_insert_page(const layout::HnswState& state, std::uint32_t most_insert_pages);

/// Returns whether enough vertices were counted to say that a partition which got none of them
/// needs no insert page: as many as fill half of the insert page of each partition that has one.
bool tells_who_receives(const layout::HnswShape& shape, const layout::HnswState& state,
                        std::uint64_t counted);

}  // namespace farvec::paged
