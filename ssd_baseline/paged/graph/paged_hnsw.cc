#include "ssd_baseline/paged/graph/paged_hnsw.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/stored_form.h"
#include "coroutines/scheduler.h"
#include "ssd_baseline/paged/graph/hnsw_loader.h"
#include "ssd_baseline/paged/store/checkpoint_file.h"

namespace farvec::paged {
namespace {

static_assert(graph::kMaxLevel == layout::kHnswMaxLevel);

constexpr double kOpenLimitUs = 60e6;
/// Less than kCleanFrames: the smallest buffer has room for them beside a change.
constexpr std::size_t kMostSparePages = 8;

layout::HnswShape shape_of(const HnswConfig& config, std::uint32_t page_bytes) {
  return {page_bytes, config.dimension, config.type, config.m, layout::kHnswMaxLevel};
}

void check_fit(const HnswConfig& config, std::uint32_t page_bytes) {
  const layout::HnswShape shape = shape_of(config, page_bytes);
  const auto highest = layout::highest_hnsw_level(shape);
  if (highest.has_value() && *highest >= layout::kHnswLeastMaxLevel) return;
  const std::uint32_t least = layout::least_hnsw_page_bytes(shape);
  if (least == 0) {
    throw Error("{} dimensions of {} with m {} fit on no page: the largest has {} bytes",
                config.dimension, to_string(config.type), config.m, layout::kMaxStorePageBytes);
  }
  throw Error("{} dimensions of {} with m {} do not fit on a page of {} bytes: use {}",
              config.dimension, to_string(config.type), config.m, page_bytes, least);
}

}  // namespace

graph::LevelRule hnsw_level_rule(const HnswConfig& config, std::uint32_t page_bytes) {
  graph::HnswOptions options;
  options.levels = {config.seed, config.m, graph::kMaxLevel};
  options.ef_construction = config.ef_construction;
  graph::check_hnsw_options(options);
  require_metric_fits(config.metric, config.type);
  const std::uint32_t most = max_dimension(config.type);
  if (config.dimension == 0 || config.dimension > most) {
    throw Error("dimension {} is out of range: use 1 to {}", config.dimension, most);
  }
  if (config.type != stored_type(config.metric, config.type)) {
    throw Error("cosine stores unit vectors as f32 or f16, not as {}", to_string(config.type));
  }
  check_fit(config, page_bytes);
  options.levels.max_level = *layout::highest_hnsw_level(shape_of(config, page_bytes));
  return options.levels;
}

PagedHnsw::PagedHnsw(std::unique_ptr<PageStore> store, const layout::HnswMeta& meta)
    : store_(std::move(store)),
      config_{meta.parameters.dimension,
              meta.type(),
              meta.metric(),
              meta.parameters.m,
              meta.parameters.ef_construction,
              meta.parameters.seed,
              meta.parameters.most_insert_pages},
      shape_(meta.shape()),
      partition_map_(meta.partition_map()),
      format_version_(meta.parameters.version),
      pair_(distance::pair_kernel(config_.metric, config_.type, config_.dimension)),
      pin_budget_(store_->frames()) {}

std::unique_ptr<PagedHnsw> PagedHnsw::create(const PageStoreOptions& options,
                                             const HnswConfig& config,
                                             const HnswContents& contents) {
  layout::HnswShape shape = shape_of(config, options.page_bytes);
  shape.max_level =
      hnsw_level_rule(config, options.page_bytes).max_level;  // checked before everything is made
  PageStoreOptions enough = options;
  enough.change_pages = most_change_pages(shape);
  auto store = PageStore::create(enough);
  HnswLoader(*store, config, contents).run();
  return adopt(std::move(store), options.folder);
}

std::unique_ptr<PagedHnsw> PagedHnsw::open(const PageStoreOptions& options) {
  PageStoreOptions enough = options;
  if (PageStore::is_store(options.folder)) {
    enough.change_pages =
        stored_change_pages(options.folder, load_checkpoint(options.folder).page_bytes);
  }
  return adopt(PageStore::open(enough), options.folder);
}

std::unique_ptr<PagedHnsw> PagedHnsw::adopt(std::unique_ptr<PageStore> store,
                                            const std::filesystem::path& folder) {
  if (store->pages() == 0) {
    throw Error("{}: the graph was never written to its end: delete the folder and build it again",
                folder.string());
  }
  layout::HnswMeta meta;
  run_on_pages(*store, [&](PageFetcher& fetcher) {
    FetchCounts counts;
    const auto read = read_meta(fetcher, now_ticks() + us_to_ticks(kOpenLimitUs), counts);
    if (!read.ok()) throw Error("{}: {}", folder.string(), read.status().message());
    meta = read.value();
  });
  return std::unique_ptr<PagedHnsw>(new PagedHnsw(std::move(store), meta));
}

double PagedHnsw::write_back() {
  const auto start = std::chrono::steady_clock::now();
  if (const Status status = store_->checkpoint(); !status.ok()) {
    throw Error("changed pages cannot be written: {}; what was acknowledged is in the log",
                status.message());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

PagePin PagedHnsw::take_spare_page() {
  const std::lock_guard lock(spare_mutex_);
  if (spare_pages_.empty()) return {};
  PagePin page = std::move(spare_pages_.back());
  spare_pages_.pop_back();
  return page;
}

bool PagedHnsw::keep_spare_page(PagePin& page, bool in_any_case) {
  const std::lock_guard lock(spare_mutex_);
  if (spare_pages_.size() >= kMostSparePages && !in_any_case) return false;
  spare_pages_.push_back(std::move(page));
  return true;
}

Result<layout::HnswMeta> read_meta(PageFetcher& fetcher, Ticks deadline, FetchCounts& counts) {
  const auto pin = fetcher.fetch(0, deadline, counts);
  if (!pin.ok()) return pin.status();
  return pin.value().read(
      [](std::span<const std::byte> bytes) { return layout::read_hnsw_meta(bytes); });
}

Result<layout::HnswState> PagedHnsw::state(PageFetcher& fetcher, Ticks deadline,
                                           FetchCounts& counts) const {
  const auto meta = read_meta(fetcher, deadline, counts);
  if (!meta.ok()) return meta.status();
  return meta.value().state;
}

HnswDescription PagedHnsw::describe() {
  HnswDescription description{config_, shape_.page_bytes, shape_.max_level, format_version_,
                              {},      store_->pages()};
  run_on_pages(*store_, [&](PageFetcher& fetcher) {
    FetchCounts counts;
    const auto now = state(fetcher, now_ticks() + us_to_ticks(kOpenLimitUs), counts);
    if (!now.ok()) throw Error("the meta page: {}", now.status().message());
    description.state = now.value();
  });
  return description;
}

void run_on_pages(PageStore& store, const std::function<void(PageFetcher&)>& work) {
  coroutines::SchedulerOptions options;
  options.max_fibers = 1;
  coroutines::Scheduler scheduler(options);
  PageFetcher fetcher(store, scheduler);
  scheduler.set_poller([&] { return fetcher.poll(); });
  std::exception_ptr thrown;
  const Status status = scheduler.spawn([&] {
    try {
      work(fetcher);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  FARVEC_CHECK(status.ok(), "{}", status.message());
  scheduler.run();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace farvec::paged
