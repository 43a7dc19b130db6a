#include "layout/graph/record_encoder.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"

namespace farvec::layout {

RecordEncoder::RecordEncoder(const GraphLocator& locator, RecordContents contents)
    : locator_(locator), contents_(std::move(contents)) {
  const GraphGeometry& geometry = locator.geometry();
  const VectorView& vectors = contents_.vectors;
  if (contents_.graph.count != geometry.count || vectors.count != geometry.count) {
    throw Error("cannot encode {} vertices and {} vectors as a graph of {}", contents_.graph.count,
                vectors.count, geometry.count);
  }
  if (vectors.row_bytes() != geometry.vector_bytes) {
    throw Error("cannot encode vectors of {} bytes as records with {}", vectors.row_bytes(),
                geometry.vector_bytes);
  }
  FARVEC_CHECK((contents_.write_codes != nullptr) == (geometry.kind == LayoutKind::inlined));
  FARVEC_CHECK(contents_.rows.size() == (geometry.kind == LayoutKind::packed ? geometry.count : 0));
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
    const auto record = out.subspan(extent.offset - origin, extent.bytes);
    locator_.geometry().kind == LayoutKind::packed ? encode_packed(id, record)
                                                   : encode_record(id, record);
    if (!locator_.geometry().record_checksum) continue;
    const std::size_t covered = record.size() - sizeof(std::uint32_t);
    store_unaligned(record.data() + covered, record_checksum(record.first(covered), id));
  }
}

void RecordEncoder::encode_record(NodeId id, std::span<std::byte> out) const {
  const GraphGeometry& geometry = locator_.geometry();
  const std::uint32_t degree = contents_.graph.degrees[id];
  FARVEC_CHECK(degree <= geometry.max_degree, "vertex {} has {} neighbours", id, degree);
  if (contents_.write_codes) contents_.write_codes(id, out.first(geometry.code_bytes));
  std::byte* cursor = out.data() + geometry.code_bytes;
  std::memcpy(cursor, contents_.vectors.row(id), geometry.vector_bytes);
  cursor += geometry.vector_bytes;
  if (geometry.kind == LayoutKind::padded) {
    store_unaligned(cursor, degree);
    cursor += sizeof(degree);
  }
  const NodeId* const neighbors = contents_.graph.row(id);
  for (std::uint32_t i = 0; i < degree; ++i) {
    FARVEC_CHECK(neighbors[i] < geometry.count, "vertex {} points to {}", id, neighbors[i]);
    store_unaligned(cursor + std::size_t{i} * sizeof(NodeId), neighbors[i]);
  }
  if (geometry.kind == LayoutKind::inlined) {
    std::memset(cursor + std::size_t{degree} * sizeof(NodeId), 0xff,
                (geometry.max_degree - degree) * sizeof(NodeId));
  }
}

void RecordEncoder::encode_packed(NodeId id, std::span<std::byte> out) const {
  const GraphGeometry& geometry = locator_.geometry();
  const std::uint32_t degree = contents_.graph.degrees[id];
  FARVEC_CHECK(degree <= geometry.max_degree, "vertex {} has {} neighbours", id, degree);
  const std::span neighbors(contents_.graph.row(id), degree);
  FARVEC_CHECK(degree == 0 || neighbors.back() < geometry.count, "vertex {} points to {}", id,
               neighbors.back());
  std::memcpy(out.data(), &degree, geometry.degree_bytes());  // little-endian
  encode_list(neighbors, out.data() + geometry.degree_bytes());
  // The list comes before the rest, so that a decoder may read beyond its end.
  std::byte* const row = out.data() + out.size() - geometry.fixed_bytes();
  store_unaligned(row, contents_.rows[id]);
  std::memcpy(row + sizeof(NodeId), contents_.vectors.row(id), geometry.vector_bytes);
}

OffsetTable make_offset_table(const GraphGeometry& geometry, const AdjacencyView& graph) {
  if (geometry.kind != LayoutKind::packed) return OffsetTable({graph.degrees, graph.count});
  std::vector<std::uint32_t> lengths(graph.count);
  for (std::size_t v = 0; v < graph.count; ++v) {
    lengths[v] = geometry.degree_bytes() + list_bytes({graph.row(v), graph.degrees[v]});
  }
  return OffsetTable(lengths);
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
