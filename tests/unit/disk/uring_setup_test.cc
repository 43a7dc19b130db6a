#include "disk/uring_setup.h"

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <thread>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

/// From now on, for this thread alone.
bool forbid_rings(unsigned error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the system call
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// What opening an engine says where the kernel answers io_uring_setup with `error`.
std::string message_of(unsigned error, const std::string& path) {
  std::string message;
  std::thread([&] {
    if (!forbid_rings(error)) return;
    try {
      open_disk(open_files({path}), 4);
    } catch (const SystemError& caught) {
      EXPECT_EQ(caught.code, static_cast<int>(error));
      message = caught.what();
    }
  }).join();
  return message;
}

TEST_F(DiskTest, SaysWhatForbidsIoUring) {
  make_file(1);
  for (const unsigned error : {EPERM, ENOSYS}) {
    const std::string message = message_of(error, path());
    if (message.empty()) GTEST_SKIP() << "no seccomp filter can be set here";
    EXPECT_THAT(message, testing::HasSubstr("kernel.io_uring_disabled"));
    EXPECT_THAT(message, testing::HasSubstr("seccomp"));
  }
}

TEST_F(DiskTest, NamesTheLimitOfLockedMemory) {
  make_file(1);
  const std::string message = message_of(ENOMEM, path());
  if (message.empty()) GTEST_SKIP() << "no seccomp filter can be set here";
  EXPECT_THAT(message, testing::HasSubstr("ulimit -l"));
}

}  // namespace
}  // namespace farvec::disk
