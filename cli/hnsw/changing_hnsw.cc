#include "cli/hnsw/changing_hnsw.h"

#include <algorithm>

#include "base/parallel.h"
#include "indexing/order/insertion_order.h"
#include "indexing/source.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "wal/durability_option.h"

namespace farvec::cli {
namespace {

paged::PageStoreOptions store_options(const ChangingHnswOptions& options) {
  paged::PageStoreOptions store;
  store.folder = options.folder;
  store.page_bytes = options.page_bytes;
  store.buffer_bytes = options.buffer_bytes;
  wal::parse_durability(options.access.durability, store.log);
  return store;
}

}  // namespace

ChangingHnsw::ChangingHnsw(const ChangingHnswOptions& options)
    : options_(options),
      hnsw_(paged::PagedHnsw::create(store_options(options), options.config, {})) {}

void ChangingHnsw::insert(const VectorView& rows, std::span<const NodeId> ids) {
  const dataset::VectorSet stored =
      indexing::stored_copy(rows, options_.config.metric, resolve_threads(0));
  const auto order = indexing::order_rows(stored.view(), indexing::parse_order(options_.order));
  std::vector<NodeId> ordered(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ordered[i] = ids[order.rows[i]];
  paged::HnswCrew crew(*hnsw_, crew_options(options_.access));
  crew.insert({stored.view(), order.rows, ordered});
}

void ChangingHnsw::erase(std::span<const NodeId> ids) {
  paged::HnswCrew crew(*hnsw_, crew_options(options_.access));
  crew.erase(ids);
  const layout::HnswState state = hnsw_->describe().state;
  const double all = static_cast<double>(state.vertices) + state.marked;
  if (state.marked > options_.vacuum_share * all) crew.vacuum();
}

void ChangingHnsw::search(const VectorView& queries, dataset::GroundTruth& results,
                          std::vector<float>& latency_us) {
  const dataset::VectorSet stored =
      indexing::stored_copy(queries, options_.config.metric, resolve_threads(0));
  paged::HnswAnswers answers{.k = results.k,
                             .list = std::max(options_.list, results.k),
                             .ids = results.ids,
                             .distances = results.distances,
                             .latency_us = {}};
  paged::HnswCrew(*hnsw_, crew_options(options_.access)).search(stored.view(), answers);
  latency_us.insert(latency_us.end(), answers.latency_us.begin(), answers.latency_us.end());
}

measure::DiskBytes ChangingHnsw::disk_bytes() const {
  const paged::StoreCounts counts = hnsw_->store().counts();
  return {counts.page_reads * options_.page_bytes,
          counts.page_writes * options_.page_bytes + counts.log_bytes};
}

std::uint64_t ChangingHnsw::stored_bytes() const {
  return std::uint64_t{hnsw_->store().pages()} * options_.page_bytes +
         hnsw_->store().log().disk_bytes();
}

nlohmann::ordered_json ChangingHnsw::describe() const {
  nlohmann::ordered_json json = hnsw_json(hnsw_->describe());
  json["list"] = options_.list;
  json["buffer_bytes"] = options_.buffer_bytes;
  json["search"] = options_.access.search;
  json["slots"] = options_.access.slots;
  json["threads"] = options_.access.threads;
  json["durability"] = options_.access.durability;
  json["order"] = options_.order;
  json["vacuum_share"] = options_.vacuum_share;
  return json;
}

}  // namespace farvec::cli
