// pack_partitions() places neighbours together in partitions of bounded size, and lays partitions
// onto pages.
// Source: Shim et al., Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025),
// section 6, which takes block neighbour frequency from Starling (Wang et al., SIGMOD 2024).
#pragma once

#include <cstdint>
#include <vector>

#include "base/node_record.h"
#include "layout/pages/page_plan.h"

namespace farvec::slotted {

inline constexpr std::uint32_t kMostPartitionNodes = 256;

/// A PartitionInput is what is packed. It is borrowed from a build.
struct PartitionInput {
  AdjacencyView graph;  ///< the lowest layer
  const layout::RecordCosts& costs;
  std::uint32_t partition_nodes = 64;  ///< P, 1 to kMostPartitionNodes
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< see resolve_threads(); the plan does not depend on it
};

/// A PartitionPlan puts vertices into pages, and pages into partitions. A page belongs to one
/// partition; the pages of a partition follow each other, and partitions are numbered from 0 in the
/// order of their pages.
struct PartitionPlan {
  layout::PagePlan pages;                 ///< without colors
  std::vector<std::uint32_t> partitions;  ///< the partition of each page
  std::uint32_t count = 0;                ///< number of partitions
};

/// Finds partitions of at most P vertices by pack_by_bnf(), where a vertex of any size counts one.
/// The partitions are put onto pages in the order of their first vertices. Each page takes as many
/// of them as fit whole; these are one partition from then on. So with P = 1 vertices stay in their
/// order, and pages are full. A partition that needs several pages is laid onto them greedily: each
/// page first takes the vertex with most edges to the vertices without a place, then again and
/// again the one that fits and has most edges to the page. Needs the memory of pack_by_bnf().
/// Throws Error when P is out of range.
PartitionPlan pack_partitions(const PartitionInput& input);

/// Returns for each partition how many of its edges end in it, divided by its vertices. It says
/// which partitions are worth an insert page.
std::vector<double> inner_degrees(const PartitionPlan& plan, const AdjacencyView& graph);

/// Chooses the partitions that get insert pages: `share` (0 to 1) of all, rounded, those of largest
/// inner_degrees(), and among equal ones the first. The result is true at each chosen one. Throws
/// Error for another share.
std::vector<bool> choose_insert_partitions(const PartitionPlan& plan, const AdjacencyView& graph,
                                           double share);

}  // namespace farvec::slotted
