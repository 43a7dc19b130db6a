#include "postgres/engine/request.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status_error.h"

namespace farvec::postgres {
namespace {

TEST(RequestReaders, ReadPartsAndNoMoreThanThereIs) {
  const std::array<std::uint32_t, 4> words{1, 2, 3, 4};
  RequestReader reader(std::as_bytes(std::span(words)));
  EXPECT_EQ(reader.read<std::uint32_t>(), 1u);
  EXPECT_THROW(reader.end(), StatusError);
  EXPECT_EQ(reader.take(8).size(), 8u);
  EXPECT_THROW(reader.take(5), StatusError);
  EXPECT_THROW(reader.take(static_cast<std::size_t>(-1)), StatusError);
  EXPECT_EQ(reader.read<std::uint32_t>(), 4u);
  reader.end();
  EXPECT_THROW(reader.read<std::byte>(), StatusError);
  EXPECT_EQ(reader.take(0).size(), 0u);
}

}  // namespace
}  // namespace farvec::postgres
