#include "base/lock_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>

#include "base/descriptor.h"
#include "base/file_names.h"
#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

class LockDescriptorTest : public testing::Test {
 protected:
  int opened() const { return open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
  bool is_free() const {
    const Descriptor other(opened());
    return try_lock(other.get()) == FileLock::taken;
  }

  /// A child that does that, says so, and lives until it is destroyed.
  class Child {
   public:
    explicit Child(const std::function<void()>& work) {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      process_ = fork();
      if (process_ == 0) {
        work();
        (void)!write(ends[1], "x", 1);
        for (;;) pause();
      }
      char said = 0;
      EXPECT_EQ(read(ends[0], &said, 1), 1);
      close(ends[0]);
      close(ends[1]);
    }
    ~Child() {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }

   private:
    pid_t process_ = 0;
  };

  tests::TemporaryFolder folder_;
};

TEST_F(LockDescriptorTest, GivesItsLockBackWhateverChildrenLive) {
  std::optional<LockDescriptor> held(opened());
  ASSERT_EQ(try_lock(held->get()), FileLock::taken);
  const Child child([] {});
  EXPECT_FALSE(is_free());
  held.reset();
  EXPECT_TRUE(is_free());
}

TEST_F(LockDescriptorTest, IsItsOwnersWhateverAChildDestroys) {
  std::optional<LockDescriptor> held(opened());
  ASSERT_EQ(try_lock(held->get()), FileLock::taken);
  const Child child([&] { held.reset(); });
  EXPECT_FALSE(is_free());
}

TEST_F(LockDescriptorTest, EndsWithItsProcessAlthoughAChildOfItLives) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    LockDescriptor held(opened());
    if (try_lock(held.get()) != FileLock::taken) _exit(1);
    // The child says so itself: it has closed its copy when fork() returns there.
    if (fork() == 0) {
      const pid_t child = getpid();
      (void)!write(ends[1], &child, sizeof(child));
    }
    for (;;) pause();
  }
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof(child)), sizeof(child));
  close(ends[0]);
  close(ends[1]);
  ASSERT_GT(child, 0);
  EXPECT_FALSE(is_free());
  // The owner is gone when it has been waited for. Its child lives on and has another parent.
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(is_free());
  kill(child, SIGKILL);
}

}  // namespace
}  // namespace farvec
