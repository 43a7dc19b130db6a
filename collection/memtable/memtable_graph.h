// A graph over the rows of a memtable, which grows while it is searched.
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
  std::uint32_t degree = 32;     ///< neighbours that are chosen for a vertex
  std::uint32_t link_list = 64;  ///< of the search that finds them; longer ones found no better
  /// What a search of the graph takes for each place of its list, in rows that are compared one by
  /// one. 0: as measured, see measured_place_rows().
  std::uint32_t place_rows = 0;
};

/// More for small rows, which a scan is through with sooner: 79 for 128 bytes, 47 for 384.
std::uint32_t measured_place_rows(std::size_t row_bytes);

/// Working memory of one thread that links.
struct LinkScratch {
  MemtableScratch search;  ///< its counts are of all rows that were linked
  graph::Selection selection;
  std::vector<NodeId> chosen;          ///< the rows of that selection
  std::vector<NodeId> neighbors;       ///< of the row that is linked
  std::vector<NodeId> edited;          ///< the list of one of them
  std::vector<graph::Candidate> pool;  ///< what is in it
};

/// One layer. Every vertex but row 0 has a parent, a vertex before it whose list keeps it for good:
/// a path leads from row 0 to every vertex however lists are pruned, also to those that no list
/// would choose. Neighbours are chosen by the metric's own distances, as in an HNSW graph.
class MemtableGraph {
 public:
  /// `rows` is the memory of all rows that there may be; it must outlive the graph. Throws Error
  /// for options that are out of range, and as distance::pair_kernel().
  MemtableGraph(const VectorView& rows, Metric metric, const MemtableGraphOptions& options);

  /// Links the next of the first `appended` rows, which the caller sees; false when there is none
  /// for now: see Memtable::link_next(). Any threads at the same time. When it throws, which it
  /// does for want of memory, the row is there to be linked again.
  bool link_next(std::uint32_t appended, LinkScratch& scratch);

  /// All rows before this one are vertices; some behind it may be.
  std::uint32_t linked() const { return linked_.load(std::memory_order_acquire); }

  /// Rows from which on a search with a list of kMemtableList costs less than to compare them all.
  std::uint32_t pays_from() const { return options_.place_rows * kMemtableList; }

  /// Whether a search costs less than to compare with each of the linked rows that count.
  bool pays(const MemtableQuery& query) const;

  /// The vertices that it finds nearest, of those that count, into scratch.met: at most the query's
  /// list or k. Those that do not count steer it and take no places. False when it has read so many
  /// of these that to compare with all rows costs less. There must be a vertex.
  bool search(const MemtableQuery& query, MemtableScratch& scratch) const;

  /// The vertices so far, with row 0 as the entry, from which a way leads to each; there must be
  /// one. Nobody links meanwhile.
  graph::Graph copy() const;

  std::size_t dram_bytes() const { return lists_.dram_bytes(); }

 private:
  class Walk;

  /// A row that is to be in the list of a vertex.
  struct Link {
    NodeId row = kInvalidNode;
    bool child = false;
  };

  /// A row that a thread is to link.
  struct Claim {
    NodeId row = kInvalidNode;
    bool held = true;  ///< or else the thread has failed, and another one is to do it
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
  /// Stored with release order: who acquires it sees the rows before it and their lists.
  std::atomic<std::uint32_t> linked_{0};
  std::mutex claims_;             ///< guards what follows, and stores to linked_
  NodeId next_ = 0;               ///< to be claimed
  std::vector<Claim> under_way_;  ///< claimed and not finished
};

}  // namespace farvec::collection
