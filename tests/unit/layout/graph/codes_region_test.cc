#include "layout/graph/codes_region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "layout/index/manifest.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kCount = 40;

Manifest manifest_of(LayoutKind layout) {
  Manifest manifest;
  manifest.dimension = 5;
  manifest.count = kCount;
  manifest.graph().layout = layout;
  manifest.graph().build.code_bits = 1;
  return manifest;
}

/// A region of `count` records, read with the manifest of a graph in `layout`.
std::string refusal(std::uint64_t count, LayoutKind layout) {
  const Manifest manifest = manifest_of(layout);
  CodesHeader header;
  header.bits = 1;
  header.dimension = manifest.dimension;
  header.record_bytes = 4;
  header.metric = manifest.metric;
  header.type = manifest.stored_type;
  header.count = count;
  const std::vector<float> centroid(header.dimension);
  const std::vector<std::byte> preamble = encode_codes_preamble({header, centroid, {}});
  HugeBuffer region(kRegionHeaderBytes + header.payload_bytes());
  std::memcpy(region.data() + kRegionHeaderBytes, preamble.data(), preamble.size());
  return tests::message_of(
      [&] { (void)parse_codes(std::move(region), manifest.codes_shape(), "codes.bin"); });
}

TEST(CodesRegion, OfVerticesHasACodeForEach) {
  for (const LayoutKind layout : {LayoutKind::csr, LayoutKind::padded}) {
    EXPECT_EQ(refusal(kCount, layout), "");
    for (const std::uint64_t count : {std::uint64_t{0}, kCount - 1, kCount + 1}) {
      EXPECT_THAT(refusal(count, layout), HasSubstr("codes.bin: the codes are of another shape"));
    }
  }
}

TEST(CodesRegion, OfAnInlineGraphHasSomeVectorsButNotNone) {
  for (const std::uint64_t count : {std::uint64_t{1}, kCount}) {
    EXPECT_EQ(refusal(count, LayoutKind::inlined), "");
  }
  for (const std::uint64_t count : {std::uint64_t{0}, kCount + 1}) {
    EXPECT_THAT(refusal(count, LayoutKind::inlined), HasSubstr("another shape"));
  }
}

}  // namespace
}  // namespace farvec::layout
