// What a call has done before it is refused is as durable as what others have done.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

namespace fs = std::filesystem;

struct Refusal {
  StatusCode code = StatusCode::ok;
  std::uint64_t done = 0;
};

/// A process that ends as a killed one does, in the moment in which its insert returns.
[[noreturn]] void insert_and_die(const fs::path& path, const CollectionAccess& access,
                                 const Batch& batch, int said) {
  try {
    Collection collection(path, access);
    Receipt receipt;
    Refusal refusal;
    refusal.code = code_of([&] {
      collection.insert({batch.rows(), batch.ids()}, within(0), receipt);
    });
    refusal.done = receipt.done;
    if (write(said, &refusal, sizeof(refusal)) == sizeof(refusal)) _exit(0);
  } catch (...) {
    // The status says that it failed.
  }
  _exit(1);
}

Refusal refusal_of(const fs::path& path, const CollectionAccess& access, const Batch& batch) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("no pipe");
  const pid_t process = fork();
  if (process < 0) throw Error("no process");
  if (process == 0) insert_and_die(path, access, batch, ends[1]);
  close(ends[1]);
  Refusal refusal;
  EXPECT_EQ(read(ends[0], &refusal, sizeof(refusal)), ssize_t{sizeof(refusal)});
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0);
  return refusal;
}

/// A later batch of a call has no room, and no time to wait for it.
TEST(RefusedInsert, KeepsTheBatchesThatItCounts) {
  const tests::TemporaryFolder folder;
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  access.most_frozen = 1;
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    const fs::path path = folder.file("set" + std::to_string(round));
    Collection::create(path, small_shape());
    Batch batch;
    for (std::uint64_t id = 0; id < 2000; ++id) batch.add(id, random_row(random));
    const Refusal refusal = refusal_of(path, access, batch);
    EXPECT_EQ(refusal.code, StatusCode::resource_exhausted);
    EXPECT_GT(refusal.done, 0u);
    EXPECT_EQ(size_of(*Collection(path, small_access()).view()).live, refusal.done);
  }
}

}  // namespace
}  // namespace farvec::collection
