// A PagedHnsw is an HNSW graph on pages that change: it is made from a graph in memory, opened, and
// described.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/types.h"
#include "distance/distance.h"
#include "graph/hnsw/hnsw_builder.h"
#include "graph/hnsw/hnsw_graph.h"
#include "layout/hnsw/hnsw_meta.h"
#include "ssd_baseline/paged/graph/change_pages.h"
#include "ssd_baseline/paged/store/page_fetcher.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

/// An HnswConfig says what a new graph is. All vectors that go in are in `type`, the stored type of
/// the metric (stored_type(); cosine: normalised by distance::to_stored()).
struct HnswConfig {
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;
  Metric metric = Metric::l2;
  std::uint32_t m = 24;
  std::uint32_t ef_construction = 200;
  std::uint64_t seed = 1;  ///< for the levels
  /// The most partitions that get an insert page because of what is inserted, for a million pages
  /// of vertices. With 0 only those that have one from the beginning have one.
  std::uint32_t most_insert_pages = 100'000;
};

/// Returns the rule by which a graph of this configuration gives levels, on pages of this size; a
/// build in memory must use it. Throws Error when m or ef_construction is out of range, or when a
/// vertex does not fit on a page; then it names the page size on which it fits.
graph::LevelRule hnsw_level_rule(const HnswConfig& config, std::uint32_t page_bytes);

/// An HnswPageOrder is the order of rows on pages.
struct HnswPageOrder {
  std::span<const NodeId> rows;  ///< every row once; empty: 0, 1, 2, ...
  /// Ascending places in `rows` at which a page begins, 0 first; a page also begins wherever the
  /// next vertex does not fit. Empty: pages are filled one after the other.
  std::span<const std::uint32_t> page_begins;
  /// For each of page_begins, the number of its partition; the pages' tags are that plus one.
  /// Empty: no partitions.
  std::span<const std::uint32_t> partitions;
};

/// HnswContents are what is laid out. All of it must outlive create().
struct HnswContents {
  VectorView data;              ///< rows of the stored type
  std::span<const NodeId> ids;  ///< one for each row, all different; empty: 0, 1, 2, ...
  const graph::HnswGraph* graph = nullptr;  ///< over the rows, made by hnsw_level_rule() and `ids`
  HnswPageOrder order;
};

struct HnswDescription {
  HnswConfig config;
  std::uint32_t page_bytes = 0;
  std::uint32_t max_level = 0;
  std::uint32_t format_version = layout::kHnswVersion;
  layout::HnswState state;  ///< counts of vertices, marked ones, pages by kind, the entry
  PageNumber pages = 0;     ///< pages of the store
  std::uint64_t bytes() const { return std::uint64_t{pages} * page_bytes; }
};

/// Threads share it, and it is immutable except for the store's pages: searchers, writers and
/// vacuums of many fibers work on it at once. It must outlive them.
class PagedHnsw {
 public:
  /// Makes the store and lays the graph out: a page at a time, each written once and logged as one
  /// record. Without contents (no graph) the graph is empty. When it ends early, open() does not
  /// take the folder for a graph. Throws Error.
  static std::unique_ptr<PagedHnsw> create(const PageStoreOptions& options,
                                           const HnswConfig& config, const HnswContents& contents);

  /// Recovers the store and checks the meta page. Throws Error with what is wrong and what to do.
  static std::unique_ptr<PagedHnsw> open(const PageStoreOptions& options);
  /// Does the same for a store that is open already; messages begin with the folder.
  static std::unique_ptr<PagedHnsw> adopt(std::unique_ptr<PageStore> store,
                                          const std::filesystem::path& folder);

  PageStore& store() { return *store_; }
  const layout::HnswShape& shape() const { return shape_; }
  const HnswConfig& config() const { return config_; }
  graph::LevelRule levels() const { return {config_.seed, config_.m, shape_.max_level}; }
  /// Returns the shape of the map of partitions, if the graph has one.
  layout::PartitionMapShape partition_map() const { return partition_map_; }
  /// Returns the number of pages that one change holds at most.
  std::size_t change_pages() const { return most_change_pages(shape_); }
  /// Returns the buffer's budget, shared by all changes of pages.
  PinBudget& pin_budget() { return pin_budget_; }
  /// Returns the distance between two stored vectors.
  float distance(const void* a, const void* b) const { return pair_(a, b, shape_.dimension); }

  /// Reads the meta page. It blocks the thread, and must not be called inside a fiber. Throws
  /// Error.
  HnswDescription describe();

  /// Writes every changed page to the disk, which closing does too, and returns the seconds that it
  /// took. It blocks the thread, and must not be called inside a fiber. Throws Error when the disk
  /// does not take the pages; what was acknowledged is in the log all the same.
  double write_back();

  /// One vacuum works on a graph at a time. False when another one does.
  bool begin_vacuum() {
    return !vacuumed_.exchange(true, std::memory_order_acquire);  // pairs with end_vacuum()
  }
  void end_vacuum() { vacuumed_.store(false, std::memory_order_release); }

  /// Takes a page that was added to the store and is in no graph yet; an empty pin when there is
  /// none.
  PagePin take_spare_page();
  /// Keeps such a page for the next insert that needs one. Each of them takes a page of the buffer,
  /// so that only a few are kept: false when there are enough, and the caller still has the page.
  bool keep_spare_page(PagePin& page, bool in_any_case = false);

  /// One insert at a time makes pages of the id map; others that need the same page wait for it,
  /// and hold no pages meanwhile. False when another one does.
  bool begin_id_pages() {
    return !maps_ids_.exchange(true, std::memory_order_acquire);  // pairs with end_id_pages()
  }
  void end_id_pages() { maps_ids_.store(false, std::memory_order_release); }

  /// To be called inside a fiber: returns the meta page's state after some update.
  Result<layout::HnswState> state(PageFetcher& fetcher, Ticks deadline, FetchCounts& counts) const;

 private:
  PagedHnsw(std::unique_ptr<PageStore> store, const layout::HnswMeta& meta);

  std::unique_ptr<PageStore> store_;
  HnswConfig config_;
  layout::HnswShape shape_;
  layout::PartitionMapShape partition_map_;
  std::uint32_t format_version_;
  distance::PairKernel pair_;
  PinBudget pin_budget_;
  std::atomic<bool> vacuumed_ = false;  ///< a vacuum is between its first step and its last
  std::mutex spare_mutex_;
  std::vector<PagePin> spare_pages_;    ///< guarded by spare_mutex_
  std::atomic<bool> maps_ids_ = false;  ///< an insert makes pages of the id map
};

/// To be called inside a fiber: returns the meta page, checked.
Result<layout::HnswMeta> read_meta(PageFetcher& fetcher, Ticks deadline, FetchCounts& counts);

/// Runs `work` as a fiber with a fetcher of its own on this thread until it returns: for tools,
/// opening and checks. It must not be called inside a fiber. An exception from `work` is thrown
/// here.
void run_on_pages(PageStore& store, const std::function<void(PageFetcher&)>& work);

}  // namespace farvec::paged
