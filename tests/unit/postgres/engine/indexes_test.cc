#include "postgres/engine/indexes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/unit/postgres/engine/access.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres {
namespace {

/// What has an index open writes by the name of its folder.
TEST(Indexes, AnIndexIsNotMadeAgainBeforeTheFormerOneIsClosed) {
  const tests::TemporaryFolder folder;
  Indexes indexes({{.own = folder.path() / "all"}, std::uint64_t{64} << 20, access_of_tests()});
  const IndexName name = name_of(small_index().index);
  std::shared_ptr<OpenIndex> former = indexes.open(name, small_index(kAskBegins));
  const std::filesystem::path place = former->folder();
  indexes.drop(name);
  EXPECT_FALSE(std::filesystem::exists(place));
  std::atomic<bool> let_go{false};
  std::thread search([&, former = std::move(former)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(std::filesystem::exists(place));
    let_go = true;
    former.reset();
  });
  const std::shared_ptr<OpenIndex> made = indexes.open(name, small_index(kAskBegins));
  EXPECT_TRUE(let_go);
  search.join();
  EXPECT_EQ(made->state().rows, 0u);
}

/// A database that moves to another tablespace and back has the same names of files again. What was
/// told meanwhile, the index there was told.
TEST(Indexes, AnIndexThatComesBackFromATablespaceBeginsAnew) {
  const tests::TemporaryFolder folder;
  Indexes indexes({{.own = folder.path() / "all"}, std::uint64_t{64} << 20, access_of_tests()});
  const AskOpen first = small_index(kAskBegins);
  AskOpen moved = small_index();
  moved.index.tablespace = 9;
  AskOpen other = moved;
  other.index.file = 4;
  for (const AskOpen& shape : {first, other}) {
    indexes.open(name_of(shape.index), shape)->covers(100, true);
  }
  EXPECT_EQ(indexes.open(name_of(moved.index), moved)->state().ready, 0u);
  EXPECT_EQ(indexes.list({}, 10), (std::vector{name_of(moved.index), name_of(other.index)}));
  EXPECT_EQ(indexes.open(name_of(other.index), other)->state().ready, 1u);
  EXPECT_EQ(indexes.open(name_of(first.index), first)->state().ready, 0u);
  EXPECT_EQ(indexes.list({}, 10), (std::vector{name_of(first.index), name_of(other.index)}));
  EXPECT_EQ(indexes.list({}, 1), std::vector{name_of(first.index)});
}

}  // namespace
}  // namespace farvec::postgres
