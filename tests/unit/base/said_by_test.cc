#include "base/said_by.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

namespace farvec {
namespace {

namespace fs = std::filesystem;

TEST(SaidBy, TellsThePathAndTheReason) {
  const std::string name(300, 'n');
  try {
    (void)fs::exists(fs::symlink_status(name));
    FAIL() << "a name of 300 characters was taken";
  } catch (const std::exception& error) {
    EXPECT_EQ(said_by(error), "'" + name + "': File name too long (errno 36)");
  }
}

TEST(SaidBy, IsTheMessageOfOthers) {
  EXPECT_EQ(said_by(std::runtime_error("what it says")), "what it says");
  EXPECT_EQ(said_by(fs::filesystem_error("copy", std::make_error_code(std::errc::io_error))),
            "Input/output error");
}

}  // namespace
}  // namespace farvec
