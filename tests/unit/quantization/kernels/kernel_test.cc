#include "quantization/kernels/kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "distance/isa.h"
#include "quantization/kernels/single.h"

namespace farvec::quantization {
namespace {

struct alignas(64) Block {
  std::int8_t values[64];
};

/// Random records, and a random query that is zero where a plane holds no dimension.
struct Problem {
  explicit Problem(const CodeShape& s)
      : shape(s), query(s.query_bytes() / 64), ids(kCount), bytes(kRecords * s.record_bytes()) {
    Random random(s.dimension * 8 + s.bits);
    // An exact heap allocation, so that the address sanitizer sees a read behind the last record.
    records = std::make_unique<std::byte[]>(bytes);
    for (std::size_t i = 0; i < bytes; ++i) records[i] = static_cast<std::byte>(random.next());
    for (NodeId& id : ids) id = static_cast<NodeId>(random.below(kRecords));
    ids.back() = kRecords - 1;
    std::int8_t* out = query.front().values;
    for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
      const Plane& plane = shape.planes[p];
      for (std::uint32_t d = 0; d < shape.dimension; ++d) {
        const bool extreme = random.below(4) == 0;
        out[d / plane.bytes * plane.query_stride() + d % plane.bytes] =
            static_cast<std::int8_t>(extreme ? 127 : static_cast<int>(random.below(255)) - 127);
      }
      out += plane.query_bytes();
    }
  }

  void run(DotKernel kernel, std::size_t count) {
    dots.assign(count + 1, 77);
    factors.assign(count + 1, 77);
    kernel(shape, {query.front().values, records.get(), ids.data() + kCount - count, count,
                   dots.data(), factors.data()});
  }

  static constexpr std::size_t kRecords = 11, kCount = 21;
  CodeShape shape;
  std::vector<Block> query;
  std::vector<NodeId> ids;
  std::size_t bytes;
  std::unique_ptr<std::byte[]> records;
  std::vector<std::int32_t> dots;
  std::vector<std::uint32_t> factors;
};

std::vector<std::uint32_t> dimensions() {
  std::vector<std::uint32_t> result;
  for (std::uint32_t d = 1; d <= 130; ++d) result.push_back(d);
  for (const std::uint32_t d :
       {255u, 256u, 511u, 512u, 513u, 784u, 960u, 4095u, 4096u, 7168u, 16384u}) {
    result.push_back(d);
  }
  return result;
}

/// Digit by digit from the definition of the planes.
std::int64_t naive_dot(const Problem& problem, NodeId id) {
  const CodeShape& shape = problem.shape;
  const std::byte* record = problem.records.get() + id * shape.record_bytes();
  const std::int8_t* query = problem.query.front().values;
  std::int64_t sum = 0;
  std::uint32_t lower_bits = shape.bits;
  for (std::uint32_t p = 0; p < shape.plane_count; ++p) {
    const Plane& plane = shape.planes[p];
    lower_bits -= plane.width;
    for (std::uint32_t d = 0; d < shape.dimension; ++d) {
      const std::uint32_t group = d / plane.bytes, j = d % plane.bytes;
      const auto byte = std::to_integer<std::uint32_t>(record[plane.offset + j]);
      const std::uint32_t digit = byte >> (group * plane.width) & plane.mask();
      sum += std::int64_t{query[group * plane.query_stride() + j]} * (digit << lower_bits);
    }
    query += plane.query_bytes();
  }
  return sum;
}

TEST(DotKernel, PortableFollowsTheDefinition) {
  for (const std::uint32_t dimension : dimensions()) {
    for (std::uint32_t bits = 1; bits <= 8; ++bits) {
      Problem problem(CodeShape(dimension, bits));
      problem.run(portable_dot_kernel(problem.shape), Problem::kCount);
      for (std::size_t i = 0; i < Problem::kCount; ++i) {
        ASSERT_EQ(problem.dots[i], naive_dot(problem, problem.ids[i]))
            << "dimension " << dimension << ", bits " << bits << ", item " << i;
      }
    }
  }
}

TEST(DotKernel, EveryInstructionSetEqualsPortable) {
  for (const distance::Isa isa : distance::available_isas()) {
    SCOPED_TRACE(std::string(distance::to_string(isa)));
    for (const std::uint32_t dimension : dimensions()) {
      for (std::uint32_t bits = 1; bits <= 8; ++bits) {
        Problem expected(CodeShape(dimension, bits)), actual(CodeShape(dimension, bits));
        const DotKernel kernel = select_dot_kernel(actual.shape, isa);
        for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 15u, 16u, 21u}) {
          expected.run(portable_dot_kernel(expected.shape), count);
          actual.run(kernel, count);
          ASSERT_EQ(actual.dots, expected.dots) << dimension << " x " << bits << ", " << count;
          ASSERT_EQ(actual.factors, expected.factors) << dimension << " x " << bits;
        }
      }
    }
  }
}

TEST(SingleDotKernel, EveryInstructionSetFollowsTheDefinition) {
  for (const distance::Isa isa : distance::available_isas()) {
    SCOPED_TRACE(std::string(distance::to_string(isa)));
    const SingleDotKernel kernel = select_single_dot(isa);
    for (const std::uint32_t dimension : dimensions()) {
      for (std::uint32_t bits = 1; bits <= 8; ++bits) {
        const Problem problem(CodeShape(dimension, bits));
        const CodeShape& shape = problem.shape;
        constexpr NodeId kId = 3;
        // Exactly the bytes of one code, so that the address sanitizer sees a read behind it.
        const auto code = std::make_unique<std::uint8_t[]>(shape.code_bytes);
        std::memcpy(code.get(), problem.records.get() + kId * shape.record_bytes(),
                    shape.code_bytes);
        const std::int8_t* query = problem.query.front().values;
        const DotPair both = kernel(shape, {code.get(), query, query});
        const DotPair one = kernel(shape, {code.get(), query, nullptr});
        ASSERT_EQ(both.coarse, naive_dot(problem, kId)) << dimension << " x " << bits;
        ASSERT_EQ(both.fine, both.coarse) << dimension << " x " << bits;
        ASSERT_EQ(one.coarse, both.coarse) << dimension << " x " << bits;
        ASSERT_EQ(one.fine, 0) << dimension << " x " << bits;
      }
    }
  }
}

}  // namespace
}  // namespace farvec::quantization
