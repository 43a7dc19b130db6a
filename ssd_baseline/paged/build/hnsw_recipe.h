// build_paged_hnsw() makes an HNSW graph on pages from rows: it builds in memory what fits there,
// and inserts the rest.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/types.h"
#include "graph/hnsw/hnsw_builder.h"
#include "indexing/order/insertion_order.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

struct HnswRecipe {
  HnswConfig config;
  PageStoreOptions store;  ///< folder, page and buffer bytes, log
  /// Whether a graph that lies in the folder is replaced, once the new one is whole.
  bool replace = false;
  std::string_view replace_option = "--overwrite";  ///< what messages call it
  indexing::OrderOptions order;                     ///< the order in which rows go in
  /// How many rows, the first in that order, are built in memory and laid out; the others are
  /// inserted.
  std::uint64_t memory_rows = std::numeric_limits<std::uint64_t>::max();
  /// P, the vertices of a partition, which share pages; 1: pages are filled in the order of rows.
  std::uint32_t partition_nodes = 1;
  /// The share of the partitions that have an insert page from the beginning. It follows the
  /// inserts as far as HnswConfig::most_insert_pages allows.
  double insert_share = 0;
  HnswCrewOptions crew;  ///< runs the inserts
  unsigned threads = 0;  ///< for the order and the build in memory; 0: all
  bool quiet = false;
  Interruption interrupted = {};  ///< interrupts the build in memory
};

/// Says what a build took.
struct HnswBuildStats {
  double order_seconds = 0;
  double layout_seconds = 0;  ///< making partitions and pages
  graph::HnswStats memory;    ///< the graph that was built in memory
  std::uint64_t memory_rows = 0;
  std::uint64_t partitions = 0;
  HnswWork inserts;
  StoreCounts insert_store;  ///< what the inserts read, wrote and logged
};

/// Estimates the bytes of a graph of this many rows, with pages that are nine tenths full.
std::uint64_t expected_hnsw_bytes(const HnswRecipe& recipe, std::uint64_t rows);

/// A BuildBuffer is the buffer that was asked for.
struct BuildBuffer {
  const std::string& text;  ///< see buffer_bytes(); empty: the usual one
  std::string_view option;  ///< what messages call it
};
/// Returns the bytes of the buffer of a build of this many rows: see buffer_bytes(). Where rows are
/// inserted on pages, it has room for the inserts of the crew. Throws Error.
std::uint64_t build_buffer_bytes(const HnswRecipe& recipe, std::uint64_t rows,
                                 const BuildBuffer& buffer);

/// Throws Error for a recipe that makes no sense, before anything is made.
void check_hnsw_recipe(const HnswRecipe& recipe);

/// Builds a graph, which is durable when this returns, and open. `rows` are in the stored type; row
/// i has the id i. Throws Error, and WorkInterrupted when recipe.interrupted or
/// recipe.crew.interrupted says so: then nothing new is left, and a graph that was to be replaced
/// lies there as before.
std::unique_ptr<PagedHnsw> build_paged_hnsw(const VectorView& rows, const HnswRecipe& recipe,
                                            HnswBuildStats& stats);

}  // namespace farvec::paged
