#include "layout/graph/graph_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "layout/graph/record_reader.h"
#include "tests/unit/layout/graph/random_graph.h"

namespace farvec::layout {
namespace {

using Shape = std::tuple<LayoutKind, bool, std::uint32_t, ElementType>;

constexpr LayoutKind kInRecords[] = {LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined,
                                     LayoutKind::packed};

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
  // The most that the offset table can count.
  const std::uint32_t most = largest_degree(std::get<0>(GetParam()));
  for (const auto& [count, max_degree] :
       {std::pair<std::size_t, std::uint32_t>{1, 1}, {2, 3}, {301, 32}, {301, 255}, {40, most}}) {
    const RandomGraph graph = graph_of(count, max_degree);
    const GraphLocator locator = graph.locator(geometry_of(graph));
    const RecordEncoder encoder = graph.encoder(locator);
    const HugeBuffer region = encode_region(encoder, locator, 2);
    ASSERT_EQ(region.size(), locator.region_bytes());
    const bool packed = locator.geometry().kind == LayoutKind::packed;
    ASSERT_EQ(region.size(),
              region_bytes(locator.geometry(), packed ? locator.table().total() : graph.edges()));
    RecordReader records(locator, region.span());
    for (NodeId id = 0; id < count; ++id) {
      const Extent extent = locator.locate(id);
      ASSERT_LE(extent.bytes, locator.geometry().max_record_bytes());
      ASSERT_LE(extent.offset + extent.bytes, region.size());
      const NodeRecord record = records.read(id);
      expect_record(record, graph, id);
      expect_codes(record, locator.geometry(), id);
      EXPECT_EQ(record.row, packed ? count - 1 - id : kInvalidNode);
    }
  }
}

TEST_P(GraphLayout, EncodesInRunsAsInOnePiece) {
  const RandomGraph graph = graph_of(100, 16);
  const GraphLocator locator = graph.locator(geometry_of(graph));
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

TEST_P(GraphLayout, NeighboursComeWithoutTheirVector) {
  const RandomGraph graph = graph_of(50, 8);
  const GraphLocator locator = graph.locator(geometry_of(graph));
  const HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  NodeId scratch[8];
  for (NodeId id = 0; id < 50; ++id) {
    const Extent whole = locator.locate(id);
    const Extent list = locator.locate_list(id);
    ASSERT_GT(list.bytes, 0u);
    ASSERT_GE(list.offset, whole.offset);
    ASSERT_LE(list.offset + list.bytes, whole.offset + whole.bytes);
    const bool is_leaf = graph.view().degrees[id] == 0;
    const bool packed = locator.geometry().kind == LayoutKind::packed;
    const bool alone = locator.has_lists_alone() && (packed || !is_leaf);
    EXPECT_EQ(whole.bytes - list.bytes, alone ? locator.geometry().fixed_bytes() : 0);
    // A copy, so that a read beyond what was fetched is found.
    const auto fetched = region.span().subspan(list.offset, list.bytes);
    const std::vector<std::byte> bytes(fetched.begin(), fetched.end());
    const Result<NodeRecord> record = locator.parse_list(id, list, bytes, scratch);
    ASSERT_TRUE(record.ok()) << record.status().message();
    EXPECT_EQ(record.value().vector == nullptr, alone);
    ASSERT_EQ(record.value().degree, graph.view().degrees[id]);
    for (std::uint32_t i = 0; i < record.value().degree; ++i) {
      ASSERT_EQ(record.value().neighbor(i), graph.view().row(id)[i]);
    }
    const auto shorter = std::span(bytes).first(bytes.size() - 1);
    EXPECT_EQ(locator.parse_list(id, list, shorter, scratch).status().code(),
              StatusCode::data_loss);
  }
}

TEST(GraphLayoutList, RefusesWhatIsNoPackedList) {
  const RandomGraph graph(20, 9, 13, ElementType::u8);
  const GraphLocator locator = graph.locator(graph.geometry(LayoutKind::packed));
  const HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent list = locator.locate_list(1);  // it has all neighbours that a vertex may have
  NodeId scratch[12];
  for (const unsigned degree : {0u, 8u, 10u, 255u}) {
    const auto fetched = region.span().subspan(list.offset, list.bytes);
    std::vector<std::byte> bytes(fetched.begin(), fetched.end());
    bytes[0] = std::byte(degree);
    EXPECT_EQ(locator.parse_list(1, list, bytes, scratch).status().code(), StatusCode::data_loss);
  }
}

TEST_P(GraphLayout, RefusesAShortRecord) {
  const RandomGraph graph = graph_of(50, 8);
  const GraphLocator locator = graph.locator(geometry_of(graph));
  const HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent extent = locator.locate(7);
  NodeId scratch[8];
  const auto parsed =
      locator.parse(7, extent, region.span().subspan(extent.offset, extent.bytes - 1), scratch);
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
    const GraphLocator locator = graph.locator(geometry);
    HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
    const Extent extent = locator.locate(11);
    const auto bytes = region.span().subspan(extent.offset, extent.bytes);
    NodeId scratch[12];
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= std::byte(1u << bit % 8);
      ASSERT_EQ(locator.parse(11, extent, bytes, scratch).status().code(), StatusCode::data_loss)
          << bit;
      bytes[bit / 8] ^= std::byte(1u << bit % 8);
    }
    EXPECT_TRUE(locator.parse(11, extent, bytes, scratch).ok());
    EXPECT_EQ(locator.parse(12, extent, bytes, scratch).status().code(), StatusCode::data_loss);
  }
}

TEST(GraphLayoutPadded, RefusesADegreeAboveTheGraphs) {
  const RandomGraph graph(20, 9, 13, ElementType::u8);
  const GraphLocator locator(graph.geometry(LayoutKind::padded));
  HugeBuffer region = encode_region(graph.encoder(locator), locator, 1);
  const Extent extent = locator.locate(3);
  const auto bytes = region.span().subspan(extent.offset, extent.bytes);
  store_unaligned(bytes.data() + 13, std::uint32_t{10});
  EXPECT_EQ(locator.parse(3, extent, bytes, {}).status().code(), StatusCode::data_loss);
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
  const auto parsed = locator.parse(1, extent, bytes, {});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().degree, 9u);
  EXPECT_EQ(parsed.value().neighbor(2), kInvalidNode);
}

class GraphLayoutPacked : public testing::Test {
 protected:
  static constexpr NodeId kVertex = 1;  ///< with nine neighbours

  Result<NodeRecord> parse() { return locator_.parse(kVertex, extent_, bytes(), scratch_); }
  std::span<std::byte> bytes() { return region_.span().subspan(extent_.offset, extent_.bytes); }
  std::byte* row() { return bytes().data() + extent_.bytes - 13 - sizeof(NodeId); }

  const RandomGraph graph_{20, 9, 13, ElementType::u8};
  const GraphLocator locator_ = graph_.locator(graph_.geometry(LayoutKind::packed));
  HugeBuffer region_ = encode_region(graph_.encoder(locator_), locator_, 1);
  const Extent extent_ = locator_.locate(kVertex);
  NodeId scratch_[12];
};

TEST_F(GraphLayoutPacked, IsDegreeListRowAndVector) {
  const std::span neighbors(graph_.view().row(kVertex), 9);
  EXPECT_EQ(extent_.bytes, 1 + list_bytes(neighbors) + 4 + 13);
  EXPECT_LE(extent_.bytes, locator_.geometry().max_record_bytes());
  EXPECT_EQ(bytes()[0], std::byte{9});
  EXPECT_EQ(load_unaligned<NodeId>(row()), 18u);
  EXPECT_EQ(std::memcmp(row() + 4, graph_.vectors().row(kVertex), 13), 0);
}

TEST_F(GraphLayoutPacked, RefusesADegreeThatIsNotTheLists) {
  for (const int degree : {0, 4, 8, 10, 13, 255}) {
    bytes()[0] = static_cast<std::byte>(degree);
    EXPECT_EQ(parse().status().code(), StatusCode::data_loss) << degree;
  }
  bytes()[0] = std::byte{9};
  EXPECT_TRUE(parse().ok());
}

TEST_F(GraphLayoutPacked, RefusesAListOfAnotherLength) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto right = std::exchange(bytes()[1], static_cast<std::byte>(byte));
    const auto length = [](std::byte control) {
      int sum = 0;
      for (int i = 0; i < 4; ++i) sum += std::to_integer<int>(control >> (2 * i)) & 3;
      return sum;
    };
    EXPECT_EQ(parse().ok(), length(std::byte(byte)) == length(right)) << byte;
    bytes()[1] = right;
  }
}

TEST_F(GraphLayoutPacked, RefusesARowThatDoesNotExist) {
  for (const NodeId bad : {NodeId{20}, kInvalidNode}) {
    store_unaligned(row(), bad);
    EXPECT_EQ(parse().status().code(), StatusCode::data_loss) << bad;
  }
  store_unaligned(row(), NodeId{19});
  EXPECT_EQ(parse().value().row, 19u);
}

TEST_F(GraphLayoutPacked, RefusesARecordWithoutRoomForItsVector) {
  // A table may say so: its lengths are of bytes.
  for (std::uint32_t length = 0; length < 18; ++length) {
    const Extent shorter{extent_.offset, length, 9};
    const auto parsed = locator_.parse(kVertex, shorter, bytes().first(length), scratch_);
    EXPECT_EQ(parsed.status().code(), StatusCode::data_loss) << length;
  }
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
  expect_bad([](auto& g) { g.vector_bytes = kMaxVectorBytes + 1; });
  expect_bad([](auto& g) { g.max_degree = 0; });
  expect_bad([](auto& g) { g.max_degree = OffsetTable::kMostLength + 1; });
  expect_bad([](auto& g) {
    g.kind = LayoutKind::packed;  // whose lists may take 4.25 bytes per neighbour
    g.max_degree = 551;
  });
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
