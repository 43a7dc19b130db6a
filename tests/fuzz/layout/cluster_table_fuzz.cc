// Any bytes are a table of clusters whose lists and groups lie in the region, where and how the
// layout says; or an Error. What the region's own bytes say may be anything.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "layout/cluster/cluster_decoder.h"
#include "layout/index/cut_points.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/cluster_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

/// A search reads what a range says into memory of so many bytes.
void read(std::span<const std::byte> region, const ByteRange& range, std::uint64_t room) {
  FARVEC_CHECK(range.bytes <= room);
  std::vector<std::byte> lane(room);
  std::memcpy(lane.data(), region.data() + range.offset, range.bytes);
}

void read_clusters(const ClusterLocator& locator, std::span<const std::byte> region) {
  for (ClusterId c = 0; c < locator.geometry().clusters; ++c) {
    const ByteRange list = locator.list(c);
    const ByteRange group = locator.group(c);
    const ByteRange whole = locator.whole(c);
    for (const ByteRange& range : {list, group, whole}) {
      if (range.bytes > 0) read(region, range, locator.max_cluster_bytes());
    }
    FARVEC_CHECK(locator.entry(c).members() <= locator.max_members());
    if (whole.bytes > 0) FARVEC_CHECK(whole.bytes == list.bytes + group.bytes);
    if (group.bytes == 0 || !locator.geometry().decouples()) continue;
    FARVEC_CHECK(locator.offset_of(locator.first_of_group(c)) == group.offset);
  }
}

/// From one end of the region to the other.
void cut(const ClusterLocator& locator) {
  const CutPoints cuts(locator);
  for (std::uint64_t at = kRegionHeaderBytes; at < locator.region_bytes(); at += 64) {
    const std::uint64_t next = cuts.at_or_after(at);
    FARVEC_CHECK(next >= at && next <= locator.region_bytes());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kTableBytes = fuzz::kClusters * sizeof(ClusterEntry);
  auto input = std::as_bytes(std::span(data, size));
  fuzz::ClusterInput head;
  if (input.size() < sizeof(head) + kTableBytes) return 0;
  std::memcpy(&head, input.data(), sizeof(head));
  input = input.subspan(sizeof(head));
  std::vector<std::byte> region(kRegionHeaderBytes);
  region.insert(region.end(), input.begin() + kTableBytes, input.end());
  fuzz::expect_error_at_most([&] {
    const ClusterLocator locator(fuzz::geometry_of(head), fuzz::copy_of(input.first(kTableBytes)),
                                 0, region.size());
    read_clusters(locator, region);
    cut(locator);
    (void)decode_clusters(locator, region);
  });
  return 0;
}
