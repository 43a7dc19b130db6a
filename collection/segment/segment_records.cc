#include "collection/segment/segment_records.h"

#include "tiers/tier.h"

namespace farvec::collection {
namespace {

std::shared_ptr<search::ProbeCounts> counts_of(const layout::Manifest& manifest) {
  return manifest.is_cluster() ? std::make_shared<search::ProbeCounts>(manifest) : nullptr;
}

}  // namespace

/// Holds what only searches need. Each member is used by those after it.
struct SegmentRecords::Searchable {
  Searchable(const SegmentRecords& segment, const OnChunk& on_chunk)
      : access(access_of(segment)),
        load{.threads = access.threads, .quiet = true, .on_chunk = on_chunk},
        nodes(nodes_of(segment)),
        index(segment.bytes_.load_index(load, nodes.get())),
        records(segment.bytes_.records(load)),
        tier(tiers::Tier::open(*access.tier, {.memory = records.get(),
                                              .index = &index,
                                              .second_tier = access.second_tier,
                                              .nodes = nodes,
                                              .device = access.device,
                                              .second_device = access.second_device})),
        cores(tier->prepare(index, shape_of(segment))) {
    if (segment.finds_rows_ && index.must_find_rows()) find_rows(segment.bytes_);
  }

  /// Reads the region anew where this process does not have it, and drops it again.
  void find_rows(const SegmentBytes& bytes) {
    if (const std::span<const std::byte> region = tier->loads(); !region.empty()) {
      return index.find_rows(region);
    }
    const layout::LoadOptions options{.threads = access.threads, .quiet = true};
    index.find_rows(bytes.read_records(options, nodes.get()).span());
  }

  static const SegmentAccess& access_of(const SegmentRecords& segment) {
    if (segment.bytes_.manifest().is_slotted()) require_tier_of_pages(segment.access_);
    return segment.access_;
  }

  static std::shared_ptr<tiers::NodeSet> nodes_of(const SegmentRecords& segment) {
    const SegmentAccess& from = segment.access_;
    if (from.nodes == nullptr) return nullptr;
    if (auto attached = segment.bytes_.nodes()) return attached;
    return from.nodes->attach({from.collection, segment.number_}, segment.bytes_.manifest());
  }

  /// Says what is searched, and where its probes are counted.
  static search::SearchShape shape_of(const SegmentRecords& segment) {
    search::SearchShape shape = segment.access_.shape;
    shape.probe_counts = segment.probes_;
    return shape;
  }

  const SegmentAccess& access;
  const layout::LoadOptions load;
  std::shared_ptr<tiers::NodeSet> nodes;  ///< null: the records are in this process
  search::SearchIndex index;
  std::unique_ptr<tiers::IndexRecords> records;  ///< null: no folder has them
  std::unique_ptr<const tiers::Tier> tier;
  std::unique_ptr<const tiers::CoreSet> cores;
};

SegmentRecords::SegmentRecords(std::uint64_t number, const SegmentBytes& bytes,
                               const SegmentAccess& access, bool finds_rows)
    : number_(number),
      bytes_(bytes),
      access_(access),
      finds_rows_(finds_rows),
      probes_(counts_of(bytes.manifest())) {}

SegmentRecords::~SegmentRecords() = default;

const SegmentRecords::Searchable& SegmentRecords::searchable(const OnChunk& on_chunk) const {
  const std::lock_guard lock(loading_);
  if (searchable_ == nullptr) {
    searchable_ = std::make_unique<const Searchable>(*this, on_chunk);
    if (finds_rows_) row_bytes_.store(searchable_->index.row_bytes(), std::memory_order_relaxed);
    loaded_.store(searchable_.get(), std::memory_order_release);
  }
  return *searchable_;
}

void SegmentRecords::load(const OnChunk& on_chunk) const {
  const std::shared_ptr<tiers::NodeSet>& nodes = searchable(on_chunk).nodes;
  if (nodes != nullptr) nodes->wait_ready(access_.nodes->options().attach.wait);
}

std::span<const std::byte> SegmentRecords::in_memory() const {
  const Searchable* const loaded = loaded_.load(std::memory_order_acquire);
  if (loaded == nullptr || loaded->nodes != nullptr) return {};
  return loaded->tier->loads();
}

const search::SearchIndex& SegmentRecords::index() const {
  return searchable({}).index;
}

std::unique_ptr<search::CorePart> SegmentRecords::make_part(
    coroutines::Scheduler& scheduler) const {
  return searchable({}).cores->make_part(scheduler);
}

std::optional<search::ProbeTally> SegmentRecords::probes() const {
  if (probes_ == nullptr) return std::nullopt;
  return probes_->tally();
}

void SegmentRecords::settle_pools() const {
  search::settle_pools(access_.shape);
}

void SegmentRecords::take_probes(const std::vector<std::uint64_t>& counts) const {
  if (probes_ != nullptr && !counts.empty()) probes_->add(counts);
}

}  // namespace farvec::collection
