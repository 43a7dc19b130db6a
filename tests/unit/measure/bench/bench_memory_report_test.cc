#include "measure/bench/bench_memory_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace farvec::measure {
namespace {

TEST(MemoryAxes, SequentialHasNoLinesInFlight) {
  const MemoryAxes axes{{Pages::small, Pages::huge}, {1, 2}, {Ask::load, Ask::sequential}, {1, 8}};
  const auto points = axes.points();
  ASSERT_EQ(points.size(), 2u * 2 * 3);
  EXPECT_EQ(points[1].inflight, 8u);
  EXPECT_EQ(points[2].ask, Ask::sequential);
  EXPECT_EQ(points[3].threads, 2u);
  EXPECT_EQ(points[6].pages, Pages::huge);
}

TEST(MemoryReport, TheTimeOfALineIsThatOfOneThread) {
  EXPECT_DOUBLE_EQ(ns_per_line({Pages::huge, 1, Ask::load, 1}, 1e7), 100);
  EXPECT_DOUBLE_EQ(ns_per_line({Pages::huge, 4, Ask::load, 1}, 1e7), 400);
  EXPECT_EQ(ns_per_line({}, 0), 0);
}

TEST(MemoryReport, ALineOfJson) {
  const MemoryFacts facts{{"host", "processor", 2, "avx2", 32u << 20}, 1u << 29, 50};
  const MemoryRow row{{Pages::small, 2, Ask::second, 16}, 0, {4e7, 2e7, 3e7}};
  const auto json = nlohmann::json::parse(memory_json(facts, row));
  EXPECT_EQ(json["pages"], "4k");
  EXPECT_EQ(json["ask"], "l2");
  EXPECT_EQ(json["inflight"], 16);
  EXPECT_EQ(json["lines_per_s"], 3e7);
  EXPECT_EQ(json["lines_per_s_min"], 2e7);
  EXPECT_EQ(json["lines_per_s_max"], 4e7);
  EXPECT_NEAR(json["ns_per_line"].get<double>(), 66.67, 0.01);
  EXPECT_NEAR(json["gb_per_s"].get<double>(), 1.92, 1e-9);
  EXPECT_EQ(json["l3_bytes"], 32u << 20);
  EXPECT_EQ(json["host"], "host (processor, 2 processors, avx2, L3 32 MiB)");
}

}  // namespace
}  // namespace farvec::measure
