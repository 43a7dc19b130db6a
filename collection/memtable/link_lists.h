// LinkLists are lists of neighbours that some threads read while others change them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"

namespace farvec::collection {

/// A list begins with the vertex's children, which keep their places for good. After the children,
/// a reader may see some of an old list and some of a new one, a neighbour twice or not at all.
/// Everything that it sees is a vertex.
///
/// Ids are stored with release and loaded with acquire order: a thread that finds a vertex in a
/// list sees its row, and its own list, which were written before. The head, which says how many
/// ids there are, is stored after them and loaded before them, in the same orders.
class LinkLists {
 public:
  /// Makes empty lists of `count` vertices.
  LinkLists(std::uint32_t count, std::uint32_t degree);

  /// Returns the number of ids that a list has room for. It is more than the degree, so that not
  /// every link prunes the list.
  std::uint32_t capacity() const { return stride_ - 1; }

  /// Overwrites `out`. It never waits.
  void read(NodeId vertex, std::vector<NodeId>& out) const;
  /// Brings the list to the core before it is read.
  void prefetch(NodeId vertex) const { prefetch_line(list(vertex)); }

  /// Must be held while a list is changed. A thread never holds two of them.
  std::unique_lock<std::mutex> lock(NodeId vertex) {
    return std::unique_lock(locks_[vertex % kLocks]);
  }
  /// Must be called under the lock. Overwrites `ids`, and returns how many of them, from the first
  /// on, are children.
  std::uint32_t read_locked(NodeId vertex, std::vector<NodeId>& ids) const;
  /// Must be called under the lock. Writes at most capacity() ids, with the former children in
  /// their places.
  void write_locked(NodeId vertex, std::span<const NodeId> ids, std::uint32_t children);

  /// Returns the memory that the lists of the first `count` vertices take.
  std::size_t dram_bytes(std::size_t count) const {
    return words_.bytes_taken(count * stride_ * sizeof(std::uint32_t)) + sizeof(*this);
  }

 private:
  static constexpr std::size_t kLocks = 256;

  std::uint32_t* list(NodeId vertex) const { return first_ + std::size_t{vertex} * stride_; }

  const std::uint32_t stride_;  ///< words from one list to the next: its head and its ids
  HugeBuffer words_;
  std::uint32_t* const first_;
  std::array<std::mutex, kLocks> locks_;
};

}  // namespace farvec::collection
