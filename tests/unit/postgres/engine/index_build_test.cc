#include "postgres/engine/index_build.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

#include "base/random.h"
#include "collection/write/collection.h"
#include "tests/unit/postgres/engine/access.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres {
namespace {

constexpr std::uint32_t kBuiltDimension = 4;
constexpr std::size_t kBuiltRows = 4000;

layout::CollectionManifest built_shape() {
  layout::CollectionManifest shape;
  shape.dimension = kBuiltDimension;
  shape.options.degree = 8;
  shape.options.list = 16;
  return shape;
}

/// A build gives up when nobody has asked for a minute, and compares the time of the last question
/// with its own. Two threads that ask all the time ask in between, too.
TEST(IndexBuild, IsNotGivenUpWhileItIsAskedForAllTheTime) {
  const tests::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "set";
  collection::Collection::create(path, built_shape());
  collection::Collection collection(path, access_of_tests());
  IndexBuild build(collection, std::size_t{64} << 20);
  Random random(7);
  std::vector<float> floats(kBuiltRows * kBuiltDimension);
  for (float& value : floats) value = static_cast<float>(random.uniform());
  std::vector<std::uint64_t> vids(kBuiltRows);
  std::iota(vids.begin(), vids.end(), std::uint64_t{1});
  const VectorView rows = packed_view(floats.data(), kBuiltRows, kBuiltDimension, ElementType::f32);
  ASSERT_TRUE(build.take({rows, vids}));

  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) EXPECT_NO_THROW((void)build.wait_for_room(0));
  });
  ToldBuild told{};
  do {
    EXPECT_NO_THROW(told = build.advance(0));
  } while (!HasFailure() && told.finished == 0);
  done = true;
  other.join();
  EXPECT_EQ(told.rows, kBuiltRows);
  const auto view = collection.view();
  ASSERT_EQ(view->segments.size(), 1u);
  EXPECT_EQ(view->segments.front().live(), kBuiltRows);
}

}  // namespace
}  // namespace farvec::postgres
