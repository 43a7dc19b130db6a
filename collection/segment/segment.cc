#include "collection/segment/segment.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/unreachable_error.h"
#include "layout/collection/segment_ids.h"
#include "layout/index/index_removal.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/held_file.h"
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

/// Holds what only searches need. Each member is used by those after it.
struct Segment::Searchable {
  Searchable(const Segment& segment, const OnChunk& on_chunk)
      : access(segment.access_),
        load{.threads = access.threads, .quiet = true, .on_chunk = on_chunk},
        nodes(access.nodes == nullptr
                  ? nullptr
                  : access.nodes->attach({access.collection, segment.number_}, segment.manifest())),
        index(segment.directory_ ? search::load_search_index(*segment.directory_, load)
                                 : fetch_index(on_chunk)),
        records(segment.directory_
                    ? std::make_unique<tiers::IndexRecords>(*segment.directory_, load)
                    : nullptr),
        tier(tiers::Tier::open(
            *access.tier,
            {.memory = records.get(), .index = &index, .nodes = nodes, .device = access.device})),
        cores(tier->prepare(index, segment.counting_shape())) {}

  search::SearchIndex fetch_index(const OnChunk& on_bytes) const {
    nodes->wait_ready(access.nodes->options().attach.wait);
    const auto endpoint = nodes->make_endpoint();
    return search::fetch_search_index(nodes->manifest(), *endpoint, {.on_bytes = on_bytes});
  }

  const SegmentAccess& access;
  const layout::LoadOptions load;
  std::shared_ptr<tiers::NodeSet> nodes;  ///< null: the records are in this process
  search::SearchIndex index;
  std::unique_ptr<tiers::IndexRecords> records;  ///< null: no folder has them
  std::unique_ptr<const tiers::Tier> tier;
  std::unique_ptr<const tiers::CoreSet> cores;
};

Segment::Segment(const std::filesystem::path& folder, const layout::SegmentEntry& entry,
                 SegmentAccess access)
    : number_(entry.number),
      access_(std::move(access)),
      directory_(layout::IndexDirectory::open(folder)),
      ids_(layout::read_segment_ids(folder / layout::kSegmentIdsFile, entry)),
      file_bytes_(bytes_of_files(folder)) {
  stored_rows_.emplace(*directory_);
  if (manifest().count != entry.rows) {
    throw Error("'{}' has {} vectors where the collection has {}: it is another index",
                folder.string(), manifest().count, entry.rows);
  }
  finish_opening();
  if (access_.publisher == nullptr) return;
  const std::string json = layout::manifest_to_json(manifest());
  files_ = {
      .index = folder,
      .index_bytes = manifest().node_bytes(0),
      .ids = folder / layout::kSegmentIdsFile,
      .ids_bytes = layout::segment_ids_bytes(entry),
      .contents = {layout::manifest_checksum(json), layout::segment_ids_checksum(entry, ids_)}};
  access_.publisher->want(number_, files_);
}

Segment::Segment(const layout::SegmentEntry& entry, const layout::CatalogueSegment& contents,
                 SegmentAccess access, const OnChunk& on_bytes)
    : number_(entry.number), access_(std::move(access)) {
  std::string failures;
  for (const std::size_t node : access_.nodes->homes(number_)) {
    try {
      ids_ = fetch(node, entry, contents, on_bytes);
      finish_opening();
      return;
    } catch (const Error& error) {
      failures += fmt::format("; {}", error.what());
    }
  }
  throw UnreachableError("no memory node has segment {}{}", number_, failures);
}

/// Fetches the ids, and also the manifest.
std::vector<std::uint64_t> Segment::fetch(std::size_t node, const layout::SegmentEntry& entry,
                                          const layout::CatalogueSegment& contents,
                                          const OnChunk& on_bytes) {
  const tiers::AttachOptions options =
      access_.nodes->attach_options(node, {access_.collection, number_});
  tiers::HeldFile held = tiers::fetch_held_file(
      options, {.bytes = layout::segment_ids_bytes(entry), .on_bytes = on_bytes});
  const std::string source = fmt::format("segment {} on the memory node at {}", number_,
                                         rpc::to_string(options.memory_node));
  const std::uint64_t index = layout::manifest_checksum(layout::manifest_to_json(held.manifest));
  if (index != contents.index_checksum || held.manifest.count != entry.rows) {
    throw Error("{} is another index: its manifest's checksum is {:016x}, not {:016x}", source,
                index, contents.index_checksum);
  }
  const std::uint64_t ids = XXH3_64bits(held.bytes.data(), held.bytes.size());
  if (ids != contents.ids_checksum) {
    throw Error("the ids of {} are damaged: their checksum is {:016x}, not {:016x}", source, ids,
                contents.ids_checksum);
  }
  held_ = std::move(held.manifest);
  file_bytes_ = held_.node_bytes(0) + held.bytes.size();
  return layout::decode_segment_ids(held.bytes.span(), entry, source);
}

/// Both ways of opening end with this.
void Segment::finish_opening() {
  by_id_.resize(ids_.size());
  std::iota(by_id_.begin(), by_id_.end(), NodeId{0});
  std::sort(by_id_.begin(), by_id_.end(), [this](NodeId a, NodeId b) { return ids_[a] < ids_[b]; });
  if (manifest().is_cluster()) probes_ = std::make_shared<search::ProbeCounts>(manifest());
}

search::SearchShape Segment::counting_shape() const {
  search::SearchShape shape = access_.shape;
  shape.probe_counts = probes_;
  return shape;
}

std::optional<search::ProbeTally> Segment::probes() const {
  if (probes_ == nullptr) return std::nullopt;
  return probes_->tally();
}

void Segment::take_probes(const std::vector<std::uint64_t>& counts) const {
  if (probes_ != nullptr && !counts.empty()) probes_->add(counts);
}

const layout::IndexDirectory& Segment::directory() const {
  FARVEC_CHECK(directory_.has_value(), "segment {} was opened on memory nodes", number_);
  return *directory_;
}

const SegmentRows& Segment::stored_rows() const {
  FARVEC_CHECK(stored_rows_.has_value(), "segment {} was opened on memory nodes", number_);
  return *stored_rows_;
}

Segment::~Segment() {
  if (!dropped_.load(std::memory_order_relaxed)) return;
  searchable_.reset();
  if (access_.publisher != nullptr) access_.publisher->forget(number_);
  // The next open() of the collection removes what no manifest names.
  layout::remove_index_with_warning(directory().path());
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
    searchable_ = std::make_unique<const Searchable>(*this, on_chunk);
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
