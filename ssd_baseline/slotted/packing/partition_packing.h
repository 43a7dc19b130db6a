// Places neighbours together in partitions of so many vertices, and lays partitions onto pages.
// Source: Shim et al., Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025),
// section 6, which takes block neighbour frequency from Starling (Wang et al., SIGMOD 2024).
#pragma once

#include <cstdint>
#include <vector>

#include "base/node_record.h"
#include "layout/pages/page_plan.h"

namespace farvec::slotted {

inline constexpr std::uint32_t kMostPartitionNodes = 256;

/// Borrowed from a build.
struct PartitionInput {
  AdjacencyView graph;  ///< the lowest layer
  const layout::RecordCosts& costs;
  std::uint32_t partition_nodes = 64;  ///< P, 1 to kMostPartitionNodes
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< as in resolve_threads(); the plan does not depend on it
};

/// Vertices in pages, and pages in partitions. A page is of one partition; the pages of a partition
/// follow each other, and partitions are numbered from 0 in the order of their pages.
struct PartitionPlan {
  layout::PagePlan pages;                 ///< without colors
  std::vector<std::uint32_t> partitions;  ///< of each page
  std::uint32_t count = 0;                ///< partitions
};

/// Finds partitions of at most P vertices by pack_by_bnf(), where a vertex of any size counts one.
/// They come onto pages in the order of their first vertices: each begins a page, and as many as
/// fit whole come onto one; these are one partition from then on. So with P = 1 vertices stay in
/// their order, and pages are full. A partition that needs several pages is laid onto them
/// greedily: the vertex that has most edges to what has no place yet, then again and again that
/// which has most edges to the page and fits. Memory: as pack_by_bnf(). Throws Error when P is out
/// of range.
PartitionPlan pack_partitions(const PartitionInput& input);

/// How many of each partition's edges end in it, for each of its vertices: what says which
/// partitions are worth an insert page.
std::vector<double> inner_degrees(const PartitionPlan& plan, const AdjacencyView& graph);

/// The partitions that get insert pages: `share` (0 to 1) of all, rounded, those of largest
/// inner_degrees(); of equal ones the first. true at each chosen one. Throws Error for another
/// share.
std::vector<bool> choose_insert_partitions(const PartitionPlan& plan, const AdjacencyView& graph,
                                           double share);

}  // namespace farvec::slotted
