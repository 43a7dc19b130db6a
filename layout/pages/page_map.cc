#include "layout/pages/page_map.h"

#include <utility>

#include "base/error.h"

namespace farvec::layout {

PageMap::PageMap(HugeBuffer region, const SlottedGeometry& geometry, std::string_view source)
    : region_(std::move(region)), count_(geometry.count) {
  if (region_.size() != kRegionHeaderBytes + payload_bytes(count_)) {
    throw Error("{}: {} bytes are not the page map of {} vertices; rebuild the index", source,
                region_.size(), count_);
  }
  for (const std::uint32_t page : entries()) {
    if (page >= geometry.pages) {
      throw Error("{}: the page map names page {}, the index has {}; rebuild the index", source,
                  page, geometry.pages);
    }
  }
}

}  // namespace farvec::layout
