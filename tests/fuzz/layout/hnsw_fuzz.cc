// Any bytes that are a sound page are vertices, a meta page or a page of the id map; or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/hnsw/hnsw_meta.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "layout/hnsw/id_map.h"
#include "layout/store/store_page.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

const HnswShape kShape{
    .page_bytes = 4096, .dimension = 3, .type = ElementType::u8, .m = 2, .max_level = 4};

void read_vertex(std::span<const std::byte> page, std::uint16_t slot) {
  const auto vertex = HnswVertex::parse(kShape, page, slot);
  if (!vertex.ok()) return;
  FARVEC_CHECK(vertex.value().level() <= kShape.max_level);
  std::uint32_t sum = std::to_integer<std::uint32_t>(vertex.value().vector()[2]);
  for (std::uint32_t layer = 0; layer <= vertex.value().level(); ++layer) {
    for (std::uint32_t i = 0; i < kShape.degree(layer); ++i) {
      sum += vertex.value().neighbor(kShape, layer, i).slot;
    }
  }
  volatile const std::uint32_t used = sum;
  (void)used;
}

/// A page that begins with the first half of the input and ends with the other.
std::vector<std::byte> page_of(std::span<const std::byte> input) {
  std::vector<std::byte> page(kShape.page_bytes);
  const std::size_t half = std::min<std::size_t>(input.size() / 2, kShape.page_bytes / 2);
  std::copy_n(input.begin(), half, page.begin());
  std::copy_n(input.end() - static_cast<std::ptrdiff_t>(half), half,
              page.end() - static_cast<std::ptrdiff_t>(half));
  return page;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto page = page_of(std::as_bytes(std::span(data, size)));
  const auto sound = StorePage::check(page, load_unaligned<StorePageHeader>(page.data()).page);
  if (!sound.ok()) return 0;  // never comes out of the buffer
  for (std::uint32_t slot = 0; slot <= sound.value().slots(); ++slot) {
    read_vertex(page, static_cast<std::uint16_t>(slot));
  }
  (void)has_vertex_room(kShape, page, 1);
  const auto meta = read_hnsw_meta(page);
  if (meta.ok()) FARVEC_CHECK(meta.value().shape().vertex_bytes(0) < kShape.page_bytes);
  for (const std::uint32_t height : {0u, 1u}) {
    const auto tuple = id_map_tuple({kShape.page_bytes}, page, height);
    if (tuple.ok()) FARVEC_CHECK(tuple.value().size() < kShape.page_bytes);
  }
  return 0;
}
