// A Memtable holds the fresh rows of a collection, in the writer's DRAM; it is searched while they
// come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/memory.h"
#include "base/types.h"
#include "collection/memtable/memtable_attributes.h"
#include "collection/memtable/memtable_graph.h"
#include "collection/memtable/memtable_query.h"
#include "distance/distance.h"
#include "graph/candidate_list.h"
#include "layout/attributes/tuple.h"

namespace farvec::collection {

struct MemtableOptions {
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;  ///< see stored_type() (base/stored_form.h)
  std::uint32_t dimension = 0;
  std::uint32_t capacity = 0;  ///< rows, at least 1
  MemtableGraphOptions graph;
  bool attributes = false;  ///< whether rows have attributes
};

/// Rows are only added, and never change: a search may run while one thread appends and others
/// link. A row that was appended is found at once, because the query is compared with it. Linking
/// makes it a vertex of a graph, which finds the nearest of many rows with fewer comparisons.
///
/// append() does not make rows visible. The caller publishes a count with release order, which a
/// view of the collection does. That makes the rows below it visible to threads that take the
/// count.
class Memtable {
 public:
  /// Allocates the memory of all rows. Throws Error for a shape, a capacity or options that are out
  /// of range, SystemError when there is not enough memory.
  explicit Memtable(const MemtableOptions& options);
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// Copies rows of the stored type, all of them finite, with the id of each, and their checked
  /// attributes; without a tuple for each, all are null. Returns the number of the first row; the
  /// others follow. It is for one thread at a time. The rows must fit: see capacity(). Where this
  /// throws, because there is no memory, no row is in.
  NodeId append(const VectorView& rows, std::span<const std::uint64_t> ids,
                const layout::TupleView& attributes = {});

  const MemtableOptions& options() const { return options_; }
  std::uint32_t capacity() const { return options_.capacity; }
  /// Returns the number of rows that were appended so far.
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }
  /// The rows before this one are all in the graph; searches compare with all others.
  std::uint32_t linked() const { return graph_.linked(); }

  /// Returns the id of a row that was published.
  std::uint64_t id(NodeId row) const {
    return load_unaligned<std::uint64_t>(ids_.data() + row * sizeof(std::uint64_t));
  }
  /// The number of rows that searches compare with one by one.
  std::uint32_t unlinked() const {
    const std::uint32_t vertices = linked();
    return size() - vertices;
  }

  /// Returns the tuple of a row that was published; its attributes are all null where rows have
  /// none. It stays where it is.
  std::span<const std::byte> attributes(NodeId row) const {
    return attributes_ ? attributes_->row(row) : layout::null_tuple();
  }

  /// A row in stored form, without padding; it stays where it is.
  const std::byte* row(NodeId row) const { return rows_.row(row); }

  /// Says whether a search would use a graph of all its rows, by what the two cost.
  bool worth_linking() const { return size() > graph_.pays_from(); }
  /// Returns a graph of all rows by their numbers. All rows must be linked, and no more may come.
  graph::Graph graph() const;

  /// Makes one more row a vertex of the graph. False when there is none to link: because all are
  /// linked, or because other threads are linking rows that must be vertices first. Any number of
  /// threads may call it at the same time, each with its own scratch. A row takes about 0.1 ms.
  bool link_next(LinkScratch& scratch) { return graph_.link_next(size(), scratch); }

  /// Returns the k nearest of the rows that count, or all of them where they are fewer, by
  /// (distance, row), with the metric's own distances. The span is of scratch, and valid until its
  /// next search. Any number of threads may call it at the same time, each with its own scratch; it
  /// never waits. Exact where nothing is linked, or where so few rows count that comparing with all
  /// of them costs less than the graph.
  std::span<const graph::Neighbor> search(const MemtableQuery& query,
                                          MemtableScratch& scratch) const;

  /// Returns the memory that its rows take. What is reserved for others takes none.
  std::size_t dram_bytes() const;

 private:
  void scan(const MemtableQuery& query, NodeId first, MemtableScratch& scratch) const;

  const MemtableOptions options_;
  HugeBuffer vectors_;
  HugeBuffer ids_;
  const VectorView rows_;  ///< all rows that there is room for
  const distance::ManyKernel many_;
  MemtableGraph graph_;
  std::optional<MemtableAttributes> attributes_;
  std::atomic<std::uint32_t> size_{0};
};

/// Links all rows with `threads` threads (0: one per processor), beside others that link. No rows
/// may be appended meanwhile. `interrupted` may be empty; it is called before each row, and true
/// ends this with WorkInterrupted.
void link_rest(Memtable& memtable, unsigned threads, const std::function<bool()>& interrupted = {});

}  // namespace farvec::collection
