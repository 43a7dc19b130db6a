#include "layout/graph/neighbor_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/random.h"

namespace farvec::layout {
namespace {

/// A list in an allocation of exactly its bytes and `behind` more, so that the address sanitizer
/// sees a read behind what may be read.
struct Encoded {
  explicit Encoded(const std::vector<NodeId>& ids, std::uint32_t behind = 0)
      : bytes(list_bytes(ids)),
        readable(bytes + behind),
        degree(static_cast<std::uint32_t>(ids.size())),
        data(std::make_unique<std::byte[]>(readable)) {
    encode_list(ids, data.get());
  }
  EncodedList list() const { return {data.get(), bytes, readable, degree}; }

  std::uint32_t bytes, readable, degree;
  std::unique_ptr<std::byte[]> data;
};

/// What both decoders say, or nothing when they refuse; fails the test when they differ.
std::vector<NodeId> decoded(const EncodedList& list, bool* accepted = nullptr) {
  std::vector<NodeId> fast(round_up(list.degree, 4)), slow(list.degree);
  const bool fast_ok = decode_list(list, fast.data());
  const bool slow_ok = decode_list_portable(list, slow.data());
  EXPECT_EQ(fast_ok, slow_ok);
  if (accepted != nullptr) *accepted = slow_ok;
  if (!slow_ok) return {};
  fast.resize(list.degree);
  EXPECT_EQ(fast, slow);
  return slow;
}

std::vector<NodeId> random_ids(Random& random, std::size_t degree, std::uint64_t below) {
  std::vector<NodeId> ids(degree);
  for (NodeId& id : ids) id = static_cast<NodeId>(random.below(below));
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(NeighborList, GivesBackWhatWasEncoded) {
  Random random(3);
  for (const std::uint64_t below : {1ull, 2ull, 300ull, 70'000ull, 20'000'000ull, 1ull << 32}) {
    for (std::size_t degree = 0; degree <= 70; ++degree) {
      const std::vector<NodeId> ids = random_ids(random, degree, below);
      for (const std::uint32_t behind : {0u, 1u, 15u, 16u, 100u}) {
        const Encoded encoded(ids, behind);
        EXPECT_LE(encoded.bytes, max_list_bytes(encoded.degree));
        EXPECT_EQ(decoded(encoded.list()), ids) << degree << " of " << below;
      }
    }
  }
}

TEST(NeighborList, KnowsEveryLength) {
  const std::vector<NodeId> ids{0,       255,        511,        511 + 65'535,
                                131'582, 16'908'797, 33'686'013, 0xffffffff};
  const Encoded encoded(ids);
  EXPECT_EQ(encoded.bytes, 2u + 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4);
  EXPECT_EQ(decoded(encoded.list()), ids);
  EXPECT_EQ(list_bytes({}), 0u);
}

TEST(NeighborList, RefusesLengthsThatLie) {
  Random random(5);
  for (std::size_t degree = 0; degree <= 40; ++degree) {
    const Encoded encoded(random_ids(random, degree, 1'000'000), 20);
    for (std::uint32_t bytes = 0; bytes <= encoded.readable; ++bytes) {
      EncodedList list = encoded.list();
      list.bytes = bytes;
      bool accepted = false;
      (void)decoded(list, &accepted);
      EXPECT_EQ(accepted, bytes == encoded.bytes) << degree << ", " << bytes;
    }
    EncodedList longer = encoded.list();
    ++longer.degree;
    bool accepted = true;
    (void)decoded(longer, &accepted);
    EXPECT_FALSE(accepted) << degree;
  }
}

TEST(NeighborList, AnyBytesAreReadWithinTheirBounds) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    const auto readable = static_cast<std::uint32_t>(random.below(60));
    const auto data = std::make_unique<std::byte[]>(readable);
    for (std::uint32_t i = 0; i < readable; ++i) data[i] = static_cast<std::byte>(random.next());
    const auto bytes = static_cast<std::uint32_t>(random.below(readable + 1));
    (void)decoded({data.get(), bytes, readable, static_cast<std::uint32_t>(random.below(40))});
  }
}

TEST(NeighborList, UnusedControlBitsAreZero) {
  const Encoded encoded({1, 2, 3, 4, 5});
  encoded.data[1] |= std::byte{0x80};
  bool accepted = true;
  (void)decoded(encoded.list(), &accepted);
  EXPECT_FALSE(accepted);
}

}  // namespace
}  // namespace farvec::layout
