// Collections whose segments have fewer bits than the rows, and second copies of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/status_error.h"
#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/segment/segment_folder.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/message_of.h"

namespace farvec::collection::of_reduced {
namespace {

using layout::LayoutKind;
using layout::ReductionWish;
using ::testing::AllOf;
using ::testing::HasSubstr;

const ReductionWish kBits{.type = ElementType::b1};
const ReductionWish kMeans{.type = ElementType::b1, .rule = BitRule::mean};
const ReductionWish kMedians{
    .type = ElementType::b1, .bits_metric = Metric::jaccard, .rule = BitRule::median};
const ReductionWish kBytes{.type = ElementType::i8};
const ReductionWish kHalves{.type = ElementType::f16};

layout::CollectionManifest graph_shape(LayoutKind layout, Metric metric = Metric::l2) {
  layout::CollectionManifest shape = small_shape(metric);
  shape.options.layout = layout;
  return shape;
}

struct Case {
  const char* name;
  layout::CollectionManifest shape;
  const char* tier = "dram";
  const char* second_tier = "";
};

std::ostream& operator<<(std::ostream& out, const Case& which) {
  return out << which.name;
}

std::vector<Case> cases() {
  using layout::ClusterLayoutKind;
  return {
      {"bits", reduced(graph_shape(LayoutKind::csr), kBits)},
      {"bits_by_mean_on_ssd", reduced(graph_shape(LayoutKind::csr), kMeans), "dram", "ssd"},
      {"bits_by_median", reduced(graph_shape(LayoutKind::packed), kMedians), "emulated:rdma"},
      {"bits_for_products", reduced(graph_shape(LayoutKind::packed, Metric::inner_product), kMeans),
       "ssd"},
      {"bits_in_pages", reduced(small_page_shape(), kMeans), "ssd"},
      {"bytes", reduced(graph_shape(LayoutKind::inlined), kBytes), "emulated:rdma", "ssd"},
      {"bytes_for_products", reduced(small_shape(Metric::inner_product), kBytes)},
      {"halves_in_pages", reduced(small_page_shape(), kHalves), "ssd"},
      {"clusters_of_bits", reduced(small_cluster_shape(), kBits)},
      {"clusters_of_bits_by_mean", reduced(small_cluster_shape(ClusterLayoutKind::coupled), kMeans),
       "emulated:rdma", "emulated:ssd"},
      {"clusters_of_bytes", reduced(small_cluster_shape(ClusterLayoutKind::coded), kBytes), "ssd"},
      {"clusters_of_halves_for_products",
       reduced(small_cluster_shape(ClusterLayoutKind::decoupled, Metric::inner_product), kHalves)},
  };
}

class ReducedSegmentsBase : public ChangingCollection {
 protected:
  explicit ReducedSegmentsBase(const layout::CollectionManifest& shape)
      : ChangingCollection(shape), metric_(shape.metric) {}

  const View::Bulk& only() const {
    EXPECT_EQ(collection_->view()->segments.size(), 1u);
    return collection_->view()->segments.front();
  }
  std::filesystem::path second_copy(std::uint64_t segment) const {
    return segments() / layout::segment_folder_name(segment) / layout::kSecondCopyFile;
  }
  void expect_found() { expect_holds(collection_->view(), rows_, random_, metric_); }
  /// Each row comes back as it went in.
  void expect_rows() const {
    for (const auto& [id, row] : rows_) {
      const FoundRows found = collection_->get(std::array{id}, within(kPatienceUs));
      ASSERT_EQ(found.rows.size(), kSmallDimension * sizeof(float)) << id;
      EXPECT_EQ(std::memcmp(found.rows.data(), row.data(), found.rows.size()), 0) << id;
    }
  }

 private:
  const Metric metric_;
};

class EachKindOfReducedSegments : public ReducedSegmentsBase,
                                  public ::testing::WithParamInterface<Case> {
 protected:
  EachKindOfReducedSegments() : ReducedSegmentsBase(GetParam().shape) {}

  static SegmentAccess searched() {
    SegmentAccess segments = small_segments(GetParam().tier);
    if (*GetParam().second_tier != 0) set_second_tier(segments, GetParam().second_tier);
    return segments;
  }
  static CollectionAccess access() {
    CollectionAccess access = small_access(GetParam().tier);
    access.segments = searched();
    access.link = true;
    return access;
  }
};

TEST_P(EachKindOfReducedSegments, HoldWhatTheyShouldWhateverHappens) {
  open(access());
  expect_found();  // an empty one
  for (int i = 0; i < 60; ++i) {
    change_somehow(access());
    if (i % 4 == 0) expect_found();
  }
  collection_->flush();
  expect_found();
  collection_->compact();
  expect_found();
  expect_rows();
  EXPECT_TRUE(only().segment->manifest().second_copy);
  only().segment->folder().directory().verify({.quiet = true});
  only().segment->folder().second()->verify();
  open(access());
  expect_found();
  expect_rows();
  const CollectionReader reader(path(), searched());
  expect_holds(reader.view(), rows_, random_, GetParam().shape.metric);
}

TEST_P(EachKindOfReducedSegments, AFollowerSeesEveryChange) {
  CollectionAccess followed = access();
  followed.durability = wal::Durability::commit;
  open(followed);
  const CollectionFollower follower(
      path(), searched(), {.poll_us = 500, .manifest_us = 2'000, .retry_us = 2'000, .link = true});
  for (int i = 0; i < 12; ++i) {
    insert_ids(30 * static_cast<std::uint64_t>(i), 30 * static_cast<std::uint64_t>(i) + 40);
    if (i % 3 == 1) collection_->flush();
    if (i % 5 == 4) collection_->compact();
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }))
        << follower.state().failure;
    expect_holds(follower.view(), rows_, random_, GetParam().shape.metric);
  }
}

TEST_P(EachKindOfReducedSegments, RowsThatAreImportedAreThere) {
  open(access());
  const Batch many = new_rows(0, 300);
  EXPECT_EQ(collection_->import({many.rows(), many.ids()}).done, 300u);
  expect_found();
  insert_ids(290, 330);
  expect_found();
  expect_rows();
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachKindOfReducedSegments, ::testing::ValuesIn(cases()),
                         [](const auto& which) { return std::string(which.param.name); });

class ReducedSegments : public ReducedSegmentsBase {
 protected:
  ReducedSegments() : ReducedSegmentsBase(reduced(small_shape(), kMeans)) {}

  static CollectionAccess unmerged() {
    CollectionAccess access = small_access();
    access.merge = false;
    return access;
  }

  /// A segment of fifty rows.
  void fill() {
    open(unmerged());
    insert_ids(0, 50);
    collection_->flush();
  }
  void flip_bit(const std::filesystem::path& file, std::uint64_t at) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int byte = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(byte ^ 4));
  }
  /// Both ways to open it say which file it is.
  void expect_refused(const char* why) {
    const auto matches = AllOf(HasSubstr("second.bin"), HasSubstr(why));
    EXPECT_THAT(tests::message_of([&] { open(); }), matches);
    EXPECT_THAT(tests::message_of([&] { CollectionReader(path(), small_segments()); }), matches);
  }
};

/// A list that is shorter than the rows reads as many of them as it is long.
TEST_F(ReducedSegments, ReadOneRowForEachCandidate) {
  open(unmerged());
  const Batch many = new_rows(0, 200);
  (void)collection_->import({many.rows(), many.ids()});
  const ViewPointer view = collection_->view();
  const search::QueryCounts all = search_view(view, random_row(random_), 5, kAll).counts;
  EXPECT_EQ(all.rerank_reads, 200u);
  const search::QueryCounts few = search_view(view, random_row(random_), 5, 20).counts;
  EXPECT_EQ(few.rerank_reads, 20u);
  const search::QueryCounts exact =
      search_view(view, random_row(random_), 5, 20, {.exact = true}).counts;
  EXPECT_EQ(exact.rerank_reads, 200u);
  EXPECT_EQ(exact.hops, 0u);
}

TEST_F(ReducedSegments, EqualRowsAreAllFound) {
  open(unmerged());
  Batch equal;
  for (std::uint64_t id = 0; id < 120; ++id) {
    rows_[id] = std::vector<float>(kSmallDimension, id % 2 == 0 ? 0.5F : 0.0F);
    equal.add(id, rows_[id]);
  }
  insert(*collection_, equal);
  collection_->flush();
  expect_found();
  collection_->compact();
  expect_found();
}

TEST_F(ReducedSegments, ACopyThatIsMissingOrShortOrOfAnotherSegmentIsRefusedByName) {
  fill();
  insert_ids(100, 150);
  collection_->flush();
  collection_.reset();
  const std::filesystem::path file = second_copy(0);
  const std::filesystem::path away = path() / "away";
  std::filesystem::rename(file, away);
  expect_refused("is missing");
  std::filesystem::copy_file(second_copy(1), file);
  expect_refused("of another index");
  std::filesystem::copy_file(away, file, std::filesystem::copy_options::overwrite_existing);
  flip_bit(file, 20);
  expect_refused("damaged");
  std::filesystem::copy_file(away, file, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8);
  expect_refused("cut short");
  std::filesystem::copy_file(away, file, std::filesystem::copy_options::overwrite_existing);
  open();
  expect_found();
}

/// It is found where it is read: by a search from a tier, by get(), and by a merge.
TEST_F(ReducedSegments, ADamagedRowIsFoundWhereItIsRead) {
  fill();
  collection_.reset();
  const std::filesystem::path file = second_copy(0);
  flip_bit(file, std::filesystem::file_size(file) - 32);  // of the last row
  CollectionAccess access = unmerged();
  access.segments = small_segments("ssd");
  open(access);
  std::array<std::uint64_t, 3> ids{};
  std::array<float, 3> distances{};
  const std::vector<float> query = random_row(random_);
  search::TaskListFeed feed(1, kPatienceUs);
  search::SearchTask& task = feed.tasks().front();
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.parameters =
      search::SearchParameters::make(3, search::GraphChoice{.list = kAll}).value();
  task.answer.ids = ids.data();
  task.answer.distances = distances.data();
  make_collection_core([&] { return collection_->view(); }, 3)->run(feed);
  EXPECT_EQ(task.answer.status.code(), StatusCode::data_loss);
  const auto names_it = AllOf(HasSubstr("second.bin"), HasSubstr("row 49"));
  const std::shared_ptr<Segment> damaged = only().segment;
  const std::uint64_t last = damaged->ids().of(49);
  const auto get = [&] { (void)collection_->get(std::array{last}, within(kPatienceUs)); };
  EXPECT_THAT(tests::message_of(get), names_it);
  insert_ids(60, 65);
  EXPECT_THAT(tests::message_of([&] { collection_->compact(); }), names_it);
  EXPECT_THAT(tests::message_of([&] { damaged->folder().second()->verify(); }), names_it);
  // A tier that loads the copy says so at once.
  EXPECT_THAT(tests::message_of([&] { CollectionReader(path(), small_segments()); }), names_it);
}

TEST_F(ReducedSegments, CandidatesAreRefusedByName) {
  fill();
  const std::vector<float> query = random_row(random_);
  std::array<std::uint64_t, 1> ids{};
  std::array<float, 1> distances{};
  search::TaskListFeed feed(1, kPatienceUs);
  search::SearchTask& task = feed.tasks().front();
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.candidates = true;
  task.answer.ids = ids.data();
  task.answer.distances = distances.data();
  make_collection_core([&] { return collection_->view(); }, 3)->run(feed);
  EXPECT_EQ(task.answer.status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(task.answer.status.message(), HasSubstr("candidates"));
}

TEST_F(ReducedSegments, AnotherSegmentInTheirPlaceIsRefused) {
  fill();
  collection_.reset();
  const std::filesystem::path other = folder_.path() / "other";
  layout::CollectionManifest shape = small_shape();
  shape.options.memtable_rows = 50;
  Collection::create(other, shape);
  {
    Collection plain(other, unmerged());
    Rows none;
    Random random(3);
    Batch batch;
    for (std::uint64_t id = 0; id < 50; ++id) batch.add(id, random_row(random));
    insert(plain, batch);
    plain.flush();
  }
  const std::filesystem::path folder = segments() / layout::segment_folder_name(0);
  std::filesystem::rename(folder, folder_.path() / "away");
  std::filesystem::copy(other / layout::kCollectionSegmentsFolder / layout::segment_folder_name(0),
                        folder, std::filesystem::copy_options::recursive);
  EXPECT_THAT(tests::message_of([&] { open(); }),
              AllOf(HasSubstr("000000000000"), HasSubstr("no second copy")));
}

class ReducedTiers : public ::testing::Test {};

TEST_F(ReducedTiers, OfOneFileOrAnotherMachineAreRefusedByName) {
  SegmentAccess access = small_segments();
  for (const char* tier : {"verbs:127.0.0.1:1", "file:/tmp/x", "ssd:/tmp/x"}) {
    EXPECT_THAT(tests::message_of([&] { set_second_tier(access, tier); }), HasSubstr(tier));
  }
}

/// Creates a collection, and inserts one row.
std::string message_of_row(const layout::CollectionManifest& shape, const std::vector<float>& row) {
  const tests::TemporaryFolder folder;
  Collection::create(folder.path() / "set", shape);
  Collection collection(folder.path() / "set", small_access());
  Batch batch;
  batch.add(7, row);
  return tests::message_of([&] { (void)insert(collection, batch); });
}

TEST(ReducedRows, ThatTheSegmentsCannotHaveAreRefusedAsTheyCome) {
  std::vector<float> row(kSmallDimension, 1);
  row[2] = -0.5F;
  const auto bytes = reduced(small_shape(), {.type = ElementType::u8});
  EXPECT_THAT(message_of_row(bytes, row), AllOf(HasSubstr("id 7"), HasSubstr("below 0")));
  EXPECT_EQ(message_of_row(reduced(small_shape(), kBytes), row), "");
  row[2] = 70'000;
  const auto halves = reduced(small_shape(), {.type = ElementType::b1, .second = ElementType::f16});
  EXPECT_THAT(message_of_row(halves, row), AllOf(HasSubstr("id 7"), HasSubstr("beyond 65504")));
  EXPECT_EQ(message_of_row(bytes, row), "");
  row[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of_row(halves, row), HasSubstr("NaN"));
}

/// Rounding cannot tell them apart, or would need a factor that no float is.
TEST(ReducedRows, OfAnyKindBecomeASegment) {
  for (const float value : {0.0F, 1e-42F}) {
    for (const ElementType type :
         {ElementType::i8, ElementType::u8, ElementType::f16, ElementType::b1}) {
      const tests::TemporaryFolder folder;
      const std::filesystem::path path = folder.path() / "set";
      Collection::create(path, reduced(small_shape(), {.type = type}));
      Collection collection(path, small_access());
      Rows rows;
      Batch batch;
      for (std::uint64_t id = 0; id < 60; ++id) {
        rows[id] = std::vector<float>(kSmallDimension, value);
        batch.add(id, rows[id]);
      }
      insert(collection, batch);
      collection.compact();
      Random random(1);
      expect_holds(collection.view(), rows, random);
    }
  }
}

TEST(ReducedShape, ThatCannotBeIsRefusedByName) {
  const auto refused = [](const layout::CollectionManifest& shape) {
    const tests::TemporaryFolder folder;
    return tests::message_of([&] { Collection::create(folder.path() / "set", shape); });
  };
  EXPECT_THAT(refused(reduced(small_shape(), {.type = ElementType::f32})), HasSubstr("store"));
  EXPECT_THAT(refused(reduced(small_shape(), {.bits_metric = Metric::l2})),
              AllOf(HasSubstr("store"), HasSubstr("hamming or jaccard")));
  EXPECT_THAT(refused(reduced(small_shape(), {.second = ElementType::u8})), HasSubstr("store"));
  layout::CollectionManifest coded = reduced(small_shape(), kBits);
  coded.options.code_bits = 4;
  EXPECT_THAT(refused(coded), HasSubstr("code_bits"));
  EXPECT_THAT(refused(reduced(graph_shape(LayoutKind::inlined), kBits)), HasSubstr("b1"));
  EXPECT_EQ(refused(reduced(small_shape(), kBits)), "");
}

}  // namespace
}  // namespace farvec::collection::of_reduced
