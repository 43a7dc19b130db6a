#include "cli/runbook/runbook_hnsw.h"

#include <algorithm>

#include "base/parallel.h"
#include "cli/interrupt.h"
#include "indexing/order/insertion_order.h"
#include "indexing/source.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "measure/sweep/pages/page_access.h"
#include "search/core/batch_search.h"
#include "wal/durability_option.h"

namespace farvec::cli {
namespace {

paged::PageStoreOptions store_options(const RunbookOptions& run,
                                      const RunbookHnswOptions& options) {
  paged::PageStoreOptions store;
  store.folder = run.folder;
  store.page_bytes = options.page_bytes;
  store.buffer_bytes = options.buffer_bytes;
  wal::parse_durability(run.access.durability, store.log);
  return store;
}

}  // namespace

RunbookHnsw::RunbookHnsw(const RunbookOptions& run, const RunbookHnswOptions& options)
    : run_(run),
      options_(options),
      hnsw_(paged::PagedHnsw::create(store_options(run, options), options.config, {})),
      changing_(*hnsw_, crew_options(run.access), indexing::parse_order(options.order)),
      cores_(measure::make_cores(*hnsw_, run.access)) {}

void RunbookHnsw::settle() {
  const layout::HnswState state = hnsw_->describe().state;
  const double all = static_cast<double>(state.vertices) + state.marked;
  if (state.marked > options_.vacuum_share * all) (void)changing_.compact(interrupted);
}

void RunbookHnsw::search(const VectorView& queries, dataset::GroundTruth& results,
                         std::vector<float>& latency_us) {
  const dataset::VectorSet stored =
      indexing::stored_copy(queries, options_.config.metric, resolve_threads(0));
  const search::GraphChoice choice{.list = std::max(run_.list, results.k)};
  const search::BatchParameters batch{
      .search = search::searchable(search::SearchParameters::make(results.k, choice)),
      .stop = interrupted};
  const search::BatchOutcome outcome = search::run_batch(cores_, stored.view(), batch, results);
  latency_us.insert(latency_us.end(), outcome.latency_us.begin(), outcome.latency_us.end());
}

measure::DiskBytes RunbookHnsw::disk_bytes() const {
  const paged::StoreCounts counts = hnsw_->store().counts();
  return {counts.page_reads * options_.page_bytes,
          counts.page_writes * options_.page_bytes + counts.log_bytes};
}

std::uint64_t RunbookHnsw::stored_bytes() const {
  return std::uint64_t{hnsw_->store().pages()} * options_.page_bytes +
         hnsw_->store().log().disk_bytes();
}

nlohmann::ordered_json RunbookHnsw::describe() const {
  nlohmann::ordered_json json = hnsw_json(hnsw_->describe());
  json["list"] = run_.list;
  json["buffer_bytes"] = options_.buffer_bytes;
  json["search"] = run_.access.search;
  json["slots"] = run_.access.slots;
  json["threads"] = run_.access.threads;
  json["durability"] = run_.access.durability;
  json["order"] = options_.order;
  json["vacuum_share"] = options_.vacuum_share;
  return json;
}

}  // namespace farvec::cli
