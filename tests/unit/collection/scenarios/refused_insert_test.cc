// What a call has done before it is refused is as durable as what others have done.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

namespace fs = std::filesystem;

/// A later batch of a call has no room, and no time to wait for it.
TEST(RefusedInsert, KeepsTheBatchesThatItCounts) {
  const tests::TemporaryFolder folder;
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  access.most_frozen = 1;
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    const fs::path path = folder.file("set" + std::to_string(round));
    const fs::path copy = path.string() + ".copy";
    Collection::create(path, small_shape());
    Collection collection(path, access);
    Batch batch;
    for (std::uint64_t id = 0; id < 2000; ++id) batch.add(id, random_row(random));
    Receipt receipt;
    const Status status = collection.insert(batch.rows(), batch.ids(), now_ticks(), receipt);
    fs::copy(path, copy, fs::copy_options::recursive);  // as a kill would leave it
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
    EXPECT_GT(receipt.done, 0u);
    EXPECT_EQ(size_of(*Collection(copy, small_access()).view()).live, receipt.done);
  }
}

}  // namespace
}  // namespace farvec::collection
