// LostVertices find the vertices of an HNSW graph on pages that no search comes to.
#pragma once

#include <cstddef>
#include <vector>

#include "layout/hnsw/hnsw_vertex.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

/// A vertex is lost when no edge of the lowest layer leads to it. That happens to one of some ten
/// thousand: a full list that takes a new neighbour drops another, and it may have been the last
/// list that named it.
///
/// It takes six bits of DRAM for each vertex for which the pages have room. One thread uses it.
class LostVertices {
 public:
  explicit LostVertices(const layout::HnswShape& shape);

  /// Forgets what was seen, and begins with a graph of that many pages.
  void begin(PageNumber pages);
  /// Notes a vertex, and those to which its edges lead. What lies beyond the pages is not noted.
  void see(const layout::HnswPlace& place, const layout::HnswVertex& vertex);
  /// Notes a vertex that is found without an edge: where searches begin.
  void name(const layout::HnswPlace& place);

  /// Returns, when all vertices have been seen, the first page from this one on that has a lost
  /// vertex; kNoPage when none has.
  PageNumber next_page(PageNumber page) const;
  bool is_lost(const layout::HnswPlace& place) const;
  /// Returns whether two lists name the vertex, so that one of them may drop it.
  bool is_named_twice(const layout::HnswPlace& place) const;
  /// Notes that a list drops a vertex that two name.
  void drop(const layout::HnswPlace& place);

  std::size_t dram_bytes() const {
    return (there_.capacity() + named_.capacity() + named_twice_.capacity()) / 8;
  }

 private:
  /// Returns the place's bit, or the number of bits when it has none.
  std::size_t bit(const layout::HnswPlace& place) const;

  const layout::HnswShape& shape_;
  const std::size_t slots_;  ///< that a page has at most
  std::vector<bool> there_;
  std::vector<bool> named_;
  std::vector<bool> named_twice_;  ///< or more often
};

}  // namespace farvec::paged
