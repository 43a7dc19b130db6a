// A MemtableGraph is a graph over the rows of a memtable, which grows while it is searched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/types.h"
#include "collection/memtable/link_lists.h"
#include "collection/memtable/memtable_query.h"
#include "distance/distance.h"
#include "graph/graph.h"
#include "graph/hnsw/select_neighbors.h"

namespace farvec::collection {

struct MemtableGraphOptions {
  std::uint32_t degree = 32;  ///< neighbours that are chosen for a vertex
  std::uint32_t link_list =
      64;  ///< list of the search that finds them; longer ones found no better neighbours
  /// The cost of one place of the list in a search of the graph, in rows that are compared one by
  /// one. 0: the measured cost, see measured_place_rows().
  std::uint32_t place_rows = 0;
};

/// It is more for small rows, which a scan compares sooner: 79 for 128 bytes, 47 for 384.
std::uint32_t measured_place_rows(std::size_t row_bytes);

/// A LinkScratch is the working memory of one thread that links.
struct LinkScratch {
  MemtableScratch search;  ///< its counts are those of all rows that were linked
  graph::Selection selection;
  std::vector<NodeId> chosen;          ///< the rows of that selection
  std::vector<NodeId> neighbors;       ///< neighbours of the row that is linked
  std::vector<NodeId> edited;          ///< the list of one of them
  std::vector<graph::Candidate> pool;  ///< the contents of that list
};

/// The graph has one layer. Every vertex except row 0 has a parent, a vertex before it whose list
/// keeps it for good. So a path leads from row 0 to every vertex however lists are pruned, also to
/// those that no list would choose. Neighbours are chosen by the metric's own distances, which is
/// the rule of an HNSW graph too.
class MemtableGraph {
 public:
  /// `rows` is the memory of all rows that there may be; it must outlive the graph. Throws Error
  /// for options that are out of range, and where distance::pair_kernel() does.
  MemtableGraph(const VectorView& rows, Metric metric, const MemtableGraphOptions& options);

  /// Links the next of the first `appended` rows, which must be visible to the caller. False when
  /// there is none for now: see Memtable::link_next(). Any number of threads may call it at the
  /// same time. When it throws because there is no memory, the row can be linked again.
  bool link_next(std::uint32_t appended, LinkScratch& scratch);

  /// All rows before this one are vertices; some after it may be.
  std::uint32_t linked() const { return linked_.load(std::memory_order_acquire); }

  /// Returns the number of rows from which on a search with a list of kMemtableList costs less than
  /// comparing all of them.
  std::uint32_t pays_from() const { return options_.place_rows * kMemtableList; }

  /// Says whether a search costs less than comparing with each of the linked rows that count.
  bool pays(const MemtableQuery& query) const;

  /// Finds the nearest vertices among those that count, and puts them into scratch.met: at most the
  /// query's list or k. Vertices that do not count steer the search and take no places. False when
  /// it has read more of these than comparing with all rows would cost. There must be a vertex.
  bool search(const MemtableQuery& query, MemtableScratch& scratch) const;

  /// Returns the vertices so far, with row 0 as the entry, from which a path leads to each; there
  /// must be one. No row may be linked meanwhile.
  graph::Graph copy() const;

  /// Returns the memory that the vertices so far take.
  std::size_t dram_bytes() const { return lists_.dram_bytes(linked()); }

 private:
  class Walk;

  /// A Link is a row that is to be in the list of a vertex.
  struct Link {
    NodeId row = kInvalidNode;
    bool child = false;
  };

  /// A Claim is a row that a thread is going to link.
  struct Claim {
    NodeId row = kInvalidNode;
    bool held = true;  ///< false: the thread has failed, and another one is to do it
  };

  NodeId claim(std::uint32_t appended);
  void finish(NodeId row);
  void give_back(NodeId row);
  std::uint64_t counted(const MemtableQuery& query, std::uint64_t vertices) const;
  void walk(const void* vector, NodeId salt, graph::BeamParameters parameters,
            MemtableScratch& scratch) const;
  void link(NodeId row, LinkScratch& scratch);
  void link_back(NodeId row, NodeId parent, LinkScratch& scratch);
  NodeId find_parent(NodeId row, LinkScratch& scratch);
  bool add(NodeId vertex, const Link& link, LinkScratch& scratch);
  void prune(NodeId vertex, std::uint32_t children, LinkScratch& scratch) const;
  void select(NodeId vertex, std::span<const graph::Candidate> pool, LinkScratch& scratch) const;

  const VectorView rows_;
  const MemtableGraphOptions options_;  ///< complete
  const distance::PairKernel pair_;
  const distance::ManyKernel many_;
  LinkLists lists_;
  /// Stored with release order: a thread that acquires it sees the rows before it and their lists.
  std::atomic<std::uint32_t> linked_{0};
  std::mutex claims_;             ///< guards the members below, and stores to linked_
  NodeId next_ = 0;               ///< the next row to be claimed
  std::vector<Claim> under_way_;  ///< claimed and not finished
};

}  // namespace farvec::collection
