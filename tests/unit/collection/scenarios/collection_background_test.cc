// What the background may not do to others: keep them waiting, or let things grow without bound.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "layout/index/index_directory.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

class CollectionBackground : public ChangingCollection {
 protected:
  static CollectionAccess without_merges() {
    CollectionAccess access = small_access();
    access.merge = false;
    return access;
  }
  std::ptrdiff_t names_in_segments() const {
    return std::distance(std::filesystem::directory_iterator(segments()), {});
  }
  wal::Position saved_log_position() const { return layout::read_collection(path()).log_position; }
  /// So that it is found when they are read.
  void damage_records(std::uint64_t segment) const {
    const layout::IndexDirectory directory =
        layout::IndexDirectory::open(segments() / layout::segment_folder_name(segment));
    std::uintmax_t most = 0;
    std::filesystem::path largest;
    for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
      if (file.file_size() > most && file.path().filename().string().find("records") == 0) {
        most = file.file_size();
        largest = file.path();
      }
    }
    ASSERT_GT(most, 100u);
    std::fstream bytes(largest, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(most - 60));
    bytes.write("damaged by a test", 17);
  }
};

/// Nothing is built meanwhile.
TEST_F(CollectionBackground, FlushesThatInterruptionMakeNoMoreMemtablesThanThereMayBe) {
  open();
  const std::size_t most = small_access().most_frozen + 1;
  {
    const tests::FileSizeLimit full(0);
    for (std::uint64_t id = 0; id < 30; ++id) {
      insert_ids(id, id + 1);
      (void)tests::message_of([&] { (void)collection_->flush([] { return true; }); });
      ASSERT_LE(collection_->view()->memtables.size(), most) << id;
    }
    expect_same();
  }
  // The attempt that is under way fails still, and another one follows it.
  collection_->flush();
  collection_->settle();
  expect_same();
}

TEST_F(CollectionBackground, AMergeThatFailsForGoodDoesNotKeepTheLog) {
  constexpr std::uint64_t kIds = 1000;
  open(without_merges());
  for (std::uint64_t id = 0; id < 80; id += 40) {
    insert_ids(id, id + 40);
    collection_->flush();
  }
  damage_records(0);
  CollectionAccess access = small_access();
  access.most_log_bytes = 16 << 10;
  open(access);
  EXPECT_NE(tests::message_of([&] { collection_->compact(); }), "");
  const wal::Position before = saved_log_position();
  std::vector<std::uint64_t> ids(kIds);
  for (int i = 0; i < 10; ++i) {
    for (std::uint64_t& id : ids) id = 1'000'000 + random_.below(1'000'000);
    erase_ids({ids.begin(), ids.end()});
  }
  EXPECT_TRUE(comes([&] { return saved_log_position() > before; }, 20e6));
  insert_ids(100, 140);
  const std::uint64_t built = collection_->state().built;
  const wal::Position erased = saved_log_position();
  for (int i = 0; i < 10; ++i) erase_ids(ids);
  // What is fresh becomes a segment first.
  EXPECT_TRUE(comes(
      [&] { return saved_log_position() > erased && collection_->state().built > built; }, 20e6));
  EXPECT_NE(collection_->state().failure, "") << "the merge fails still";
  EXPECT_EQ(size_of(*collection_->view()).live, rows_.size());
}

/// Files that make the end of the folder they are in take long, of which some tell how far it is.
class SlowEnd {
 public:
  explicit SlowEnd(const std::filesystem::path& folder) {
    constexpr int kFiles = 20'000;
    for (int i = 0; i < kFiles; ++i) {
      // As a writer that was killed leaves them: farvec's, and so removed with the segment.
      const std::filesystem::path file = folder / fmt::format("ids.bin.{:016x}.partial", i);
      std::ofstream(file).flush();
      if (i % 300 == 0) watched_.push_back(std::make_unique<InputFile>(file));
    }
  }
  bool has_begun() const { return std::any_of(watched_.begin(), watched_.end(), is_gone); }
  bool has_ended() const { return std::all_of(watched_.begin(), watched_.end(), is_gone); }

 private:
  static bool is_gone(const std::unique_ptr<InputFile>& file) {
    struct stat now {};
    return fstat(file->descriptor(), &now) == 0 && now.st_nlink == 0;
  }
  std::vector<std::unique_ptr<InputFile>> watched_;
};

TEST_F(CollectionBackground, NobodyWaitsForTheEndOfASegment) {
  open(without_merges());
  for (std::uint64_t id = 0; id < 80; id += 40) {
    insert_ids(id, id + 40);
    collection_->flush();
  }
  const SlowEnd end(segments() / layout::segment_folder_name(0));
  std::atomic<bool> stop{false};
  bool answered = false;
  std::thread other([&] {
    while (!stop) {
      const bool begun = end.has_begun();
      (void)collection_->state();
      if (begun && !end.has_ended()) answered = true;
    }
  });
  collection_->compact();
  EXPECT_TRUE(comes([&] { return names_in_segments() == 1; }));
  stop = true;
  other.join();
  EXPECT_TRUE(answered) << "while the files were removed";
}

}  // namespace
}  // namespace farvec::collection
