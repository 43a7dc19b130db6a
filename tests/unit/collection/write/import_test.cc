#include "collection/write/import.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "collection/build/segment_builder.h"
#include "tests/unit/collection/write/opened_parts.h"

namespace farvec::collection {
namespace {

class ImportTest : public OpenedParts {
 protected:
  std::shared_ptr<Segment> segment_of(const Batch& batch) {
    const Writer::Lock lock = writer_->lock();
    const std::uint64_t number = manifests_->take_number();
    return build_segment({batch.rows(), batch.ids()}, {.folder = manifests_->segment_folder(number),
                                                       .number = number,
                                                       .name = "set",
                                                       .manifest = &opened_.shape,
                                                       .schema = writer_->view()->schema,
                                                       .access = opened_.access.segments,
                                                       .followers = nullptr,
                                                       .threads = 1,
                                                       .watch = &watch_});
  }

  std::atomic<bool> stop_{false};
  BuildWatch watch_{stop_, 0};
};

TEST_F(ImportTest, EntersOnce) {
  open_writer();
  ASSERT_TRUE(insert(0, 4).ok());
  Import first(segment_of(rows(100, 140)));
  EXPECT_FALSE(first.is_in());
  EXPECT_GT(first.bytes(), 40 * kSmallDimension * sizeof(float));
  Import second(segment_of(rows(130, 160)));
  const Writer::Lock lock = writer_->lock();
  first.enter(*writer_);
  EXPECT_TRUE(first.is_in());
  EXPECT_EQ(first.receipt().done, 40u);
  EXPECT_EQ(first.receipt().replaced, 0u);
  EXPECT_EQ(first.receipt().version, 44u);
  second.enter(*writer_);
  EXPECT_EQ(second.receipt().done, 30u);
  EXPECT_EQ(second.receipt().replaced, 10u);
  EXPECT_EQ(second.receipt().version, 74u);
  EXPECT_EQ(writer_->view()->live(), 64u);
  EXPECT_EQ(writer_->version(), 74u);
}

}  // namespace
}  // namespace farvec::collection
