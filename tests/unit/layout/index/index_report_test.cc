#include "layout/index/index_report.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {
namespace {

TEST(IndexReport, CostsEqualTheFilesOfEitherLayout) {
  TemporaryFolder folder;
  const LoadOptions quiet{.threads = 1, .quiet = true, .on_chunk = {}};
  for (const LayoutKind written : {LayoutKind::csr, LayoutKind::padded}) {
    RandomIndex index(700, written);
    const auto directory = folder.path() / std::string(to_string(written));
    index.write(directory);
  }
  for (const LayoutKind written : {LayoutKind::csr, LayoutKind::padded}) {
    const auto index = IndexDirectory::open(folder.path() / std::string(to_string(written)));
    for (const LayoutKind kind : {LayoutKind::csr, LayoutKind::padded}) {
      const auto other = IndexDirectory::open(folder.path() / std::string(to_string(kind)));
      const LayoutCost cost = layout_cost(index.manifest(), kind);
      const auto records = std::filesystem::file_size(other.region_path(kRecordsRegion));
      EXPECT_EQ(cost.records_bytes, records);
      EXPECT_EQ(cost.codes_bytes, std::filesystem::file_size(other.region_path(kCodesRegion)));
      EXPECT_DOUBLE_EQ(cost.amplification, static_cast<double>(records) / (700.0 * 37));
      if (kind == LayoutKind::csr) {
        EXPECT_EQ(cost.offsets_bytes,
                  std::filesystem::file_size(other.region_path(kOffsetsRegion)));
      } else {
        EXPECT_EQ(cost.offsets_bytes, 0u);
      }
      EXPECT_DOUBLE_EQ(cost.compute_dram_bytes_per_vector,
                       static_cast<double>(cost.codes_bytes + cost.offsets_bytes) / 700);
    }
    EXPECT_EQ(degree_report(index.load_offset_table(quiet)).most, 12u);
  }
}

TEST(IndexReport, CostsOfAnInlineGraphEqualItsFiles) {
  TemporaryFolder folder;
  RandomIndex(700, LayoutKind::inlined).write(folder.path() / "index");
  const auto index = IndexDirectory::open(folder.path() / "index");
  const LayoutCost cost = layout_cost(index.manifest(), LayoutKind::inlined);
  const auto bytes = [&](std::uint32_t region) {
    return std::filesystem::file_size(index.region_path(region));
  };
  EXPECT_EQ(cost.records_bytes, bytes(kRecordsRegion));
  EXPECT_EQ(cost.codes_bytes, bytes(kCodesRegion));
  EXPECT_EQ(cost.offsets_bytes, 0u);
  EXPECT_DOUBLE_EQ(cost.compute_dram_bytes_per_vector, static_cast<double>(cost.codes_bytes) / 700);
}

TEST(IndexReport, CostsOfAPackedGraphEqualItsFilesAndItsRecordsHaveTheDegrees) {
  TemporaryFolder folder;
  for (const LayoutKind layout : {LayoutKind::csr, LayoutKind::packed}) {
    RandomIndex(700, layout).write(folder.path() / std::string(to_string(layout)));
  }
  const auto packed = IndexDirectory::open(folder.path() / "packed");
  const auto csr = IndexDirectory::open(folder.path() / "csr");
  for (const IndexDirectory* index : {&packed, &csr}) {
    const LayoutKind kind = index->manifest().graph().layout;
    const LayoutCost cost = layout_cost(packed.manifest(), kind);
    EXPECT_EQ(cost.records_bytes, std::filesystem::file_size(index->region_path(kRecordsRegion)));
    EXPECT_EQ(cost.offsets_bytes, std::filesystem::file_size(index->region_path(kOffsetsRegion)));
  }
  EXPECT_EQ(degree_report(packed).histogram, degree_report(csr).histogram);
}

TEST(IndexReport, DescribesDegrees) {
  const std::vector<std::uint32_t> degrees = {3, 5, 3, 7, 3, 5, 3, 5, 3, 3};
  const DegreeReport report = degree_report(OffsetTable(degrees));
  EXPECT_EQ(report.histogram, (std::vector<std::uint64_t>{0, 0, 0, 6, 0, 3, 0, 1}));
  EXPECT_EQ(report.least, 3u);
  EXPECT_EQ(report.p50, 3u);
  EXPECT_EQ(report.p90, 5u);
  EXPECT_EQ(report.p99, 5u);
  EXPECT_EQ(report.most, 7u);
  EXPECT_DOUBLE_EQ(report.mean, 4.0);
}

TEST(IndexReport, DescribesAGraphWithoutEdges) {
  const DegreeReport report = degree_report(OffsetTable(std::vector<std::uint32_t>{0}));
  EXPECT_EQ(report.histogram, std::vector<std::uint64_t>{1});
  EXPECT_EQ(report.most, 0u);
}

}  // namespace
}  // namespace farvec::layout
