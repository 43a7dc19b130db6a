#include "layout/hnsw/id_map.h"

#include "layout/store/store_page.h"

namespace farvec::layout {

Result<std::span<const std::byte>> id_map_tuple(const IdMapShape& shape,
                                                std::span<const std::byte> page,
                                                std::uint32_t height) {
  const StorePage tuples(page);
  const StorePageHeader header = tuples.header();
  const auto tuple = tuples.tuple(0);
  if (header.kind != static_cast<std::uint16_t>(HnswPageKind::id_map) || header.tag != height ||
      tuple.size() != shape.tuple_bytes(height)) {
    return Status(StatusCode::data_loss, "a page of the id map is none, or of another height");
  }
  return tuple;
}

}  // namespace farvec::layout
