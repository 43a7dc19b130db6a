#include "collection/segment/segment_on_nodes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <chrono>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/unreachable_error.h"
#include "collection/segment/segment_bytes.h"
#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"
#include "search/index/region_fetch.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/held_file.h"
#include "tiers/attach/held_tuples.h"

namespace farvec::collection {
namespace {

/// Bounds reading all records, at the slowest rate.
constexpr double kPatienceUs = 20e6;
constexpr double kLeastBytesPerUs = 20;

/// The bytes that memory nodes hold of a segment.
class HeldBytes final : public SegmentBytes {
 public:
  /// `attached` may be null.
  HeldBytes(layout::Manifest manifest, std::uint64_t bytes,
            std::shared_ptr<const SegmentNodes> from, std::shared_ptr<tiers::NodeSet> attached)
      : manifest_(std::move(manifest)),
        bytes_(bytes),
        nodes_(std::move(from)),
        attached_(std::move(attached)) {}

  const layout::Manifest& manifest() const override { return manifest_; }
  std::uint64_t count() const override { return bytes_; }
  search::SearchIndex load_index(const layout::LoadOptions& options,
                                 tiers::NodeSet* nodes) const override {
    nodes->wait_ready(nodes_->options().attach.wait);
    const auto endpoint = nodes->make_endpoint();
    return search::fetch_search_index(nodes->manifest(), *endpoint, {.on_bytes = options.on_chunk});
  }
  std::unique_ptr<tiers::IndexRecords> records(const layout::LoadOptions&) const override {
    return nullptr;
  }
  HugeBuffer read_records(const layout::LoadOptions&, tiers::NodeSet* nodes) const override {
    const double patience =
        kPatienceUs + static_cast<double>(manifest_.node_bytes(0)) / kLeastBytesPerUs;
    const auto endpoint = nodes->make_endpoint();
    return search::fetch_region(nodes->manifest(), layout::kRecordsRegion, *endpoint,
                                {.deadline = now_ticks() + us_to_ticks(patience)});
  }
  std::shared_ptr<tiers::NodeSet> nodes() const override { return attached_; }

 private:
  const layout::Manifest manifest_;
  const std::uint64_t bytes_;
  const std::shared_ptr<const SegmentNodes> nodes_;
  const std::shared_ptr<tiers::NodeSet> attached_;
};

/// Throws Error unless the bytes are those of the catalogue.
void require_checksum(const HugeBuffer& bytes, std::uint64_t wanted, const char* what,
                      const std::string& source) {
  const std::uint64_t found = XXH3_64bits(bytes.data(), bytes.size());
  if (found == wanted) return;
  throw Error("the {} of {} are damaged: their checksum is {:016x}, not {:016x}", what, source,
              found, wanted);
}

/// Checks ids, attributes and index of the segment, and opens it.
class Opening {
 public:
  Opening(const WantedSegment& wanted, const SegmentAccess& access, tiers::HeldFiles held,
          std::string source)
      : wanted_(wanted), access_(access), held_(std::move(held)), source_(std::move(source)) {}

  std::shared_ptr<Segment> open() {
    require_index();
    require_checksum(held_.files[0], wanted_.contents.ids_checksum, "ids", source_);
    RowIds ids(layout::decode_segment_ids(held_.files[0].span(), wanted_.entry, source_));
    const std::vector<std::uint64_t> files = file_bytes();
    std::shared_ptr<tiers::NodeSet> nodes;
    if (wanted_.entry.attributed) {
      nodes = access_.nodes->attach(key(), held_.manifest, files);
    }
    SegmentFacts facts{std::move(ids), attributes(nodes)};
    const std::uint64_t bytes =
        std::accumulate(files.begin(), files.end(), held_.manifest.node_bytes(0));
    return std::make_shared<Segment>(
        wanted_.entry.number, std::move(facts),
        std::make_unique<const HeldBytes>(std::move(held_.manifest), bytes, access_.nodes,
                                          std::move(nodes)),
        access_);
  }

 private:
  layout::SegmentKey key() const { return {access_.collection, wanted_.entry.number}; }
  std::vector<std::uint64_t> file_bytes() const {
    std::vector<std::uint64_t> bytes;
    for (const HugeBuffer& file : held_.files) bytes.push_back(file.size());
    return bytes;
  }
  void require_index() const {
    const std::uint64_t index = layout::manifest_checksum(layout::manifest_to_json(held_.manifest));
    if (index == wanted_.contents.index_checksum && held_.manifest.count == wanted_.entry.rows) {
      return;
    }
    throw Error("{} is another index: its manifest's checksum is {:016x}, not {:016x}", source_,
                index, wanted_.contents.index_checksum);
  }
  /// The columns stay in DRAM, and the tuples on the nodes.
  search::RowAttributes attributes(const std::shared_ptr<tiers::NodeSet>& nodes) {
    const layout::SegmentEntry& entry = wanted_.entry;
    if (!entry.attributed) return {entry.rows, wanted_.schema};
    const HugeBuffer bytes = std::move(held_.files[1]);
    require_checksum(bytes, wanted_.contents.attributes.checksum, "attributes", source_);
    const layout::Tuples all = layout::decode_segment_attributes(
        bytes.span(), entry, wanted_.schema, "the attributes of " + source_);
    return {std::make_unique<const tiers::HeldTuples>(place_on(nodes), all.view()), all.view(),
            wanted_.schema};
  }
  tiers::HeldPlace place_on(const std::shared_ptr<tiers::NodeSet>& nodes) const {
    const SegmentNodes& from = *access_.nodes;
    tiers::HeldPlace place{.nodes = nodes,
                           .region = held_.manifest.held_regions() + 1,
                           .copies = {},
                           .patience = from.options().attach.call_timeout,
                           .name = fmt::format("segment {}", wanted_.entry.number)};
    for (const std::size_t node : from.homes(wanted_.entry.number)) {
      place.copies.push_back(from.attach_options(node, key()));
    }
    return place;
  }

  const WantedSegment& wanted_;
  const SegmentAccess& access_;
  tiers::HeldFiles held_;
  const std::string source_;
};

/// Opens the segment by what one node holds.
std::shared_ptr<Segment> fetch_from(std::size_t node, const WantedSegment& wanted,
                                    const SegmentAccess& access, const Segment::OnChunk& on_bytes) {
  const layout::SegmentEntry& entry = wanted.entry;
  const tiers::AttachOptions options =
      access.nodes->attach_options(node, {access.collection, entry.number});
  std::vector<std::uint64_t> files{layout::segment_ids_bytes(entry)};
  if (entry.attributed) files.push_back(wanted.contents.attributes.bytes);
  tiers::HeldFiles held = tiers::fetch_held_files(options, {.bytes = files, .on_bytes = on_bytes});
  return Opening(wanted, access, std::move(held),
                 fmt::format("segment {} on the memory node at {}", entry.number,
                             rpc::to_string(options.memory_node)))
      .open();
}

}  // namespace

std::shared_ptr<Segment> fetch_segment(const WantedSegment& wanted, const SegmentAccess& access,
                                       const Segment::OnChunk& on_bytes) {
  const std::uint64_t number = wanted.entry.number;
  std::string failures;
  for (const std::size_t node : access.nodes->homes(number)) {
    try {
      return fetch_from(node, wanted, access, on_bytes);
    } catch (const Error& error) {
      failures += fmt::format("; {}", error.what());
    }
  }
  throw UnreachableError("no memory node has segment {}{}", number, failures);
}

}  // namespace farvec::collection
