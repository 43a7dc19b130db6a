#include "ssd_baseline/paged/build/hnsw_recipe.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "dataset/vector_set.h"
#include "ssd_baseline/paged/build/colocation.h"
#include "ssd_baseline/paged/build/hnsw_destination.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"
#include "ssd_baseline/paged/placement/partition_map.h"

namespace farvec::paged {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kGatherRows = 4096;

double seconds_from(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Holds the rows that are built in memory, one after the other.
class MemoryRows {
 public:
  MemoryRows(const VectorView& rows, std::span<const NodeId> chosen, unsigned threads)
      : view_(rows) {
    if (chosen.size() == rows.count) return;
    copies_.emplace(chosen.size(), rows.dimension, rows.type);
    parallel_for(chosen.size(), kGatherRows, threads,
                 [&](std::size_t begin, std::size_t end, unsigned) {
                   for (std::size_t i = begin; i < end; ++i) {
                     std::memcpy(copies_->mutable_row(i), rows.row(chosen[i]), rows.row_bytes());
                   }
                 });
    view_ = copies_->view();
    ids_ = chosen;
  }

  const VectorView& view() const { return view_; }
  /// Returns the ids of the rows; empty: all rows, with their numbers for ids.
  std::span<const NodeId> ids() const { return ids_; }

 private:
  std::optional<dataset::VectorSet> copies_;
  VectorView view_;
  std::span<const NodeId> ids_;
};

/// Builds the part in memory and lays it out.
std::unique_ptr<PagedHnsw> lay_out(const MemoryRows& rows, const HnswRecipe& recipe,
                                   HnswBuildStats& stats) {
  graph::HnswOptions options;
  options.levels = hnsw_level_rule(recipe.config, recipe.store.page_bytes);
  options.ef_construction = recipe.config.ef_construction;
  options.threads = recipe.threads;
  options.quiet = recipe.quiet;
  options.interrupted = recipe.interrupted;
  const graph::HnswGraph graph =
      graph::build_hnsw(rows.view(), recipe.config.metric, rows.ids(), options, &stats.memory);
  const auto start = Clock::now();
  const layout::HnswShape shape{recipe.store.page_bytes, recipe.config.dimension,
                                recipe.config.type, recipe.config.m, options.levels.max_level};
  const Colocation places(graph, shape,
                          {recipe.partition_nodes, recipe.config.seed, recipe.threads});
  auto hnsw = PagedHnsw::create(recipe.store, recipe.config,
                                {rows.view(), rows.ids(), &graph, places.order()});
  stats.partitions = places.plan().count;
  const bool follows = recipe.partition_nodes > 1 && recipe.config.most_insert_pages > 0;
  if (recipe.insert_share > 0 || follows) {
    const auto chosen =
        slotted::choose_insert_partitions(places.plan(), graph.base().view(), recipe.insert_share);
    create_partition_map(*hnsw, chosen);
  }
  stats.layout_seconds = seconds_from(start);
  return hnsw;
}

/// Inserts the rest of the rows. They are on the disk when this returns.
void insert_rest(PagedHnsw& hnsw, const HnswInserts& rest, const HnswRecipe& recipe,
                 HnswBuildStats& stats) {
  const StoreCounts before = hnsw.store().counts();
  Progress progress("inserts", rest.chosen.size(), recipe.quiet);
  HnswCrewOptions crew = recipe.crew;
  crew.advanced = [&](std::uint64_t amount) { progress.advance(amount); };
  stats.inserts = HnswCrew(hnsw, crew).insert(rest);
  stats.inserts.write_back_seconds = hnsw.write_back();
  stats.insert_store = hnsw.store().counts() - before;
}

}  // namespace

std::uint64_t expected_hnsw_bytes(const HnswRecipe& recipe, std::uint64_t rows) {
  const layout::HnswShape shape{recipe.store.page_bytes, recipe.config.dimension,
                                recipe.config.type, recipe.config.m, 0};
  return rows * shape.vertex_bytes(0) / 9 * 10;
}

std::uint64_t build_buffer_bytes(const HnswRecipe& recipe, std::uint64_t rows,
                                 const BuildBuffer& buffer) {
  const bool inserts = recipe.memory_rows < rows;
  const std::uint64_t at_once =
      inserts ? std::uint64_t{recipe.crew.threads} * recipe.crew.slots : 0;
  const auto needs = BufferNeeds::for_changes(recipe.config, recipe.store.page_bytes, at_once);
  return buffer_bytes(buffer.text, expected_hnsw_bytes(recipe, rows), needs, buffer.option);
}

void check_hnsw_recipe(const HnswRecipe& recipe) {
  (void)hnsw_level_rule(recipe.config, recipe.store.page_bytes);
  PageStore::check_options(recipe.store);
  if (recipe.partition_nodes == 0 || recipe.partition_nodes > slotted::kMostPartitionNodes) {
    throw Error("--partition-nodes must be 1 to {}, not {}", slotted::kMostPartitionNodes,
                recipe.partition_nodes);
  }
  if (recipe.memory_rows == 0) {
    throw Error("at least one row must be built in memory: --memory-rows 0 leaves none");
  }
}

namespace {

/// Builds the graph, which is closed, and on the disk, when this returns.
void build_in_folder(const VectorView& rows, const HnswRecipe& recipe, HnswBuildStats& stats) {
  const indexing::RowOrder order = indexing::order_rows(rows, recipe.order);
  stats.order_seconds = order.seconds;
  stats.memory_rows = std::min<std::uint64_t>(recipe.memory_rows, rows.count);
  const std::span<const NodeId> all = order.rows;
  const MemoryRows memory(rows, all.first(stats.memory_rows), resolve_threads(recipe.threads));
  const auto hnsw = lay_out(memory, recipe, stats);
  const auto rest = all.subspan(stats.memory_rows);
  if (rest.empty()) {
    hnsw->write_back();
  } else {
    insert_rest(*hnsw, {rows, rest, {}}, recipe, stats);
  }
}

}  // namespace

std::unique_ptr<PagedHnsw> build_paged_hnsw(const VectorView& rows, const HnswRecipe& recipe,
                                            HnswBuildStats& stats) {
  check_hnsw_recipe(recipe);
  HnswDestination destination(recipe.store.folder.string(), recipe.replace, recipe.replace_option);
  HnswRecipe here = recipe;
  here.store.folder = destination.folder();
  build_in_folder(rows, here, stats);
  if (asked_to_end(recipe.crew.interrupted)) throw WorkInterrupted();
  destination.publish();
  return PagedHnsw::open(recipe.store);
}

}  // namespace farvec::paged
