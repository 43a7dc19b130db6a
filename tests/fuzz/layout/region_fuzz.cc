// Any bytes are a region header, codes, an offset table, records; or an Error or data_loss.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "layout/graph/codes_region.h"
#include "layout/graph/graph_layout.h"
#include "layout/index/manifest.h"
#include "tests/unit/layout/graph/random_graph.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

/// Of an inline record; as the seeds have it.
constexpr std::uint32_t kCodeBytes = RandomGraph::kCodeBytes;

/// A region of `bytes` whose header is zero and whose payload begins with the input.
HugeBuffer region_of(std::span<const std::byte> input, std::size_t bytes) {
  HugeBuffer region(bytes);
  std::memcpy(region.data() + kRegionHeaderBytes, input.data(),
              std::min(input.size(), bytes - kRegionHeaderBytes));
  return region;
}

template <typename Action>
void expect_error_or_success(const Action& action) {
  try {
    action();
  } catch (const Error&) {
    return;
  }
}

Manifest small_manifest(LayoutKind layout) {
  Manifest manifest;
  manifest.graph().layout = layout;
  manifest.dimension = 5;
  manifest.count = 40;
  manifest.graph().max_degree = 9;
  manifest.graph().build.code_bits = 4;
  return manifest;
}

void read_header(std::span<const std::byte> input) {
  RegionHeaderBlock block{};
  std::memcpy(block.data(), input.data(), std::min(input.size(), block.size()));
  expect_error_or_success([&] { (void)decode_region_header(block, "fuzz"); });
  expect_error_or_success([&] { (void)decode_region_header(input, "fuzz"); });
}

void read_codes(std::span<const std::byte> input, LayoutKind layout) {
  expect_error_or_success([&] {
    const Codes codes = parse_codes(region_of(input, kRegionHeaderBytes + input.size()),
                                    small_manifest(layout).codes_shape(), "fuzz");
    volatile const std::byte last =
        codes.records()[codes.header.count * codes.header.record_bytes - 1];
    (void)last;
  });
}

void read_offsets(std::span<const std::byte> input) {
  constexpr std::size_t kCount = 40;
  expect_error_or_success([&] {
    HugeBuffer region = region_of(input, kRegionHeaderBytes + OffsetTable::table_bytes(kCount));
    const OffsetTable table({std::move(region), kRegionHeaderBytes}, kCount, 9);
    const OffsetTable::Run last = table.find(kCount - 1);
    FARVEC_CHECK(last.first + last.length == table.total());
  });
}

void read_record(std::span<const std::byte> input, LayoutKind layout) {
  const GraphGeometry geometry{.kind = layout,
                               .vector_bytes = 5,
                               .max_degree = 9,
                               .code_bytes = layout == LayoutKind::inlined ? kCodeBytes : 0,
                               .count = 40};
  const std::vector<std::uint32_t> lengths(40, 9);
  const GraphLocator locator(geometry,
                             needs_offset_table(layout) ? OffsetTable(lengths) : OffsetTable());
  // A table may say that a packed record has any length.
  Extent extent = locator.locate(7);
  if (layout == LayoutKind::packed) {
    extent.bytes = static_cast<std::uint32_t>(
        std::min<std::size_t>(input.size(), geometry.max_record_bytes()));
  }
  const std::vector<std::byte> bytes(
      input.begin(), input.begin() + std::min<std::size_t>(input.size(), extent.bytes));
  std::vector<NodeId> scratch(geometry.scratch_ids());
  const auto record = locator.parse(7, extent, bytes, scratch);
  if (!record.ok()) return;
  FARVEC_CHECK(record.value().degree <= 9);
  FARVEC_CHECK(record.value().vector + 5 <= bytes.data() + bytes.size());
  if (layout == LayoutKind::packed) {
    FARVEC_CHECK(record.value().row < 40);
  } else {
    FARVEC_CHECK(record.value().neighbors + 4 * record.value().degree <=
                 bytes.data() + bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  read_header(input);
  for (const LayoutKind layout : {LayoutKind::csr, LayoutKind::inlined}) read_codes(input, layout);
  read_offsets(input);
  for (const LayoutKind layout : {LayoutKind::padded, LayoutKind::inlined, LayoutKind::packed}) {
    read_record(input, layout);
  }
  return 0;
}
