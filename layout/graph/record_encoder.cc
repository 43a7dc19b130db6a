#include "layout/graph/record_encoder.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"

namespace farvec::layout {

RecordEncoder::RecordEncoder(const GraphLocator& locator, const AdjacencyView& graph,
                             const VectorView& vectors, NeighborCodeWriter write_codes)
    : locator_(locator), graph_(graph), vectors_(vectors), write_codes_(std::move(write_codes)) {
  const GraphGeometry& geometry = locator.geometry();
  if (graph.count != geometry.count || vectors.count != geometry.count) {
    throw Error("cannot encode {} vertices and {} vectors as a graph of {}", graph.count,
                vectors.count, geometry.count);
  }
  if (vectors.row_bytes() != geometry.vector_bytes) {
    throw Error("cannot encode vectors of {} bytes as records with {}", vectors.row_bytes(),
                geometry.vector_bytes);
  }
  FARVEC_CHECK((write_codes_ != nullptr) == (geometry.kind == LayoutKind::inlined));
}

std::size_t RecordEncoder::bytes_of(std::size_t begin, std::size_t end) const {
  return locator_.begin_of(end) - locator_.begin_of(begin);
}

void RecordEncoder::encode(std::size_t begin, std::size_t end, std::span<std::byte> out) const {
  FARVEC_CHECK(out.size() == bytes_of(begin, end), "{} bytes", out.size());
  std::memset(out.data(), 0, out.size());
  const std::uint64_t origin = locator_.begin_of(begin);
  for (std::size_t v = begin; v < end; ++v) {
    const auto id = static_cast<NodeId>(v);
    const Extent extent = locator_.locate(id);
    encode_record(id, out.subspan(extent.offset - origin, extent.bytes));
  }
}

void RecordEncoder::encode_record(NodeId id, std::span<std::byte> out) const {
  const GraphGeometry& geometry = locator_.geometry();
  const std::uint32_t degree = graph_.degrees[id];
  FARVEC_CHECK(degree <= geometry.max_degree, "vertex {} has {} neighbours", id, degree);
  if (write_codes_) write_codes_(id, out.first(geometry.code_bytes));
  std::byte* cursor = out.data() + geometry.code_bytes;
  std::memcpy(cursor, vectors_.row(id), geometry.vector_bytes);
  cursor += geometry.vector_bytes;
  if (geometry.kind == LayoutKind::padded) {
    store_unaligned(cursor, degree);
    cursor += sizeof(degree);
  }
  const NodeId* const neighbors = graph_.row(id);
  for (std::uint32_t i = 0; i < degree; ++i) {
    FARVEC_CHECK(neighbors[i] < geometry.count, "vertex {} points to {}", id, neighbors[i]);
    store_unaligned(cursor + std::size_t{i} * sizeof(NodeId), neighbors[i]);
  }
  if (geometry.kind == LayoutKind::inlined) {
    std::memset(cursor + std::size_t{degree} * sizeof(NodeId), 0xff,
                (geometry.max_degree - degree) * sizeof(NodeId));
  }
  if (!geometry.record_checksum) return;
  const std::size_t covered = out.size() - sizeof(std::uint32_t);
  store_unaligned(out.data() + covered, record_checksum(out.first(covered), id));
}

OffsetTable make_offset_table(const AdjacencyView& graph) {
  return OffsetTable({graph.degrees, graph.count});
}

HugeBuffer encode_region(const RecordEncoder& encoder, const GraphLocator& locator,
                         unsigned threads) {
  constexpr std::size_t kRun = 4096;
  HugeBuffer region(locator.region_bytes());
  parallel_for(locator.geometry().count, kRun, threads,
               [&](std::size_t begin, std::size_t end, unsigned) {
                 encoder.encode(
                     begin, end,
                     region.span().subspan(locator.begin_of(begin), encoder.bytes_of(begin, end)));
               });
  return region;
}

}  // namespace farvec::layout
