// order_rows() decides in which order rows go into an index, so that what one insert reads
// also serves the next.
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

/// How the rows are ordered.
/// - none: the order of the data set.
/// - first, centroid, random, pca: ascending by one number of each row. For first it is the first
///   element, for centroid the distance from the mean of all rows, for random the place along a
///   random direction, for pca the place along the direction of largest variance.
/// - kmeans: chunk by chunk in the order of the data set, each chunk by its clusters.
/// - pca_kmeans: the same with chunks of rows that follow each other by pca, which the paper leaves
///   open: chunks are then near each other, and so are rows that are clusters apart.
/// - file: the order in a file, for clusterings that other programs make
///   (scripts/order/cluster_order.py).
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
  std::string file;  ///< for kind file, see read_order()
  std::uint64_t seed = 1;
  unsigned threads = 0;             ///< see resolve_threads(); the order does not depend on it
  std::size_t chunk_rows = 10'000;  ///< for kmeans and pca_kmeans: rows at a time
  std::uint32_t clusters = 10;      ///< for kmeans and pca_kmeans: clusters in every chunk
};

/// Reads "none", "first", "centroid", "random", "pca", "kmeans", "pca+kmeans" or "file:PATH".
/// Throws Error naming the accepted words. All other members keep their defaults.
OrderOptions parse_order(std::string_view text);
/// Returns the text from which parse_order() makes these options.
std::string to_string(const OrderOptions& options);

struct RowOrder {
  std::vector<NodeId> rows;  ///< each of them once: rows[0] is inserted first
  double seconds = 0;        ///< how long it took to find the order
};

/// Orders all rows. They may be of any stored type; give them in the form in which the index stores
/// them, so that they are ordered by what it compares. The rows may be those of a mapped file that
/// is larger than memory (dataset::MappedVectors). They are read in ascending order: once to refuse
/// NaN and infinity, and then once by first and random and twice by centroid, kmeans and pca. pca
/// also reads a sample several times, and pca_kmeans reads the rows in the order of pca. Rows of
/// equal numbers stay in their order. Memory: 16 bytes for each row, and for each thread of kmeans
/// a chunk as f32. Deterministic for the same options. Throws Error for a row that is not finite,
/// for 2^32 - 1 rows or more, and for a file that is no order of these rows.
RowOrder order_rows(const VectorView& rows, const OrderOptions& options);

}  // namespace farvec::indexing
