// Each file of a collection, damaged in turn: opening it names the file, and what is repaired
// opens.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class DamagedCollection : public ChangingCollection {
 protected:
  /// Segments, one of them with rows that are out, and a log of several groups.
  void fill() {
    CollectionAccess access = small_access();
    access.durability = wal::Durability::commit;
    access.merge = false;
    open(access);
    insert_ids(0, 50);
    collection_->flush();
    insert_ids(100, 130);
    erase_ids({3, 4});
    collection_->flush();
    insert_ids(200, 220);
    erase_ids({101});
    insert_ids(300, 310);
    insert_ids(310, 315);
    collection_.reset();
  }

  /// Both ways to open it say which file it is.
  void expect_refused(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    const std::string writer = tests::message_of([&] { open(); });
    EXPECT_NE(writer.find(name), std::string::npos) << name << ": " << writer;
    const std::string reader =
        tests::message_of([&] { const CollectionReader r(path(), small_segments()); });
    EXPECT_NE(reader.find(name), std::string::npos) << name << ": " << reader;
  }

  /// One bit at a time over the bytes from `begin` to `end`, and without its last byte.
  void expect_damage_is_found(const std::filesystem::path& file, std::size_t begin,
                              std::size_t end) {
    const std::string sound = bytes_of(file);
    ASSERT_LT(begin, std::min(end, sound.size())) << file;
    for (int i = 0; i < 6; ++i) {
      std::string damaged = sound;
      damaged[begin + random_.below(std::min(end, sound.size()) - begin)] ^= char(1 << (i % 8));
      write_bytes(file, damaged);
      expect_refused(file);
    }
    write_bytes(file, sound.substr(0, begin));
    expect_refused(file);
    std::filesystem::rename(file, file.string() + ".away");
    expect_refused(file);
    std::filesystem::rename(file.string() + ".away", file);
    write_bytes(file, sound);
    CollectionReader reader(path(), small_segments());
    expect_holds(reader.view(), rows_, random_);
  }

  /// The file in `folder` whose name has `part`.
  static std::filesystem::path file_with(const std::filesystem::path& folder,
                                         const std::string& part) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().find(part) != std::string::npos) return entry.path();
    }
    ADD_FAILURE() << "nothing like " << part << " in " << folder;
    return {};
  }
};

constexpr std::size_t kWhole = ~std::size_t{0};

TEST_F(DamagedCollection, NamesItsManifest) {
  fill();
  expect_damage_is_found(path() / layout::kCollectionFile, 0, kWhole);
}

TEST_F(DamagedCollection, NamesTheIdsOfASegment) {
  fill();
  expect_damage_is_found(segments() / layout::segment_folder_name(0) / layout::kSegmentIdsFile, 0,
                         kWhole);
}

TEST_F(DamagedCollection, NamesTheRowsThatAreOut) {
  fill();
  expect_damage_is_found(file_with(segments(), ".out."), 0, kWhole);
}

TEST_F(DamagedCollection, NamesTheManifestOfASegment) {
  fill();
  expect_damage_is_found(segments() / layout::segment_folder_name(1) / layout::kManifestFile, 0,
                         kWhole);
}

/// Records behind the damaged one prove that it was whole.
TEST_F(DamagedCollection, NamesTheLog) {
  fill();
  const std::vector<float>& row = rows_.at(205);
  const std::string needle(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path() / "log")) {
    const std::string sound = bytes_of(entry.path());
    const std::size_t at = sound.find(needle);
    if (at == std::string::npos) continue;
    ++found;
    std::string damaged = sound;
    damaged[at] ^= 4;
    write_bytes(entry.path(), damaged);
    expect_refused(entry.path());
    write_bytes(entry.path(), sound);
  }
  EXPECT_EQ(found, 1);
  open();
  expect_same();
}

}  // namespace
}  // namespace farvec::collection
