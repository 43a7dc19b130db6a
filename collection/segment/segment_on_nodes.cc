#include "collection/segment/segment_on_nodes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "collection/segment/segment_bytes.h"
#include "layout/collection/segment_ids.h"
#include "search/kinds/index_loader.h"
#include "tiers/attach/held_file.h"

namespace farvec::collection {
namespace {

/// The bytes that memory nodes hold of a segment.
class HeldBytes final : public SegmentBytes {
 public:
  HeldBytes(layout::Manifest manifest, std::uint64_t bytes,
            std::shared_ptr<const SegmentNodes> from)
      : manifest_(std::move(manifest)), bytes_(bytes), nodes_(std::move(from)) {}

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

 private:
  const layout::Manifest manifest_;
  const std::uint64_t bytes_;
  const std::shared_ptr<const SegmentNodes> nodes_;
};

/// Opens the segment by what one node holds.
std::shared_ptr<Segment> fetch_from(std::size_t node, const layout::SegmentEntry& entry,
                                    const layout::CatalogueSegment& contents,
                                    const SegmentAccess& access, const Segment::OnChunk& on_bytes) {
  const tiers::AttachOptions options =
      access.nodes->attach_options(node, {access.collection, entry.number});
  tiers::HeldFile held = tiers::fetch_held_file(
      options, {.bytes = layout::segment_ids_bytes(entry), .on_bytes = on_bytes});
  const std::string source = fmt::format("segment {} on the memory node at {}", entry.number,
                                         rpc::to_string(options.memory_node));
  const std::uint64_t index = layout::manifest_checksum(layout::manifest_to_json(held.manifest));
  if (index != contents.index_checksum || held.manifest.count != entry.rows) {
    throw Error("{} is another index: its manifest's checksum is {:016x}, not {:016x}", source,
                index, contents.index_checksum);
  }
  const std::uint64_t checksum = XXH3_64bits(held.bytes.data(), held.bytes.size());
  if (checksum != contents.ids_checksum) {
    throw Error("the ids of {} are damaged: their checksum is {:016x}, not {:016x}", source,
                checksum, contents.ids_checksum);
  }
  RowIds ids(layout::decode_segment_ids(held.bytes.span(), entry, source));
  const std::uint64_t bytes = held.manifest.node_bytes(0) + held.bytes.size();
  return std::make_shared<Segment>(
      entry.number, SegmentFacts{std::move(ids), {}},
      std::make_unique<const HeldBytes>(std::move(held.manifest), bytes, access.nodes), access);
}

}  // namespace

std::shared_ptr<Segment> fetch_segment(const layout::SegmentEntry& entry,
                                       const layout::CatalogueSegment& contents,
                                       const SegmentAccess& access,
                                       const Segment::OnChunk& on_bytes) {
  std::string failures;
  for (const std::size_t node : access.nodes->homes(entry.number)) {
    try {
      return fetch_from(node, entry, contents, access, on_bytes);
    } catch (const Error& error) {
      failures += fmt::format("; {}", error.what());
    }
  }
  throw UnreachableError("no memory node has segment {}{}", entry.number, failures);
}

}  // namespace farvec::collection
