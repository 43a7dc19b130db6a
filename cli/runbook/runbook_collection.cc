#include "cli/runbook/runbook_collection.h"

#include <algorithm>
#include <filesystem>

#include "cli/collection/collection_options.h"
#include "cli/interrupt.h"
#include "cli/search/filter_option.h"
#include "collection/search/collection_part.h"
#include "indexing/source.h"
#include "search/core/batch_search.h"

namespace farvec::cli {
namespace {

collection::CollectionAccess access_of(const RunbookOptions& run,
                                       const RunbookCollectionOptions& options) {
  collection::CollectionAccess access = measure::write_access(
      {.durability = run.access.durability, .build_threads = run.access.threads});
  access.segments = collection::SegmentAccess::on(options.tier);
  access.segments.threads = run.access.threads;
  access.segments.shape.cores = run.access.threads;
  access.segments.shape.slots = run.access.slots;
  access.segments.shape.k = run.k;
  access.segments.shape.list = std::max(run.list, run.k);
  access.segments.shape.probe = options.probe;
  if (options.shape.options.in_pages()) {
    search::set_shared_pools(access.segments.shape, {.memory_budget = options.memory_budget});
  }
  if (!options.second_tier.empty()) {
    collection::set_second_tier(access.segments, options.second_tier);
  }
  access.link = true;
  return access;
}

}  // namespace

RunbookCollection::RunbookCollection(const RunbookOptions& run,
                                     const RunbookCollectionOptions& options, Folder folder)
    : run_(run),
      options_(options),
      folder_(folder),
      condition_(parse_filter(run.filter, options.shape.schema)) {
  collection::Collection::create(run.folder, options.shape, layout::as_tool_option);
  collection_ = std::make_unique<collection::Collection>(run.folder, access_of(run, options));
  for (std::uint32_t c = 0; c < run.access.threads; ++c) {
    cores_.push_back(
        collection::make_collection_core([this] { return collection_->view(); }, run.access.slots));
  }
}

RunbookCollection::~RunbookCollection() {
  cores_.clear();
  collection_.reset();
  std::error_code ignored;
  if (folder_ == Folder::goes) std::filesystem::remove_all(run_.folder, ignored);
}

std::unique_ptr<measure::RunbookIndex> RunbookCollection::rebuilt(
    const changes::RowBatch& batch) const {
  RunbookOptions run = run_;
  run.folder += ".rebuilt";
  auto other = std::make_unique<RunbookCollection>(run, options_, Folder::goes);
  (void)other->collection_->import(batch);
  return other;
}

search::SearchChoice RunbookCollection::choice() const {
  if (options_.shape.options.kind == layout::IndexKind::cluster) {
    return search::ProbeChoice{.clusters = options_.probe,
                               .list = options_.has_second() ? run_.list : 0};
  }
  return search::GraphChoice{.list = run_.list};
}

void RunbookCollection::search(const VectorView& queries, dataset::GroundTruth& results,
                               std::vector<float>& latency_us) {
  const dataset::VectorSet stored =
      indexing::stored_copy(queries, options_.shape.metric, run_.access.threads);
  const search::BatchParameters batch{
      .search = search::searchable(search::SearchParameters::make(results.k, choice())),
      .condition = condition_.get(),
      .refine = options_.refine,
      .stop = interrupted};
  const search::BatchOutcome outcome = search::run_batch(cores_, stored.view(), batch, results);
  latency_us.insert(latency_us.end(), outcome.latency_us.begin(), outcome.latency_us.end());
}

measure::DiskBytes RunbookCollection::disk_bytes() const {
  return {.read = 0, .written = collection_->state().written_bytes};
}

std::uint64_t RunbookCollection::stored_bytes() const {
  return size_of(*collection_->view()).segment_bytes + collection_->state().log_bytes;
}

nlohmann::ordered_json RunbookCollection::describe() const {
  nlohmann::ordered_json json = collection::shape_json(collection_->shape());
  json["segments"] = json["kind"];
  json["kind"] = "collection";
  json["now"] = collection_->now();
  const bool graph = options_.shape.options.kind == layout::IndexKind::graph;
  json["tier"] = options_.tier;
  json["search_" + std::string(graph ? "list" : "probe")] = search::size_of(choice());
  if (options_.has_second()) {
    json["second_tier"] = options_.second_tier.empty() ? options_.tier : options_.second_tier;
    json["refine"] = options_.refine;
  }
  json["slots"] = run_.access.slots;
  json["threads"] = run_.access.threads;
  json["durability"] = run_.access.durability;
  if (!run_.filter.empty()) json["filter"] = run_.filter;
  return json;
}

}  // namespace farvec::cli
