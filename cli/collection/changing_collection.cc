#include "cli/collection/changing_collection.h"

#include <algorithm>
#include <filesystem>

#include "changes/batches.h"
#include "cli/collection/collection_options.h"
#include "cli/interrupt.h"
#include "collection/search/collection_part.h"
#include "indexing/source.h"
#include "search/core/batch_search.h"

namespace farvec::cli {
namespace {

/// A batch of a step waits up to an hour for segments to be built.
const changes::Batches kStep{.patience = {.interrupted = interrupted}, .batch_us = 3600e6};

collection::CollectionAccess access_of(const ChangingCollectionOptions& options) {
  collection::CollectionAccess access =
      measure::write_access({.durability = options.durability, .build_threads = options.threads});
  access.segments = collection::SegmentAccess::on(options.tier);
  access.segments.threads = options.threads;
  access.segments.shape.cores = options.threads;
  access.segments.shape.slots = options.slots;
  access.segments.shape.k = options.k;
  access.segments.shape.list = std::max(options.list, options.k);
  access.segments.shape.probe = options.probe;
  access.link = true;
  return access;
}

}  // namespace

ChangingCollection::ChangingCollection(const ChangingCollectionOptions& options)
    : options_(options) {
  collection::Collection::create(options.folder, options.shape, layout::as_tool_option);
  collection_ = std::make_unique<collection::Collection>(options.folder, access_of(options));
  for (std::uint32_t c = 0; c < options.threads; ++c) {
    cores_.push_back(
        collection::make_collection_core([this] { return collection_->view(); }, options.slots));
  }
}

ChangingCollection::~ChangingCollection() {
  cores_.clear();
  collection_.reset();
  std::error_code ignored;
  if (!options_.keep) std::filesystem::remove_all(options_.folder, ignored);
}

std::unique_ptr<measure::ChangingIndex> ChangingCollection::rebuilt(
    const VectorView& rows, std::span<const NodeId> ids) const {
  ChangingCollectionOptions options = options_;
  options.folder += ".rebuilt";
  options.keep = false;
  auto other = std::make_unique<ChangingCollection>(options);
  (void)other->collection_->import(rows, std::vector<std::uint64_t>(ids.begin(), ids.end()));
  return other;
}

void ChangingCollection::insert(const VectorView& rows, std::span<const NodeId> ids) {
  const std::vector<std::uint64_t> wide(ids.begin(), ids.end());
  collection_->check(rows, wide);
  changes::Receipt receipt;
  changes::insert_all(*collection_, rows, wide, kStep, receipt);
}

void ChangingCollection::erase(std::span<const NodeId> ids) {
  const std::vector<std::uint64_t> wide(ids.begin(), ids.end());
  changes::Receipt receipt;
  changes::erase_all(*collection_, wide, kStep, receipt);
}

search::SearchChoice ChangingCollection::choice() const {
  if (options_.shape.options.kind == layout::IndexKind::cluster) {
    return search::ProbeChoice{.clusters = options_.probe};
  }
  return search::GraphChoice{.list = options_.list};
}

void ChangingCollection::search(const VectorView& queries, dataset::GroundTruth& results,
                                std::vector<float>& latency_us) {
  const dataset::VectorSet stored =
      indexing::stored_copy(queries, options_.shape.metric, options_.threads);
  const search::BatchParameters batch{
      .search = search::searchable(search::SearchParameters::make(results.k, choice())),
      .stop = interrupted};
  const search::BatchOutcome outcome = search::run_batch(cores_, stored.view(), batch, results);
  latency_us.insert(latency_us.end(), outcome.latency_us.begin(), outcome.latency_us.end());
}

measure::DiskBytes ChangingCollection::disk_bytes() const {
  return {.read = 0, .written = collection_->state().written_bytes};
}

std::uint64_t ChangingCollection::stored_bytes() const {
  return size_of(*collection_->view()).segment_bytes + collection_->state().log_bytes;
}

nlohmann::ordered_json ChangingCollection::describe() const {
  nlohmann::ordered_json json = collection::shape_json(collection_->shape());
  json["segments"] = json["kind"];
  json["kind"] = "collection";
  json["now"] = collection_->now();
  const bool graph = options_.shape.options.kind == layout::IndexKind::graph;
  json["tier"] = options_.tier;
  json["search_" + std::string(graph ? "list" : "probe")] = search::size_of(choice());
  json["slots"] = options_.slots;
  json["threads"] = options_.threads;
  json["durability"] = options_.durability;
  return json;
}

}  // namespace farvec::cli
