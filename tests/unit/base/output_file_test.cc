#include "base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <sstream>

#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::message_of;

class OutputFileTest : public testing::Test {
 protected:
  static void write(const std::string& path, const std::string& text) {
    OutputFile file(path, text.size());
    file.append(text.data(), text.size());
    file.commit();
  }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("out");
};

TEST_F(OutputFileTest, AppearsWhenItIsComplete) {
  {
    OutputFile file(path_, 5);
    file.append("12345", 5);
    file.overwrite(1, "x", 1);
    EXPECT_FALSE(fs::exists(path_));
    file.commit();
  }
  EXPECT_EQ(read(path_), "1x345");
  { OutputFile(path_, 3).append("new", 3); }
  EXPECT_EQ(read(path_), "1x345");
  write(path_, "new");
  EXPECT_EQ(read(path_), "new");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(OutputFileTest, TwoWritersOfOneNameDoNotMix) {
  OutputFile one(path_, 6);
  OutputFile other(path_, 6);
  one.append("111", 3);
  other.append("222", 3);
  one.append("111", 3);
  other.append("222", 3);
  one.commit();
  EXPECT_EQ(read(path_), "111111");
  other.commit();
  EXPECT_EQ(read(path_), "222222");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(OutputFileTest, WritesThroughLinks) {
  fs::create_directory(folder_.path() / "there");
  const std::string target = folder_.file("there/file");
  fs::create_symlink("there/file", path_);
  fs::create_symlink(path_, folder_.file("second"));
  for (const std::string& name : {path_, folder_.file("second")}) {
    write(name, name);  // the first time there is no such file yet
    EXPECT_EQ(read(target), name);
    EXPECT_TRUE(fs::is_symlink(fs::symlink_status(name)));
    EXPECT_FALSE(fs::is_symlink(fs::symlink_status(target)));
  }
  EXPECT_EQ(folder_.entries(), 3u);
  const std::string circle = folder_.file("circle");
  fs::create_symlink(circle, circle);
  EXPECT_THAT(message_of([&] { write(circle, "x"); }), HasSubstr("Too many levels"));
}

TEST_F(OutputFileTest, FollowsNoLinkThatSomebodyLaidBesideIt) {
  const std::string precious = folder_.file("precious");
  std::ofstream(precious) << "mine";
  fs::create_symlink(precious, path_ + ".partial");
  write(path_, "x");
  EXPECT_EQ(read(precious), "mine");
  EXPECT_EQ(read(path_), "x");
}

TEST_F(OutputFileTest, ADeviceStaysADevice) {
  fs::create_symlink("/dev/null", path_);
  write(path_, "x");
  EXPECT_EQ(fs::read_symlink(path_), "/dev/null");
  const std::string device = folder_.file("null");
  if (mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "making a device needs root";
  }
  const int usable = open(device.c_str(), O_WRONLY | O_CLOEXEC);
  if (usable < 0) GTEST_SKIP() << "devices cannot be opened in the temporary folder";
  close(usable);
  write(device, "x");
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(OutputFileTest, AFullDeviceIsReported) {
  fs::create_symlink("/dev/full", path_);
  EXPECT_THAT(
      message_of([&] { write(path_, "123"); }),
      AllOf(HasSubstr("needs 3 bytes"), HasSubstr("No space left"), Not(HasSubstr("removed"))));
}

TEST_F(OutputFileTest, AFifoHandsTheBytesToItsReader) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { write(path_, "x"); }), HasSubstr("start its reader first"));
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  write(path_, "to the reader");
  char text[32] = {};
  EXPECT_EQ(::read(reader, text, sizeof(text)), 13);
  EXPECT_STREQ(text, "to the reader");
  OutputFile file(path_, 3);
  EXPECT_THAT(message_of([&] { file.overwrite(0, "x", 1); }), HasSubstr("no regular file"));
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(OutputFileTest, ADescriptorGetsTheBytesAfterItsOwn) {
  for (const char* folder : {"/dev/fd", "/proc/self/fd"}) {
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::write(fd, "before ", 7), 7);
    write(std::string(folder) + "/" + std::to_string(fd), "inside");
    ASSERT_EQ(::write(fd, " after", 6), 6);
    close(fd);
    EXPECT_EQ(read(path_), "before inside after") << folder;
  }
}

TEST_F(OutputFileTest, RemovesWhatAKilledWriterLeft) {
  OutputFile living(path_, 1);
  OutputFile other(folder_.file("out2"), 1);
  for (const int signal : {SIGKILL, SIGINT}) {
    const pid_t child = fork();
    if (child == 0) {
      OutputFile file(path_, 3);
      file.append("123", 3);
      raise(signal);
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(folder_.entries(), 3u);
    const OutputFile next(path_, 1);
    EXPECT_EQ(folder_.entries(), 3u);
  }
  living.commit();
  other.commit();
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(OutputFileTest, WhatTookTheNameMeanwhileIsKept) {
  {
    OutputFile file(path_, 1);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    EXPECT_THAT(message_of([&] { file.commit(); }), HasSubstr("was not replaced"));
  }
  EXPECT_TRUE(fs::is_fifo(path_));
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(OutputFileTest, IsCheckedBeforeTheWork) {
  check_output(path_);
  check_output("/dev/null");
  EXPECT_EQ(folder_.entries(), 0u);
  EXPECT_THAT(message_of([&] { check_output(folder_.file("none/out")); }),
              HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { check_output(folder_.path()); }), HasSubstr("is a folder"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  check_output(path_);  // its reader may come later
}

}  // namespace
}  // namespace farvec
