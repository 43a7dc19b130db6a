#include "layout/graph/graph_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "tests/unit/layout/graph/random_graph.h"

namespace farvec::layout {
namespace {

using Shape = std::tuple<LayoutKind, bool, std::uint32_t, ElementType>;

constexpr LayoutKind kInRecords[] = {LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined};

class GraphLayout : public testing::TestWithParam<Shape> {
 protected:
  GraphGeometry geometry_of(const RandomGraph& graph) const {
    GraphGeometry geometry = graph.geometry(std::get<0>(GetParam()));
    geometry.record_checksum = std::get<1>(GetParam());
    return geometry;
  }
  RandomGraph graph_of(std::size_t count, std::uint32_t max_degree) const {
    return RandomGraph(count, max_degree, std::get<2>(GetParam()), std::get<3>(GetParam()));
  }
};

void expect_record(const NodeRecord& record, const RandomGraph& graph, NodeId id) {
  ASSERT_EQ(record.degree, graph.view().degrees[id]);
  EXPECT_EQ(std::memcmp(record.vector, graph.vectors().row(id), graph.vectors().row_bytes()), 0);
  for (std::uint32_t i = 0; i < record.degree; ++i) {
    ASSERT_EQ(record.neighbor(i), graph.view().row(id)[i]);
  }
}

void expect_codes(const NodeRecord& record, const GraphGeometry& geometry, NodeId id) {
  ASSERT_EQ(record.codes != nullptr, geometry.kind == LayoutKind::inlined);
  for (std::uint32_t i = 0; i < geometry.code_bytes; ++i) {
    ASSERT_EQ(record.codes[i], RandomGraph::code_byte(id, i));
  }
}

TEST_P(GraphLayout, RoundTrips) {
  for (const auto& [count, max_degree] :
       {std::pair<std::size_t, std::uint32_t>{1, 1}, {2, 3}, {301, 32}, {40, 2340}}) {
    const RandomGraph graph = graph_of(count, max_degree);
    const GraphLocator locator(geometry_of(graph), make_offset_table(graph.view()));
    const RecordEncoder encoder = graph.encoder(locator);
    const HugeBuffer region = encode_region(encoder, locator, 2);
    ASSERT_EQ(region.size(), locator.region_bytes());
    ASSERT_EQ(region.size(), region_bytes(locator.geometry(), graph.edges()));
    for (NodeId id = 0; id < count; ++id) {
      const Extent extent = locator.locate(id);
      ASSERT_LE(extent.bytes, locator.geometry().max_record_bytes());
      ASSERT_LE(extent.offset + extent.bytes, region.size());
      const auto parsed =
          locator.parse(id, extent, region.span().subspan(extent.offset, extent.bytes));
      ASSERT_TRUE(parsed.ok()) << parsed.status().message();
      expect_record(parsed.value(), graph, id);
      expect_codes(parsed.value(), locator.geometry(), id);
    }
  }
}

TEST_P(GraphLayout, EncodesInRunsAsInOnePiece) {
  const RandomGraph graph = graph_of(100, 16);
  const GraphLocator locator(geometry_of(graph), make_offset_table(graph.view()));
  const RecordEncoder encoder = graph.encoder(locator);
  const HugeBuffer whole = encode_region(encoder, locator, 1);
  for (const std::size_t run : {1, 7, 99}) {
    HugeBuffer pieces(whole.size());
    for (std::size_t begin = 0; begin < 100; begin += run) {
      const std::size_t end = std::min<std::size_t>(begin + run, 100);
      encoder.encode(begin, end,
                     pieces.span().subspan(locator.begin_of(begin), encoder.bytes_of(begin, end)));
    }
    EXPECT_EQ(std::memcmp(whole.data(), pieces.data(), whole.size()), 0) << run;
  }
}

TEST_P(GraphLayout, RefusesAShortRecord) {
  const RandomGraph graph = graph_of(50, 8);
  const GraphLocator locator(geometry_of(graph), make_offset_table(graph.view()));
  const HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent extent = locator.locate(7);
  const auto parsed =
      locator.parse(7, extent, region.span().subspan(extent.offset, extent.bytes - 1));
  EXPECT_EQ(parsed.status().code(), StatusCode::data_loss);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GraphLayout,
                         testing::Combine(testing::ValuesIn(kInRecords), testing::Bool(),
                                          testing::Values(1u, 3u, 37u, 128u, 4096u),
                                          testing::Values(ElementType::f32, ElementType::f16,
                                                          ElementType::u8)));

TEST(GraphLayoutChecksum, FindsEveryFlippedBit) {
  for (const LayoutKind kind : kInRecords) {
    const RandomGraph graph(20, 9, 13, ElementType::u8);
    GraphGeometry geometry = graph.geometry(kind);
    geometry.record_checksum = true;
    const GraphLocator locator(geometry, make_offset_table(graph.view()));
    HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
    const Extent extent = locator.locate(11);
    const auto bytes = region.span().subspan(extent.offset, extent.bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= std::byte(1u << bit % 8);
      ASSERT_EQ(locator.parse(11, extent, bytes).status().code(), StatusCode::data_loss) << bit;
      bytes[bit / 8] ^= std::byte(1u << bit % 8);
    }
    EXPECT_TRUE(locator.parse(11, extent, bytes).ok());
    EXPECT_EQ(locator.parse(12, extent, bytes).status().code(), StatusCode::data_loss);
  }
}

TEST(GraphLayoutPadded, RefusesADegreeAboveTheGraphs) {
  const RandomGraph graph(20, 9, 13, ElementType::u8);
  const GraphLocator locator(graph.geometry(LayoutKind::padded));
  HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent extent = locator.locate(3);
  const auto bytes = region.span().subspan(extent.offset, extent.bytes);
  store_unaligned(bytes.data() + 13, std::uint32_t{10});
  EXPECT_EQ(locator.parse(3, extent, bytes).status().code(), StatusCode::data_loss);
}

TEST(GraphLayoutPadded, PlacesNodesAsDiskAnnDoes) {
  for (const std::uint32_t vector_bytes : {1u, 128u, 1000u, 4096u, 9001u}) {
    GraphGeometry geometry{
        .kind = LayoutKind::padded, .vector_bytes = vector_bytes, .max_degree = 32, .count = 1000};
    const GraphLocator locator(geometry);
    const std::uint64_t node_bytes = vector_bytes + 4 + 32 * 4;
    for (NodeId id = 0; id < 1000; ++id) {
      std::uint64_t expected = 0;
      if (node_bytes <= 4096) {
        const std::uint64_t per_block = 4096 / node_bytes;
        expected = id / per_block * 4096 + id % per_block * node_bytes;
      } else {
        expected = id * ((node_bytes + 4095) / 4096 * 4096);
      }
      const Extent extent = locator.locate(id);
      ASSERT_EQ(extent.offset, kRegionHeaderBytes + expected);
      ASSERT_EQ(extent.bytes, node_bytes);
      if (node_bytes <= 4096) {
        ASSERT_EQ(extent.offset / 4096, (extent.offset + extent.bytes - 1) / 4096);
      }
    }
    EXPECT_EQ(locator.region_bytes() % 4096, 0u);
  }
}

TEST(GraphLayoutInline, RecordsAreWholeCacheLinesWithoutGaps) {
  for (const std::uint32_t vector_bytes : {1u, 100u, 128u, 3000u}) {
    for (const bool checksum : {false, true}) {
      const GraphGeometry geometry{.kind = LayoutKind::inlined,
                                   .record_checksum = checksum,
                                   .vector_bytes = vector_bytes,
                                   .max_degree = 33,
                                   .code_bytes = 640,
                                   .count = 1000};
      const GraphLocator locator(geometry);
      const std::uint64_t needed = 640 + vector_bytes + 33 * 4 + (checksum ? 4 : 0);
      const std::uint64_t lines = (needed + 63) / 64;
      for (NodeId id = 0; id < 1000; ++id) {
        ASSERT_EQ(locator.locate(id).offset, kRegionHeaderBytes + id * lines * 64);
        ASSERT_EQ(locator.locate(id).bytes, lines * 64);
      }
      EXPECT_EQ(kRegionHeaderBytes % 64, 0u);
      EXPECT_EQ(geometry.max_record_bytes(), lines * 64);
      EXPECT_EQ(locator.region_bytes(), kRegionHeaderBytes + 1000 * lines * 64);
      EXPECT_EQ(locator.dram_bytes(), 0u) << "no table of offsets";
    }
  }
}

TEST(GraphLayoutInline, UnusedIdsNameNoVertex) {
  const RandomGraph graph(20, 9, 13, ElementType::u8);
  const GraphLocator locator(graph.geometry(LayoutKind::inlined));
  HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  for (NodeId id = 0; id < 20; ++id) {
    const std::byte* const ids =
        region.data() + locator.locate(id).offset + RandomGraph::kCodeBytes + 13;
    for (std::uint32_t i = graph.view().degrees[id]; i < 9; ++i) {
      ASSERT_EQ(load_unaligned<NodeId>(ids + i * 4), kInvalidNode);
    }
  }
}

/// The reader of ids refuses it: it is no vertex.
TEST(GraphLayoutInline, AnUnusedIdBeforeAUsedOneIsHandedOn) {
  const RandomGraph graph(20, 9, 13, ElementType::u8);
  const GraphLocator locator(graph.geometry(LayoutKind::inlined));
  HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent extent = locator.locate(1);
  const auto bytes = region.span().subspan(extent.offset, extent.bytes);
  store_unaligned(bytes.data() + RandomGraph::kCodeBytes + 13 + 2 * 4, kInvalidNode);
  const auto parsed = locator.parse(1, extent, bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().degree, 9u);
  EXPECT_EQ(parsed.value().neighbor(2), kInvalidNode);
}

TEST(GraphGeometry, RefusesWhatCannotBe) {
  const GraphGeometry good{.vector_bytes = 128, .max_degree = 32, .count = 10};
  EXPECT_NO_THROW(good.validate());
  const auto expect_bad = [&](auto change) {
    GraphGeometry bad = good;
    change(bad);
    EXPECT_THROW(bad.validate(), Error);
  };
  expect_bad([](auto& g) { g.count = 0; });
  expect_bad([](auto& g) { g.count = std::size_t{1} << 32; });
  expect_bad([](auto& g) { g.vector_bytes = 0; });
  expect_bad([](auto& g) { g.vector_bytes = 16385; });
  expect_bad([](auto& g) { g.max_degree = 0; });
  expect_bad([](auto& g) { g.max_degree = OffsetTable::kMaxDegree + 1; });
  expect_bad([](auto& g) { g.block_bytes = 1000; });
  expect_bad([](auto& g) { g.kind = LayoutKind::slotted; });
  expect_bad([](auto& g) { g.code_bytes = 64; });             // csr has none
  expect_bad([](auto& g) { g.kind = LayoutKind::inlined; });  // and this has some
  expect_bad([](auto& g) {
    g.kind = LayoutKind::inlined;
    g.code_bytes = GraphGeometry::kMostCodeBytes + 1;
  });
  EXPECT_THROW(GraphLocator{good}, Error);  // csr without its table
}

TEST(LayoutKind, ParsesItsOwnWords) {
  for (const LayoutKind kind : kGraphLayouts) EXPECT_EQ(parse_layout_kind(to_string(kind)), kind);
  EXPECT_EQ(parse_layout_kind("inline"), LayoutKind::inlined);
  EXPECT_THROW(parse_layout_kind("CSR"), Error);
}

}  // namespace
}  // namespace farvec::layout
