// The fresh rows of a collection, in the writer's DRAM, searched while they come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/memory.h"
#include "base/types.h"
#include "collection/memtable/memtable_graph.h"
#include "collection/memtable/memtable_query.h"
#include "distance/distance.h"
#include "graph/candidate_list.h"

namespace farvec::collection {

struct MemtableOptions {
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;  ///< stored: see distance::stored_type()
  std::uint32_t dimension = 0;
  std::uint32_t capacity = 0;  ///< rows, at least 1
  MemtableGraphOptions graph;
};

/// Rows are only added, and never change: a search may run while one thread appends and others
/// link. A row that was appended is found at once, by comparing it with the query. Linking makes
/// it a vertex of a graph, which finds the nearest of many rows with fewer comparisons.
///
/// append() does not make rows visible: whoever publishes a count with release order, as a view of
/// the collection does, makes the rows below it visible to those who take that count.
class Memtable {
 public:
  /// Sets aside the memory of all rows. Throws Error for a shape, a capacity or options that are
  /// out of range, SystemError when there is no such memory.
  explicit Memtable(const MemtableOptions& options);
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// Copies rows of the stored type, all of them finite, with the id of each; returns the first
  /// one's number, the others follow. One thread at a time. They must fit: see capacity().
  NodeId append(const VectorView& rows, std::span<const std::uint64_t> ids);

  const MemtableOptions& options() const { return options_; }
  std::uint32_t capacity() const { return options_.capacity; }
  /// Rows appended so far.
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  /// The rows before this one are all in the graph; searches compare with all others.
  std::uint32_t linked() const { return graph_.linked(); }

  /// Of a row that was published.
  std::uint64_t id(NodeId row) const {
    return load_unaligned<std::uint64_t>(ids_.data() + row * sizeof(std::uint64_t));
  }
  /// Rows that searches compare with one by one.
  std::uint32_t unlinked() const {
    const std::uint32_t vertices = linked();
    return size() - vertices;
  }

  /// In stored form, without padding; stays where it is.
  const std::byte* row(NodeId row) const { return rows_.row(row); }

  /// Whether a search would go through a graph of all its rows, by what the two cost.
  bool worth_linking() const { return size() > graph_.pays_from(); }
  /// All rows as a graph of their numbers. All are linked, and no more come.
  graph::Graph graph() const;

  /// Makes one more row a vertex of the graph. False when there is none to link: because all are,
  /// or because other threads are at rows that must be vertices first. Any threads at the same
  /// time, each with its own scratch; a row takes about 0.1 ms.
  bool link_next(LinkScratch& scratch) { return graph_.link_next(size(), scratch); }

  /// The k nearest of the rows that count, or all of them where they are fewer, by (distance,
  /// row), with the metric's own distances: those of scratch, until its next search. Any threads
  /// at the same time, each with its own scratch; never waits. Exact where nothing is linked, or
  /// where so few rows count that comparing with all of them costs less than the graph.
  std::span<const graph::Neighbor> search(const MemtableQuery& query,
                                          MemtableScratch& scratch) const;

  /// Set aside, with or without rows in it.
  std::size_t dram_bytes() const { return vectors_.size() + ids_.size() + graph_.dram_bytes(); }

 private:
  void scan(const MemtableQuery& query, NodeId first, MemtableScratch& scratch) const;

  const MemtableOptions options_;
  HugeBuffer vectors_;
  HugeBuffer ids_;
  const VectorView rows_;  ///< all that there is room for
  const distance::ManyKernel many_;
  MemtableGraph graph_;
  std::atomic<std::uint32_t> size_{0};
};

/// Links all rows by so many threads (0: one per processor), beside others that link; nobody
/// appends meanwhile. `interrupted` may be empty; it is asked before each row, and true ends this
/// with WorkInterrupted.
void link_rest(Memtable& memtable, unsigned threads, const std::function<bool()>& interrupted = {});

}  // namespace farvec::collection
