// From rows to an HNSW graph on pages: what fits memory is built there, the rest is inserted.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "base/progress.h"
#include "base/types.h"
#include "graph/hnsw/hnsw_builder.h"
#include "indexing/order/insertion_order.h"
#include "ssd_baseline/paged/change/hnsw_crew.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

struct HnswRecipe {
  HnswConfig config;
  PageStoreOptions store;  ///< folder, page and buffer bytes, log
  /// A graph that lies in the folder goes when the new one is whole.
  bool replace = false;
  std::string_view replace_option = "--overwrite";  ///< would do that, in messages
  indexing::OrderOptions order;                     ///< in which rows go in
  /// The first so many in that order are built in memory and laid out; the others are inserted.
  std::uint64_t memory_rows = std::numeric_limits<std::uint64_t>::max();
  /// P: vertices of a partition, which share pages; 1: pages are filled in the order of rows.
  std::uint32_t partition_nodes = 1;
  double insert_share = 0;  ///< of the partitions that get an insert page
  HnswCrewOptions crew;     ///< of the inserts
  unsigned threads = 0;     ///< of the order and of the build in memory; 0: all
  bool quiet = false;
  Interruption interrupted = {};  ///< of the build in memory
};

/// What a build took.
struct HnswBuildStats {
  double order_seconds = 0;
  double layout_seconds = 0;  ///< partitions, pages
  graph::HnswStats memory;    ///< of the graph built in memory
  std::uint64_t memory_rows = 0;
  std::uint64_t partitions = 0;
  HnswWork inserts;
  StoreCounts insert_store;  ///< what the inserts read, wrote and logged
};

/// What a graph of so many rows will take, about: pages that are nine tenths full.
std::uint64_t expected_hnsw_bytes(const HnswRecipe& recipe, std::uint64_t rows);

/// Throws Error for what makes no sense, before anything is made.
void check_hnsw_recipe(const HnswRecipe& recipe);

/// `rows` are in the stored type; row i has the id i. Durable when it returns, and open. Throws
/// Error, and WorkInterrupted when recipe.interrupted or recipe.crew.interrupted says so: then
/// nothing is left behind, and a graph that was to be replaced lies there as before.
std::unique_ptr<PagedHnsw> build_paged_hnsw(const VectorView& rows, const HnswRecipe& recipe,
                                            HnswBuildStats& stats);

}  // namespace farvec::paged
