// In which order rows go into an index, so that what one insert reads serves the next.
// Source: Shim et al., Turbocharging Vector Databases using Modern SSDs (PVLDB 18(11), 2025),
// section 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// none: as the rows stand. By one number of each row, ascending: first: its first element,
/// centroid: its distance from the mean of all rows, random: its place along a random direction,
/// pca: along the direction of largest variance. kmeans: chunk by chunk as the rows stand, each by
/// its clusters. pca_kmeans: the same with chunks of rows that follow each other by pca, which the
/// paper leaves open: chunks are then near each other, and so are rows that are clusters apart.
/// file: as a file says, for clusterings that other programs make (scripts/order/cluster_order.py).
enum class OrderKind : std::uint8_t {
  none = 0,
  first = 1,
  centroid = 2,
  random = 3,
  pca = 4,
  kmeans = 5,
  pca_kmeans = 6,
  file = 7
};

struct OrderOptions {
  OrderKind kind = OrderKind::none;
  std::string file;  ///< of kind file, see read_order()
  std::uint64_t seed = 1;
  unsigned threads = 0;             ///< as in resolve_threads(); the order does not depend on it
  std::size_t chunk_rows = 10'000;  ///< of both by clusters: rows at a time
  std::uint32_t clusters = 10;      ///< of both: in every chunk
};

/// "none", "first", "centroid", "random", "pca", "kmeans", "pca+kmeans" or "file:PATH". Throws
/// Error naming the accepted words. All else is as OrderOptions has it.
OrderOptions parse_order(std::string_view text);
/// What parse_order() takes.
std::string to_string(const OrderOptions& options);

struct RowOrder {
  std::vector<NodeId> rows;  ///< each of them once: rows[0] is inserted first
  double seconds = 0;        ///< that finding it took
};

/// Orders all rows (any stored type; to order by what the index compares, in the form in which it
/// stores them). Rows may be those of a file that is mapped and larger than memory
/// (dataset::MappedVectors): they are read in ascending order, once to refuse NaN and infinity, and
/// then once by first and random and twice by centroid, kmeans and pca, which besides reads a
/// sample several times; pca_kmeans reads them in the order of pca. Rows of equal numbers stay in
/// their order. Memory: 16 bytes for each row, and for each thread of kmeans a chunk as f32.
/// Deterministic for the same options. Throws Error for a row that is not finite, for 2^32 - 1 rows
/// or more, and for a file that is no order of these rows.
RowOrder order_rows(const VectorView& rows, const OrderOptions& options);

}  // namespace farvec::indexing
