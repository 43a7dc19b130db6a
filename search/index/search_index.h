// A SearchIndex is a graph, a graph in slotted pages or a cluster index, for code that works with
// each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "search/index/cluster_index.h"
#include "search/index/graph_index.h"
#include "ssd_baseline/slotted/search/slotted_index.h"

namespace farvec::search {

class RowAttributes;
class SecondCopy;

/// It is immutable after construction and shared by all cores.
class SearchIndex {
 public:
  SearchIndex(GraphIndex index) : index_(std::move(index)) {}
  SearchIndex(ClusterIndex index) : index_(std::move(index)) {}
  SearchIndex(slotted::SlottedIndex index) : index_(std::move(index)) {}

  /// Returns nullptr when it is another kind of index.
  const GraphIndex* graph() const { return std::get_if<GraphIndex>(&index_); }
  const ClusterIndex* clusters() const { return std::get_if<ClusterIndex>(&index_); }
  const slotted::SlottedIndex* slotted() const {
    return std::get_if<slotted::SlottedIndex>(&index_);
  }

  /// Calls `visit` with the index of its kind. Slotted pages, whose records are not read one by
  /// one, are a broken invariant.
  template <typename Visit>
  auto visit_records(const Visit& visit) const {
    using Answer = std::invoke_result_t<const Visit&, const GraphIndex&>;
    FARVEC_CHECK(slotted() == nullptr);
    return std::visit(
        [&]<typename Index>(const Index& index) -> Answer {
          if constexpr (std::is_same_v<Index, slotted::SlottedIndex>) {
            std::abort();
          } else {
            return visit(index);
          }
        },
        index_);
  }

  /// Learns where each row is, for searches among rows that meet a condition, where the records
  /// alone say so: in clusters, and in the packed layout. `region` is the whole records region. To
  /// be called before the first search, if at all. Throws Error when the region is damaged.
  void find_rows(std::span<const std::byte> region);
  /// Says whether find_rows() has something to learn.
  bool must_find_rows() const;
  /// Returns the bytes that find_rows() has added.
  std::size_t row_bytes() const;

  /// Returns the number of rows.
  std::size_t count() const {
    return std::visit([](const auto& index) { return index.count(); }, index_);
  }

  /// Gives the rows attributes: searches may then have conditions, and ask for the attributes of
  /// results. To be called before the first search, if at all. A collection keeps those of its
  /// segments itself.
  void set_attributes(std::shared_ptr<const RowAttributes> attributes) {
    attributes_ = std::move(attributes);
  }
  /// Null: the rows have none.
  const std::shared_ptr<const RowAttributes>& attributes() const { return attributes_; }

  /// Gives the index a second copy of its vectors: searches then have queries of its form, and rank
  /// their candidates again. To be called before the first search, if at all.
  void set_second(std::shared_ptr<const SecondCopy> second) { second_ = std::move(second); }
  /// Null: it has none.
  const SecondCopy* second() const { return second_.get(); }

  /// Returns the bytes of the records region, header included.
  std::uint64_t region_bytes() const {
    return std::visit([](const auto& index) { return index.region_bytes(); }, index_);
  }
  /// Returns the bytes that the index keeps in compute DRAM, with attributes; the statistics of
  /// each core say what it adds.
  std::size_t dram_bytes() const;

  /// Returns the part of dram_bytes() that says where records are: offsets, or the table of
  /// clusters. 0 for slotted pages, where every pool has its own.
  std::size_t location_bytes() const {
    return std::visit([](const auto& index) { return index.location_bytes(); }, index_);
  }

 private:
  std::shared_ptr<const RowAttributes> attributes_;
  std::shared_ptr<const SecondCopy> second_;
  std::variant<GraphIndex, ClusterIndex, slotted::SlottedIndex> index_;
};

}  // namespace farvec::search
