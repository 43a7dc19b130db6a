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
#include "layout/region/manifest.h"
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
                                    small_manifest(layout), "fuzz");
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
    const OffsetTable::Edges last = table.find(kCount - 1);
    FARVEC_CHECK(last.first + last.degree == table.total_edges());
  });
}

void read_record(std::span<const std::byte> input, LayoutKind layout) {
  const GraphLocator locator({.kind = layout,
                              .vector_bytes = 5,
                              .max_degree = 9,
                              .code_bytes = layout == LayoutKind::inlined ? kCodeBytes : 0,
                              .count = 40});
  const Extent extent = locator.locate(7);
  const auto bytes = input.first(std::min<std::size_t>(input.size(), extent.bytes));
  const auto record = locator.parse(7, extent, bytes);
  if (!record.ok()) return;
  FARVEC_CHECK(record.value().degree <= 9);
  FARVEC_CHECK(record.value().neighbors + 4 * record.value().degree <= bytes.data() + bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  read_header(input);
  for (const LayoutKind layout : {LayoutKind::csr, LayoutKind::inlined}) read_codes(input, layout);
  read_offsets(input);
  for (const LayoutKind layout : {LayoutKind::padded, LayoutKind::inlined}) {
    read_record(input, layout);
  }
  return 0;
}
