#include "collection/state/collection_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "layout/collection/collection_manifest.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/file_size_limit.h"

namespace farvec::collection {
namespace {

class SavedFiles : public ChangingCollection {
 protected:
  SavedFiles() {
    open();
    insert_ids(0, 50);
    collection_->flush();
    collection_->settle();
    collection_.reset();
  }

  layout::CollectionManifest manifest() const { return layout::read_collection(path()); }
  /// What a process that opens the collection now sees as out of its segment.
  std::uint64_t out_now() const {
    return CollectionFiles(path(), manifest()).open(small_segments()).front().out->count();
  }
  /// The view with these rows out of its segment, at the version that it has.
  static View with_out(View view, std::vector<NodeId> rows) {
    view.segments.front().out = std::make_shared<const RowSet>(RowSet().with(rows));
    return view;
  }
  std::size_t out_files() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(segments())) {
      if (entry.is_regular_file()) ++files;
    }
    return files;
  }
};

/// Replaying the log may put rows out again that a manifest of that version has not out: in a
/// segment of rows that came after those that are replayed.
TEST_F(SavedFiles, AFileThatTheManifestNamesIsNotWrittenAgain) {
  CollectionFiles files(path(), manifest());
  const View view{.version = manifest().last_version,
                  .memtables = {},
                  .segments = files.open(small_segments())};
  files.save(with_out(view, {1}), manifest());
  EXPECT_EQ(out_now(), 1u);
  {
    // There is room for the file and not for the manifest after it: a kill between both leaves the
    // same.
    const tests::FileSizeLimit full(300);
    EXPECT_THROW(files.save(with_out(view, {1, 2}), manifest()), Error);
    EXPECT_EQ(out_files(), 2u);
    EXPECT_EQ(out_now(), 1u) << "the former manifest has its file";
    EXPECT_THROW(files.save(with_out(view, {1, 2, 3}), manifest()), Error);
    EXPECT_EQ(out_now(), 1u);
  }
  files.save(with_out(view, {1, 2, 3, 4}), manifest());
  EXPECT_EQ(out_now(), 4u);
  EXPECT_EQ(out_files(), 1u) << "files that no manifest names are removed";
}

/// The same of rows whose attributes were updated; both kinds of files live beside each other.
TEST_F(SavedFiles, UpdatesThatTheManifestNamesAreNotWrittenAgain) {
  layout::CollectionManifest attributed = manifest();
  attributed.schema = layout::parse_schema("a: i64");
  CollectionFiles files(path(), attributed);
  const View view{.version = attributed.last_version,
                  .memtables = {},
                  .segments = files.open(small_segments())};
  const auto updated = [&](View changed, std::vector<NodeId> rows) {
    layout::Tuples tuples;
    for (const NodeId row : rows) {
      tuples.append(attributed.schema, std::vector<layout::Value>{std::int64_t{row}});
    }
    changed.segments.front().updates = std::make_shared<const layout::UpdatedTuples>(
        layout::UpdatedTuples().with(rows, tuples.view()));
    return changed;
  };
  const auto updated_now = [&] {
    return CollectionFiles(path(), manifest()).open(small_segments()).front().updates->rows();
  };
  files.save(updated(view, {1}), attributed);
  EXPECT_EQ(updated_now(), (std::vector<NodeId>{1}));
  {
    const tests::FileSizeLimit full(300);
    EXPECT_THROW(files.save(updated(view, {1, 2}), attributed), Error);
    EXPECT_EQ(out_files(), 2u);
    EXPECT_EQ(updated_now(), (std::vector<NodeId>{1})) << "the former manifest has its file";
  }
  const View both = updated(with_out(view, {5}), {1, 3});
  files.save(both, attributed);
  EXPECT_EQ(updated_now(), (std::vector<NodeId>{1, 3}));
  EXPECT_EQ(out_now(), 1u);
  EXPECT_EQ(out_files(), 2u) << "one of each kind, and none that no manifest names";
  View more = with_out(both, {5, 6});
  files.save(more, attributed);
  EXPECT_EQ(updated_now(), (std::vector<NodeId>{1, 3}));
  EXPECT_EQ(out_now(), 2u);
  EXPECT_EQ(out_files(), 2u);
  more.segments.front().updates = no_updates();
  files.save(more, attributed);
  EXPECT_EQ(out_files(), 1u);
}

}  // namespace
}  // namespace farvec::collection
