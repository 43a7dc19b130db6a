#include "base/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/unit/fifo.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::message_of;

class InputFileTest : public testing::Test {
 protected:
  std::string write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("f");
};

TEST_F(InputFileTest, ReadsAnywhereAndSaysWhereTheFileEnds) {
  const InputFile file(write("0123456789"));
  EXPECT_EQ(file.size(), 10u);
  std::array<char, 3> bytes{};
  file.read_at(7, bytes.data(), 3);
  EXPECT_EQ(std::string(bytes.data(), 3), "789");
  EXPECT_THAT(message_of([&] { file.read_at(8, bytes.data(), 3); }),
              AllOf(HasSubstr(path_), HasSubstr("offset 10"), HasSubstr("truncated")));
}

TEST_F(InputFileTest, DoesNotWaitForTheWriterOfAFifo) {
  EXPECT_THAT(tests::error_with_fifo(path_, [&] { InputFile{path_}; }),
              AllOf(HasSubstr(path_), HasSubstr("not a regular file")));
}

TEST_F(InputFileTest, RefusesFoldersAndDevices) {
  EXPECT_THAT(message_of([&] { InputFile{folder_.path().string()}; }), HasSubstr("not a regular"));
  EXPECT_THAT(message_of([] { InputFile{"/dev/null"}; }), HasSubstr("not a regular"));
  EXPECT_THAT(message_of([&] { InputFile{path_}; }), HasSubstr("No such file"));
}

TEST_F(InputFileTest, ReadsOfTheDescriptorMayWait) {
  const InputFile file(write("x"));
  EXPECT_EQ(fcntl(file.descriptor(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(InputFileTest, ATextHasABound) {
  EXPECT_EQ(read_text(write("abc"), 3, "a word"), "abc");
  EXPECT_EQ(read_text(write(""), 3, "a word"), "");
  EXPECT_THAT(message_of([&] { (void)read_text(write("abcd"), 3, "a word"); }),
              AllOf(HasSubstr("4 bytes"), HasSubstr("a word has at most 3")));
}

}  // namespace
}  // namespace farvec
