// A disk that does not take what the log has for it.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "layout/collection/change_record.h"
#include "tests/unit/collection/changing_collection.h"

namespace {

std::atomic<bool> disk_stands_still{false};

}  // namespace

/// In place of the library's, for all of this process.
extern "C" int fdatasync(int fd) {
  while (disk_stands_still) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace farvec::collection {
namespace {

class CollectionOnASlowDisk : public ChangingCollection {
 protected:
  ~CollectionOnASlowDisk() override { disk_stands_still = false; }

  /// Of ids that are not there: a record of 1 MiB.
  StatusCode erase_for(double us) {
    std::vector<std::uint64_t> ids(layout::changes_per_record(0));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 1'000'000 + i;
    Receipt receipt;
    return code_of([&] { collection_->erase(ids, within(us), receipt); });
  }
};

TEST_F(CollectionOnASlowDisk, DeadlinesAreKeptAndOthersDoNotWait) {
  open();
  insert_ids(0, 10);
  disk_stands_still = true;
  StatusCode code = StatusCode::ok;
  for (int i = 0; i < 100 && code == StatusCode::ok; ++i) code = erase_for(200e3);
  ASSERT_EQ(code, StatusCode::deadline_exceeded);
  std::atomic<bool> ended{false};
  std::thread other([&] {
    EXPECT_EQ(erase_for(kPatienceUs), StatusCode::ok);
    ended = true;
  });
  // Whoever has less time does not wait for who has more.
  for (int i = 0; i < 3; ++i) {
    (void)collection_->state();
    EXPECT_EQ(erase_for(100e3), StatusCode::deadline_exceeded);
    EXPECT_FALSE(ended);
  }
  expect_same();
  EXPECT_FALSE(ended);
  disk_stands_still = false;
  other.join();
  EXPECT_EQ(erase_for(kPatienceUs), StatusCode::ok);
  insert_ids(10, 20);
  expect_same();
  open();
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
