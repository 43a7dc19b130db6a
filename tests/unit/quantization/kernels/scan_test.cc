#include "quantization/kernels/scan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "distance/isa.h"

namespace farvec::quantization {
namespace {

struct alignas(64) TableLine {
  std::uint8_t entries[64];
};

/// A random block and random tables, in heap allocations of exactly their size, so that the address
/// sanitizer sees a read behind them.
struct ScanProblem {
  ScanProblem(std::uint32_t dimension, std::uint32_t bits)
      : shape(dimension, bits), tables(shape.columns / ScanShape::kColumnGroup) {
    Random random(dimension * 8 + bits);
    block = std::make_unique<std::uint8_t[]>(shape.block_bytes());
    for (std::uint32_t i = 0; i < shape.block_bytes(); ++i) {
      block[i] = static_cast<std::uint8_t>(random.next());
    }
    for (TableLine& line : tables) {
      for (std::uint8_t& entry : line.entries) {
        const bool extreme = random.below(4) == 0;
        entry = static_cast<std::uint8_t>(extreme ? kTopEntry : random.below(kTopEntry + 1));
      }
    }
    query = {.tables = tables.front().entries,
             .base = 12.5f,
             .add_scale = 0.037f,
             .rescale_base = 0.81f,
             .rescale_scale = 1.3e-5f,
             .bias = 1021.5f,
             .bound = 0};
  }

  ScanShape shape;
  std::vector<TableLine> tables;
  std::unique_ptr<std::uint8_t[]> block;
  ScanQuery query;
};

/// Neighbour i's estimate, from the description of the block alone.
float expected(const ScanProblem& p, std::uint32_t i) {
  std::int64_t sum = 0;
  for (std::uint32_t plane = 0; plane < p.shape.bits; ++plane) {
    const std::int64_t weight = std::int64_t{1} << (p.shape.bits - 1 - plane);
    for (std::uint32_t c = 0; c < p.shape.columns; ++c) {
      const std::uint8_t byte = p.block[(plane * p.shape.columns + c) * 16 + i % 16];
      const std::uint32_t digit = i < 16 ? byte & 15u : byte >> 4;
      sum += weight * p.tables[c / 4].entries[c % 4 * 16 + digit];
    }
  }
  std::uint16_t add = 0, rescale = 0;
  const std::uint8_t* factors = p.block.get() + p.shape.bits * p.shape.columns * 16;
  std::memcpy(&add, factors + 2 * i, 2);
  std::memcpy(&rescale, factors + 64 + 2 * i, 2);
  const float product = static_cast<float>(sum) - p.query.bias;
  const float scale = p.query.rescale_base + p.query.rescale_scale * static_cast<float>(rescale);
  return (p.query.base + p.query.add_scale * static_cast<float>(add)) - scale * product;
}

class ScanTest : public testing::TestWithParam<distance::Isa> {};

TEST_P(ScanTest, EstimatesToTheBitWhatTheBlockSays) {
  const ScanKernel kernel = select_scan(GetParam());
  for (const std::uint32_t dimension :
       {1u, 4u, 7u, 17u, 64u, 100u, 128u, 784u, 1040u, 2000u, 7168u, 16384u}) {
    for (std::uint32_t bits = 1; bits <= 4; ++bits) {
      SCOPED_TRACE(testing::Message() << "dimension " << dimension << ", bits " << bits);
      ScanProblem problem(dimension, bits);
      problem.query.bound = expected(problem, 5);
      std::vector<float> out(kScanBlock + 1, 77.0f);
      const std::uint32_t below =
          kernel(problem.shape, problem.query, problem.block.get(), out.data());
      for (std::uint32_t i = 0; i < kScanBlock; ++i) {
        const float wanted = expected(problem, i);
        EXPECT_EQ(out[i], wanted) << "neighbour " << i;
        EXPECT_EQ(below >> i & 1u, wanted < problem.query.bound ? 1u : 0u) << "neighbour " << i;
      }
      EXPECT_EQ(out[kScanBlock], 77.0f);
    }
  }
}

TEST_P(ScanTest, NothingIsBelowNaN) {
  ScanProblem problem(100, 1);
  problem.query.base = std::numeric_limits<float>::quiet_NaN();
  problem.query.bound = std::numeric_limits<float>::infinity();
  float out[kScanBlock];
  EXPECT_EQ(select_scan(GetParam())(problem.shape, problem.query, problem.block.get(), out), 0u);
}

INSTANTIATE_TEST_SUITE_P(Isas, ScanTest, testing::ValuesIn(distance::available_isas()),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

TEST(ScanShape, APlaneIsWholeRegisters) {
  EXPECT_EQ(ScanShape(128, 1).block_bytes(), 32u * 16 + 128);
  EXPECT_EQ(ScanShape(100, 1).block_bytes(), 28u * 16 + 128);
  EXPECT_EQ(ScanShape(100, 2).block_bytes(), 2u * 28 * 16 + 128);
  EXPECT_EQ(ScanShape(1, 1).block_bytes(), 4u * 16 + 128);
}

}  // namespace
}  // namespace farvec::quantization
