#include "cli/collection/background_watch.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <string>

namespace farvec::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

/// What is said while it looks so often; the looks are numbered from 0.
std::string told(int looks, bool quiet,
                 const std::function<collection::BuildProgress(std::uint64_t)>& look) {
  std::atomic<std::uint64_t> seen = 0;  // seq_cst: no hot path
  CaptureStderr();
  {
    const BackgroundWatch watch(
        [&] {
          const std::uint64_t number = seen++;
          seen.notify_all();
          return look(number);
        },
        quiet);
    for (std::uint64_t now = 0; now < static_cast<std::uint64_t>(looks); now = seen) seen.wait(now);
  }
  return GetCapturedStderr();
}

/// Nothing is said of the first second, which is five looks.
constexpr int kLong = 9;

TEST(BackgroundWatch, ShowsTheSegmentThatIsMade) {
  const std::string said = told(kLong, false, [](std::uint64_t look) {
    return collection::BuildProgress{.rows = 100, .linked = 10 * look};
  });
  EXPECT_THAT(said, HasSubstr("rows of a segment: "));
  EXPECT_THAT(said, HasSubstr("/100 "));
  EXPECT_THAT(said, HasSubstr(" s left\n"));
}

TEST(BackgroundWatch, AnotherSegmentBeginsAnew) {
  const std::string said = told(2 * kLong, false, [](std::uint64_t look) {
    return look < kLong ? collection::BuildProgress{.rows = 100, .linked = 10 * look}
                        : collection::BuildProgress{.rows = 200, .linked = look - kLong};
  });
  EXPECT_THAT(said, HasSubstr("rows of a segment: 80 in "));
  EXPECT_THAT(said, Not(HasSubstr("rows of a segment: 100 in ")));
}

TEST(BackgroundWatch, SaysNothingOfNothing) {
  EXPECT_EQ(told(2, false, [](std::uint64_t) { return collection::BuildProgress{}; }), "");
}

TEST(BackgroundWatch, IsSilentWhenQuiet) {
  EXPECT_EQ(told(kLong, true,
                 [](std::uint64_t look) {
                   return collection::BuildProgress{.rows = 100, .linked = 10 * look};
                 }),
            "");
}

}  // namespace
}  // namespace farvec::cli
