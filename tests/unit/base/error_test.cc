#include "base/error.h"

#include <gmock/gmock.h>

#include <cerrno>

namespace farvec {
namespace {

TEST(Error, FormatsItsMessage) {
  EXPECT_STREQ(Error("{} of {}", 1, "two").what(), "1 of two");
}

TEST(SystemError, EndsWithErrnoAndCarriesIt) {
  const SystemError error(ENOENT, "opening '{}'", "x");
  EXPECT_STREQ(error.what(), "opening 'x': No such file or directory (errno 2)");
  EXPECT_EQ(error.code, ENOENT);
}

}  // namespace
}  // namespace farvec
