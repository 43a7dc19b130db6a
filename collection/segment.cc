#include "collection/segment.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "layout/collection/segment_ids.h"
#include "search/index_loader.h"
#include "tiers/record_memory.h"

namespace farvec::collection {

SegmentAccess SegmentAccess::on(std::string_view tier) {
  SegmentAccess access;
  access.tier = tiers::parse_tier(tier);
  access.device = access.tier->make_device();
  return access;
}

namespace {

std::uint64_t bytes_of_files(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (const std::filesystem::directory_iterator end; !error && file != end;) {
    if (file->is_regular_file(error) && !error) bytes += file->file_size(error);
    if (!error) file.increment(error);
  }
  if (error) throw Error("looking into '{}': {}", folder.string(), error.message());
  return bytes;
}

}  // namespace

/// What only searches need. Each member is used by those behind it.
struct Segment::Searchable {
  Searchable(const layout::IndexDirectory& directory, const SegmentAccess& access,
             std::uint64_t number, const layout::LoadOptions& load)
      : index(search::load_search_index(directory, load)),
        records(directory, load),
        nodes(access.nodes == nullptr
                  ? nullptr
                  : access.nodes->attach({access.collection, number}, directory.manifest())),
        tier(tiers::Tier::open(
            *access.tier,
            {.memory = &records, .index = &index, .nodes = nodes, .device = access.device})),
        cores(tier->prepare(index, access.shape)) {}

  search::SearchIndex index;
  tiers::IndexRecords records;
  std::shared_ptr<tiers::NodeSet> nodes;  ///< null: the records are in this process
  std::unique_ptr<const tiers::Tier> tier;
  std::unique_ptr<const tiers::CoreSet> cores;
};

Segment::Segment(const std::filesystem::path& folder, const layout::SegmentEntry& entry,
                 SegmentAccess access)
    : number_(entry.number),
      access_(std::move(access)),
      directory_(layout::IndexDirectory::open(folder)),
      ids_(layout::read_segment_ids(folder / layout::kSegmentIdsFile, entry)),
      by_id_(ids_.size()),
      file_bytes_(bytes_of_files(folder)),
      stored_rows_(directory_) {
  if (directory_.manifest().count != entry.rows) {
    throw Error("'{}' has {} vectors where the collection has {}: it is another index",
                folder.string(), directory_.manifest().count, entry.rows);
  }
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  std::sort(by_id_.begin(), by_id_.end(), [this](NodeId a, NodeId b) { return ids_[a] < ids_[b]; });
  if (access_.publisher != nullptr) {
    access_.publisher->want(number_, directory_.path(), directory_.manifest());
  }
}

Segment::~Segment() {
  if (!dropped_.load(std::memory_order_relaxed)) return;
  searchable_.reset();
  if (access_.publisher != nullptr) access_.publisher->forget(number_);
  std::error_code error;
  std::filesystem::remove_all(directory_.path(), error);
  // The next open() of the collection removes what no manifest names.
  if (error) spdlog::warn("cannot remove '{}': {}", directory_.path().string(), error.message());
}

std::optional<NodeId> Segment::find(std::uint64_t id) const {
  const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                   [this](NodeId row, std::uint64_t x) { return ids_[row] < x; });
  if (at == by_id_.end() || ids_[*at] != id) return std::nullopt;
  return *at;
}

const Segment::Searchable& Segment::searchable(const OnChunk& on_chunk) const {
  const std::lock_guard lock(loading_);
  if (searchable_ == nullptr) {
    searchable_ = std::make_unique<const Searchable>(
        directory_, access_, number_,
        layout::LoadOptions{.threads = access_.threads, .quiet = true, .on_chunk = on_chunk});
  }
  return *searchable_;
}

void Segment::publish() const {
  if (access_.publisher != nullptr) access_.publisher->publish(number_);
}

void Segment::load(const OnChunk& on_chunk) const {
  const std::shared_ptr<tiers::NodeSet>& nodes = searchable(on_chunk).nodes;
  if (nodes != nullptr) nodes->wait_ready(access_.nodes->options().attach.wait);
}

const search::SearchIndex& Segment::index() const {
  return searchable({}).index;
}

std::unique_ptr<search::CorePart> Segment::make_part(coroutines::Scheduler& scheduler) const {
  return searchable({}).cores->make_part(scheduler);
}

std::size_t Segment::dram_bytes() const {
  return ids_.capacity() * sizeof(ids_[0]) + by_id_.capacity() * sizeof(by_id_[0]);
}

}  // namespace farvec::collection
