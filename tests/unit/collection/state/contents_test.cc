#include "collection/state/contents.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>

#include "collection/state/replay.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/collection/failing_new.h"

namespace farvec::collection {
namespace {

/// With the first allocation refused, then the second one, until it succeeds; `look` in between.
void try_without_memory(const std::function<void()>& change, const std::function<void()>& look) {
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    tests::fail_allocation(n);
    try {
      change();
    } catch (const std::bad_alloc&) {
    }
    if (!tests::has_failed()) return;
    look();
  }
  FAIL() << "it does not end";
}

TEST(Contents, AnInsertWithoutMemoryLeavesNothing) {
  if (!tests::kRefusesMemory) GTEST_SKIP() << tests::kNoRefusals;
  Contents contents(memtable_options(small_shape()));
  contents.rotate(0);
  Random random(3);
  std::uint64_t version = 0;
  for (const std::uint64_t begin : {0, 10, 5}) {
    Batch batch;
    for (std::uint64_t id = begin; id < begin + 10; ++id) batch.add(id, random_row(random));
    const ViewPointer before = contents.current();
    const std::uint32_t room = contents.room();
    std::uint64_t replaced = 0;
    version += 10;
    try_without_memory(
        [&] {
          replaced = contents.insert({batch.rows(), batch.ids()}, version);
        },
        [&] {
          EXPECT_EQ(contents.current(), before);
          EXPECT_EQ(contents.room(), room);
          EXPECT_EQ(contents.holds(begin + 9), begin == 5);
        });
    EXPECT_EQ(replaced, begin == 5 ? 10u : 0u);
    EXPECT_EQ(contents.room(), room - 10);
    EXPECT_EQ(contents.current()->live(), begin == 0 ? 10u : 20u);
    EXPECT_EQ(contents.find(begin)->row, 50u - room);
  }
}

TEST(Contents, ARotationWithoutMemoryLeavesNothing) {
  if (!tests::kRefusesMemory) GTEST_SKIP() << tests::kNoRefusals;
  Contents contents(memtable_options(small_shape()));
  Random random(3);
  for (std::uint64_t id = 0; id < 3; ++id) {
    const ViewPointer before = contents.current();
    try_without_memory([&] { contents.rotate(id); },
                       [&] {
                         EXPECT_EQ(contents.current(), before);
                         EXPECT_EQ(contents.memtables().size(), before->memtables.size());
                       });
    EXPECT_EQ(contents.memtables().size(), id + 1);
    Batch batch;
    batch.add(id, random_row(random));
    contents.insert({batch.rows(), batch.ids()}, id + 1);
    EXPECT_TRUE(contents.holds(0));
  }
}

}  // namespace
}  // namespace farvec::collection
