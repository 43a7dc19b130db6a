#include "collection/build/build_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/progress.h"
#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

TEST(BuildWatch, TellsHowFarABuildIs) {
  const std::atomic<bool> stop{false};
  BuildWatch watch(stop, 0);
  EXPECT_EQ(watch.progress().phase, BuildPhase::none);
  {
    const WatchedBuild watched(watch, 3, 100);
    watch.enter(BuildPhase::linking);
    watch.linked(60);
    watch.moved(1 << 20);
    EXPECT_STREQ(to_string(watch.progress().phase), "linking");
    EXPECT_EQ(watch.progress().segments, 3u);
    EXPECT_EQ(watch.progress().rows, 100u);
    EXPECT_EQ(watch.progress().linked, 60u);
    watch.linked(70);  // of more passes than one
    EXPECT_EQ(watch.progress().linked, 100u);
  }
  EXPECT_STREQ(to_string(watch.progress().phase), "");
  EXPECT_EQ(watch.progress().segments, 0u);
  EXPECT_EQ(watch.progress().bytes, 1u << 20) << "of all builds";
}

TEST(BuildWatch, BytesTakeTheTimeThatTheBoundGivesThem) {
  const std::atomic<bool> stop{false};
  BuildWatch watch(stop, 1000);
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { watch.moved(20); });
  for (int i = 0; i < 3; ++i) watch.moved(10);
  other.join();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
}

TEST(BuildWatch, WhoWaitsEndsWhenItIsToStop) {
  std::atomic<bool> stop{false};
  BuildWatch watch(stop, 1);
  std::atomic<bool> ended{false};
  std::thread build([&] {
    EXPECT_THROW(watch.moved(~std::uint64_t{0}), WorkInterrupted);
    ended = true;
  });
  EXPECT_TRUE(comes([&] { return watch.progress().bytes > 0; }));
  EXPECT_FALSE(ended);
  stop = true;
  build.join();
  EXPECT_THROW(watch.moved(1), WorkInterrupted);
}

TEST(BuildWatch, ABuildGoesOnAfterTheRest) {
  const std::atomic<bool> stop{false};
  Rest rest(now_ticks() + us_to_ticks(60e6));
  const BuildWatch watch(stop, 0, rest);
  std::atomic<bool> goes_on{false};
  std::thread build([&] {
    EXPECT_FALSE(watch.interrupted());
    goes_on = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(goes_on);
  rest.end();
  build.join();
  EXPECT_TRUE(goes_on);
}

TEST(BuildWatch, ABuildThatRestsEndsWhenItIsToStop) {
  std::atomic<bool> stop{false};
  const Rest rest(now_ticks() + us_to_ticks(60e6));
  BuildWatch watch(stop, 0, rest);
  std::thread build([&] { EXPECT_THROW(watch.moved(1), WorkInterrupted); });
  stop = true;
  build.join();
}

}  // namespace
}  // namespace farvec::collection
