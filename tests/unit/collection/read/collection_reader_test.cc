// Readers that begin while a writer imports rows, which its log does not have.
#include "collection/read/collection_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;

/// A folder, where something happens each time when the segments have been opened and the log has
/// not.
class BusyFolder final : public CollectionSource {
 public:
  BusyFolder(const std::filesystem::path& folder, std::function<void()> meanwhile)
      : source_(folder_collection(folder)), meanwhile_(std::move(meanwhile)) {}

  const std::string& name() const override { return source_->name(); }
  layout::CollectionManifest manifest() override {
    if (!stale_) return newest_ = source_->manifest();
    return newest_;
  }
  std::vector<View::Bulk> open(const SegmentAccess& access, const View& known,
                               const Segment::OnChunk& on_chunk) override {
    return source_->open(access, known, on_chunk);
  }
  std::shared_ptr<wal::LogSource> log(const LogNodes* nodes) override {
    meanwhile_();
    return source_->log(nodes);
  }
  std::chrono::milliseconds delay() const override {
    return std::chrono::milliseconds(stale_ ? 20 : 0);
  }

  /// From now on no newer manifest is found.
  void stay_behind() { stale_ = true; }

 private:
  const std::shared_ptr<CollectionSource> source_;
  const std::function<void()> meanwhile_;
  layout::CollectionManifest newest_;
  bool stale_ = false;
};

class ImportedMeanwhile : public ChangingCollection {
 protected:
  void open_durable() {
    CollectionAccess access = small_access();
    access.durability = wal::Durability::commit;
    access.merge = false;  // or a merge would write the manifest
    open(access);
  }
  void import_and_change(std::uint64_t begin) {
    const Batch batch = new_rows(begin, begin + 40);
    (void)collection_->import({batch.rows(), batch.ids()});
    erase_ids({begin, begin + 1});
  }
  /// Rows are in, and no manifest says so.
  void import_without_manifest(const Batch& batch) {
    const std::filesystem::path manifest = path() / layout::kCollectionFile;
    std::filesystem::rename(manifest, path() / "away");
    std::filesystem::create_directory(manifest);
    EXPECT_THROW((void)collection_->import({batch.rows(), batch.ids()}), Error);
    std::filesystem::remove(manifest);
    std::filesystem::rename(path() / "away", manifest);
  }
  ViewPointer read() const { return CollectionReader(path(), small_segments()).view(); }
};

TEST_F(ImportedMeanwhile, RowsAreThereBeforeLaterChanges) {
  open_durable();
  insert_ids(0, 30);
  int times = 0;
  BusyFolder source(path(), [&] {
    if (times++ < 3) import_and_change(static_cast<std::uint64_t>(10 * times));
  });
  const CollectionReader reader(source, small_segments());
  EXPECT_EQ(times, 4);
  expect_holds(reader.view(), rows_, random_);
}

TEST_F(ImportedMeanwhile, WhoFindsNoNewerManifestSaysSo) {
  open_durable();
  insert_ids(0, 30);
  std::unique_ptr<BusyFolder> source;
  source = std::make_unique<BusyFolder>(path(), [&] {
    source->stay_behind();
    if (rows_.size() == 30) import_and_change(20);
  });
  EXPECT_THAT(
      tests::message_of([&] { const CollectionReader reader(*source, small_segments()); }),
      HasSubstr("goes on with change 71 and the segments that were found hold those up to 30"));
}

/// Nobody was told that they are there.
TEST_F(ImportedMeanwhile, RowsThatNoManifestNamedAreNotThere) {
  open_durable();
  insert_ids(0, 30);
  for (std::uint64_t id = 1000; id < 3000; id += 1000) {
    collection_->flush();
    Batch batch;
    for (std::uint64_t i = 0; i < 40; ++i) batch.add(id + i, random_row(random_));
    import_without_manifest(batch);
    insert_ids(id - 900, id - 880);
    erase_ids({id - 895});
    expect_holds(read(), rows_, random_);
    // As after a kill: what is there now was there before the background tries again.
    collection_.reset();
    expect_holds(read(), rows_, random_);
    open_durable();
    expect_same();
    // A reader that finds a manifest that may be old needs one that has the missing versions.
    const std::uint64_t version = collection_->view()->version;
    EXPECT_TRUE(comes([&] { return layout::read_collection(path()).last_version == version; }));
  }
}

}  // namespace
}  // namespace farvec::collection
