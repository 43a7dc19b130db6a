#include "rpc/socket_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::rpc {
namespace {

TEST(SocketLock, HasOneHolderAndLeavesNothing) {
  tests::TemporaryFolder folder;
  SocketLock first(folder.file("s"));
  EXPECT_THROW(SocketLock(folder.file("s")), Error);
  SocketLock other(folder.file("t"));
  first.release();
  SocketLock second(folder.file("s"));
  first.release();  // lets go of nothing
  EXPECT_THROW(SocketLock(folder.file("s")), Error);
  second.release();
  other.release();
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(SocketLock, TakesOverTheFileOfADeadHolder) {
  tests::TemporaryFolder folder;
  std::ofstream(folder.file("s.lock")) << "";
  const SocketLock lock(folder.file("s"));
  EXPECT_THROW(SocketLock(folder.file("s")), Error);
}

TEST(SocketLock, NeverHasTwoHolders) {
  tests::TemporaryFolder folder;
  std::atomic<int> holders{0};
  std::atomic<int> taken{0};
  const auto contend = [&] {
    for (int i = 0; i < 2000; ++i) {
      try {
        const SocketLock lock(folder.file("s"));
        EXPECT_EQ(holders.fetch_add(1), 0);
        taken.fetch_add(1);
        holders.fetch_sub(1);
      } catch (const Error&) {
        continue;  // another thread holds it
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(contend);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken.load(), 0);
}

TEST(SocketLock, SaysWhichFileItCannotMake) {
  try {
    SocketLock lock("/nonexistent/socket");
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code, ENOENT);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/socket.lock"), std::string::npos);
  }
}

}  // namespace
}  // namespace farvec::rpc
