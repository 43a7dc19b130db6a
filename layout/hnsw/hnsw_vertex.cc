#include "layout/hnsw/hnsw_vertex.h"

#include <cstring>

#include "base/check.h"
#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

Status bad_vertex(const char* what) {
  return {StatusCode::data_loss, what};
}

}  // namespace

HnswPlace load_place(const std::byte* bytes) {
  return {load_unaligned<PageNumber>(bytes), load_unaligned<std::uint16_t>(bytes + 4)};
}

void store_place(std::byte* bytes, HnswPlace place) {
  store_unaligned(bytes, place.page);
  store_unaligned(bytes + 4, place.slot);
}

Result<HnswVertex> HnswVertex::parse(const HnswShape& shape, std::span<const std::byte> page,
                                     std::uint16_t slot) {
  const StorePage tuples(page);
  if (tuples.header().kind != static_cast<std::uint16_t>(HnswPageKind::vertices)) {
    return Status(StatusCode::not_found, "the page holds no vertices");
  }
  const auto element = tuples.tuple(slot);
  if (element.empty() || element[0] != std::byte{HnswElementHeader{}.kind}) {
    return Status(StatusCode::not_found, "there is no vertex at the slot");
  }
  if (element.size() != shape.element_bytes()) {
    return bad_vertex("an element has another length than its dimension");
  }
  const auto header = load_unaligned<HnswElementHeader>(element.data());
  if (header.level > shape.max_level) return bad_vertex("an element lies above the highest layer");
  const auto neighbors = tuples.tuple(header.neighbors);
  if (neighbors.size() != shape.neighbors_bytes(header.level)) {
    return bad_vertex("the neighbours of an element are not where it says, or too few or many");
  }
  const auto of = load_unaligned<HnswNeighborsHeader>(neighbors.data());
  if (of.kind != HnswNeighborsHeader{}.kind || of.level != header.level || of.element != slot) {
    return bad_vertex("the neighbours of an element are another's");
  }
  return HnswVertex(header, element.data(), neighbors.data());
}

void encode_element(const HnswShape& shape, const HnswElementHeader& header,
                    const std::byte* vector, std::span<std::byte> out) {
  FARVEC_CHECK(out.size() == shape.element_bytes());
  store_unaligned(out.data(), header);
  std::memcpy(out.data() + sizeof(header), vector, shape.vector_bytes());
}

void encode_no_neighbors(const HnswNeighborsHeader& header, std::span<std::byte> out) {
  std::memset(out.data(), 0xff, out.size());
  store_unaligned(out.data(), header);
}

}  // namespace farvec::layout
