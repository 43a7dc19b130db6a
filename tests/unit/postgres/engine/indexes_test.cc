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
  Indexes indexes({folder.path() / "all", std::uint64_t{64} << 20, access_of_tests()});
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

}  // namespace
}  // namespace farvec::postgres
