#include "layout/index/manifest.h"

#include <xxhash.h>

#include <memory>

#include "base/check.h"
#include "base/error.h"
#include "layout/index/second_copy.h"

namespace farvec::layout {
namespace {

/// For a Manifest or a const one.
template <typename Description, typename Whole>
auto& description_of(Whole& manifest) {
  auto* const own = std::get_if<Description>(&manifest.description);
  FARVEC_CHECK(own != nullptr, "this index is a {}, not a {}", to_string(manifest.kind()),
               to_string(Description::kKind));
  return *own;
}

/// For a GraphDescription or a const one.
template <typename Graph>
auto& slotted_of(Graph& graph) {
  FARVEC_CHECK(graph.slotted.has_value(), "this graph is {}, not slotted", graph.layout_name());
  return *graph.slotted;
}

}  // namespace

std::uint64_t fingerprint(const VectorView& source) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  FARVEC_CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  const std::uint64_t count = source.count;
  const std::uint32_t shape[2] = {source.dimension, static_cast<std::uint32_t>(source.type)};
  XXH3_64bits_update(state.get(), &count, sizeof(count));
  XXH3_64bits_update(state.get(), shape, sizeof(shape));
  for (std::size_t row = 0; row < source.count; ++row) {
    XXH3_64bits_update(state.get(), source.row(row), source.row_bytes());
  }
  return XXH3_64bits_digest(state.get());
}

std::uint64_t manifest_checksum(std::string_view json) {
  return XXH3_64bits(json.data(), json.size());
}

std::uint64_t RegionEntry::payload_checksum() const {
  return XXH3_64bits(checksums.data(), checksums.size() * sizeof(std::uint64_t));
}

RegionHeader RegionEntry::header() const {
  RegionHeader header;
  header.kind = kind;
  header.region = region_id(kind);
  header.payload_bytes = payload_bytes;
  header.chunk_bytes = chunk_bytes;
  header.payload_checksum = payload_checksum();
  return header;
}

IndexKind Manifest::kind() const {
  return kind_of(description);
}

std::string_view Manifest::layout_name() const {
  return std::visit([](const auto& own) { return own.layout_name(); }, description);
}

bool Manifest::has_record_checksums() const {
  return std::visit([](const auto& own) { return own.has_record_checksums(); }, description);
}

const GraphDescription& Manifest::graph() const {
  return description_of<GraphDescription>(*this);
}

GraphDescription& Manifest::graph() {
  return description_of<GraphDescription>(*this);
}

const ClusterDescription& Manifest::cluster() const {
  return description_of<ClusterDescription>(*this);
}

ClusterDescription& Manifest::cluster() {
  return description_of<ClusterDescription>(*this);
}

const SlottedDescription& Manifest::slotted() const {
  return slotted_of(graph());
}

SlottedDescription& Manifest::slotted() {
  return slotted_of(graph());
}

GraphGeometry Manifest::graph_geometry() const {
  const GraphDescription& own = graph();
  return {.kind = own.layout,
          .record_checksum = own.record_checksum,
          .vector_bytes = vector_bytes(),
          .max_degree = own.max_degree,
          .block_bytes = own.block_bytes,
          .code_bytes = own.neighbor_code_bytes,
          .count = count};
}

CodesShape Manifest::codes_shape() const {
  return {.dimension = dimension,
          .count = count,
          .metric = metric,
          .type = stored_type,
          .bits = graph().build.code_bits,
          .extension_bits = graph().extension_bits(),
          .starts_alone = graph().layout == LayoutKind::inlined};
}

CentroidsShape Manifest::centroids_shape() const {
  return {.dimension = dimension,
          .metric = metric,
          .type = stored_type,
          .geometry = cluster().geometry};
}

SlottedGeometry Manifest::slotted_geometry() const {
  const SlottedDescription& pages = slotted();
  return {.payload = pages.payload,
          .extension_bits = pages.extension_bits,
          .payload_bytes = pages.payload_bytes,
          .page_bytes = graph().block_bytes,
          .max_degree = graph().max_degree,
          .pages = pages.pages,
          .count = count};
}

std::array<std::uint64_t, kRegionCount> Manifest::region_bytes() const {
  std::array<std::uint64_t, kRegionCount> bytes{};
  for (std::uint32_t id = 0; id < kRegionCount; ++id) bytes[id] = region(id).file_bytes();
  return bytes;
}

std::uint64_t Manifest::second_copy_bytes() const {
  return second_copy ? second_copy_geometry(*this).file_bytes() : 0;
}

std::vector<std::uint64_t> Manifest::held_bytes() const {
  const auto own = region_bytes();
  std::vector<std::uint64_t> bytes(own.begin(), own.end());
  if (second_copy) bytes.push_back(second_copy_bytes());
  return bytes;
}

std::uint64_t Manifest::node_bytes(std::uint32_t node, std::uint32_t region) const {
  if (placement) return placement->regions[region].node_bytes(node);
  const bool second = region == kSecondCopyRegion && second_copy;
  return second ? second_copy_bytes() : regions.at(region).file_bytes();
}

std::uint64_t Manifest::node_bytes(std::uint32_t node) const {
  std::uint64_t sum = 0;
  for (std::uint32_t id = 0; id < held_regions(); ++id) sum += node_bytes(node, id);
  return sum;
}

void require_memory_layout(const Manifest& manifest, std::string_view source) {
  if (!manifest.is_slotted()) return;
  throw Error(
      "'{}': layout slotted is searched with --tier ssd, by `farvec search` or "
      "`farvec-compute-node --index DIR --tier ssd`; build csr or padded for memory",
      source);
}

}  // namespace farvec::layout
