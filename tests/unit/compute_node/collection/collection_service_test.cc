#include "compute_node/collection/collection_service.h"

#include <algorithm>
#include <limits>
#include <map>

#include "collection/segment/segment_folder.h"
#include "compute_node/daemon/metrics.h"
#include "tests/unit/compute_node/collection/collection_service_fixture.h"
#include "tests/unit/file_size_limit.h"

namespace farvec::compute_node {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CollectionServiceTest, RandomChangesLeaveWhatTheyShould) {
  start();
  for (int step = 0; step < 150; ++step) {
    const std::uint64_t begin = random.below(300);
    switch (random.below(10)) {
      case 0:
        EXPECT_TRUE(flush().ok());
        break;
      case 1:
        if (random.below(3) == 0) {
          EXPECT_TRUE(compact().ok());
        }
        break;
      case 2:
      case 3:
        erase_ids({begin, begin + 1, begin + 7, 100'000});
        break;
      default:
        insert_ids(begin, begin + 1 + random.below(50));
    }
    if (step % 10 == 0) expect_rows(0, 50);
  }
  for (std::uint64_t id = 0; id < 350; id += 50) expect_rows(id, id + 50);
  const auto now = stats();
  EXPECT_EQ(now.rows(), rows.size());
  EXPECT_EQ(now.segments(), collection().view()->segments.size());
  EXPECT_GT(now.segments_built(), 0u);
  EXPECT_EQ(now.failure(), "");
  EXPECT_EQ(now.calls_in_flight(), 0u);
  EXPECT_EQ(now.bytes_in_flight(), 0u);
}

TEST_F(CollectionServiceTest, SearchesFindWhatThereIs) {
  start();
  EXPECT_EQ(search(collection::random_row(random), 5).user_ids_size(), 0);
  for (std::uint64_t id = 0; id < 200; id += 50) insert_ids(id, id + 50);
  erase_ids({3, 100});
  for (int i = 0; i < 10; ++i) {
    const auto query = collection::random_row(random);
    const auto expected = collection::exact(rows, Metric::l2, query);
    const auto found = search(query, 20);
    ASSERT_EQ(found.user_ids_size(), 20);
    ASSERT_EQ(found.ids_size(), 20);
    for (int r = 0; r < 20; ++r) {
      EXPECT_EQ(found.user_ids(r), expected[static_cast<std::size_t>(r)].second);
      EXPECT_EQ(found.ids(r), found.user_ids(r));
      EXPECT_EQ(found.distances(r), expected[static_cast<std::size_t>(r)].first);
    }
  }
  EXPECT_EQ(search(collection::random_row(random), 500).user_ids_size(), 198)
      << "there are no more";
}

TEST_F(CollectionServiceTest, IdsOf64BitsComeInFull) {
  start();
  const std::uint64_t wide = std::numeric_limits<std::uint64_t>::max();
  Rows one{{wide, collection::random_row(random)}};
  ASSERT_TRUE(insert(insert_request(one)).ok());
  const auto found = search(one[wide], 1);
  ASSERT_EQ(found.user_ids_size(), 1);
  EXPECT_EQ(found.user_ids(0), wide);
  EXPECT_EQ(found.ids_size(), 0) << "a client of 32 bits is not told another id";
}

TEST_F(CollectionServiceTest, DescribeTellsThePresent) {
  start();
  v1::DescribeResponse described;
  const auto describe = [&] {
    ASSERT_TRUE(
        ask([&](auto& context) { return search_stub->Describe(&context, {}, &described); }).ok());
  };
  describe();
  EXPECT_EQ(described.count(), 0u);
  EXPECT_EQ(described.layout(), "collection");
  insert_ids(0, 30);
  erase_ids({7});
  describe();
  EXPECT_EQ(described.count(), 29u);
}

TEST_F(CollectionServiceTest, MetricsSayWhatStatsSay) {
  start();
  for (std::uint64_t id = 0; id < 100; id += 50) insert_ids(id, id + 50);
  insert_ids(0, 10);
  erase_ids({90, 91, 92});
  ASSERT_TRUE(flush().ok());
  std::map<std::string, double> told;
  for (const auto& family : ServiceMetrics(statistics, *supervisor, service.get()).Collect()) {
    if (family.metric.size() != 1) continue;
    const auto& metric = family.metric.front();
    told[family.name] = std::max(metric.gauge.value, metric.counter.value);
  }
  const auto now = stats();
  EXPECT_EQ(told.at("farvec_compute_collection_rows"), 97);
  EXPECT_EQ(told.at("farvec_compute_collection_rows_out"), static_cast<double>(now.rows_out()));
  EXPECT_EQ(told.at("farvec_compute_collection_inserted_total"), 110);
  EXPECT_EQ(told.at("farvec_compute_collection_replaced_total"), 10);
  EXPECT_EQ(told.at("farvec_compute_collection_deleted_total"), 3);
  EXPECT_EQ(told.at("farvec_compute_collection_memtable_rows"), 0);
  EXPECT_GT(told.at("farvec_compute_collection_segments_built_total"), 0);
  EXPECT_GT(told.at("farvec_compute_collection_log_bytes"), 0);
  // In the folder, all of it.
  EXPECT_EQ(told.at("farvec_compute_collection_log_nodes"), 0);
  EXPECT_EQ(told.at("farvec_compute_collection_log_copies"), 0);
  EXPECT_EQ(told.at("farvec_compute_collection_segment_copies_missing"), 0);
  EXPECT_EQ(told.at("farvec_compute_vectors"), 97);
}

TEST_F(CollectionServiceTest, StatsAndMetricsSayHowFarAMergeIs) {
  source.background.merge_bytes_per_s = 1;  // it stands still
  start();
  for (std::uint64_t id = 0; id < 150; id += 50) insert_ids(id, id + 50);
  ASSERT_TRUE(flush().ok());
  ASSERT_TRUE(eventually([&] { return stats().merge_phase() == "reading"; }));
  EXPECT_EQ(stats().merge_segments(), 3u);
  EXPECT_EQ(stats().merge_rows(), 150u);
  EXPECT_EQ(stats().merge_rows_linked(), 0u);
  EXPECT_GT(stats().merged_bytes(), 0u);
  std::map<std::string, double> told;
  for (const auto& family : ServiceMetrics(statistics, *supervisor, service.get()).Collect()) {
    if (family.metric.size() != 1) continue;
    told[family.name] =
        std::max(family.metric.front().gauge.value, family.metric.front().counter.value);
  }
  EXPECT_EQ(told.at("farvec_compute_collection_merge_segments"), 3);
  EXPECT_EQ(told.at("farvec_compute_collection_merge_rows"), 150);
  EXPECT_EQ(told.at("farvec_compute_collection_merge_rows_linked"), 0);
  EXPECT_GT(told.at("farvec_compute_collection_merged_bytes_total"), 0);
  insert_ids(200, 250);
  EXPECT_TRUE(flush().ok()) << "it does not wait for the merge";
}

TEST_F(CollectionServiceTest, SaysWhatIsWrong) {
  start();
  const Rows two = random_rows(10, 12);
  const auto wrong = [&](const auto& change) {
    auto request = insert_request(two);
    change(request);
    const grpc::Status status = insert(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_EQ(wrong([](auto& r) { r.set_type(wire::ELEMENT_TYPE_U8); }),
            "type: u8 came, f32 is allowed: that of the index");
  EXPECT_EQ(wrong([](auto& r) { r.clear_type(); }),
            "type: none that is known came, f32 is allowed: that of the index");
  EXPECT_EQ(wrong([](auto& r) { r.set_dimension(8); }),
            "dimension: 8 came, 7 is allowed: that of the index");
  EXPECT_EQ(wrong([](auto& r) { r.add_ids(5); }),
            "rows: 56 bytes came, 84 is allowed: 3 ids x 7 x f32");
  EXPECT_EQ(wrong([](auto& r) { r.clear_ids(); }),
            "ids: 0 came, 1 to 50 is allowed: make several calls of more");
  EXPECT_EQ(wrong([](auto& r) { r.set_ids(1, 10); }),
            "ids[1]: 10 came, as it did with row 0: each id once is allowed");
  EXPECT_EQ(wrong([](auto& r) {
              const float nan = std::numeric_limits<float>::quiet_NaN();
              std::memcpy(r.mutable_rows()->data() + 28 + 4, &nan, sizeof nan);
            }),
            "rows[1]: a vector came (id 11) that holds NaN or infinity, which has no distance to "
            "anything; others are allowed");
  EXPECT_THAT(wrong([](auto& r) {
                const float long_value = 1e19f;
                std::memcpy(r.mutable_rows()->data() + 28 + 4, &long_value, sizeof long_value);
              }),
              StartsWith("rows[1]: a vector came (id 11) that is too long"));
  const grpc::Status many = insert(insert_request(random_rows(0, 51)));
  EXPECT_EQ(many.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(many.error_message(), StartsWith("ids: 51 came, 1 to 50 is allowed"));
  EXPECT_EQ(collection().view()->live(), 0u) << "nothing of a wrong call is in";
  EXPECT_EQ(stats().calls_failed(), 9u);
}

TEST_F(CollectionServiceTest, SaysWhatIsWrongWithIds) {
  start();
  wire::DeleteResponse deleted;
  EXPECT_EQ(ask([&](auto& context) { return stub->Delete(&context, {}, &deleted); }).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  wire::GetRequest asked;
  for (std::uint64_t id = 0; id < 51; ++id) asked.add_ids(id);
  wire::GetResponse got;
  const grpc::Status status = ask([&](auto& context) { return stub->Get(&context, asked, &got); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("1 to 50"));
}

/// Records that are in memory were checked when they came there: the file is read where none are.
TEST_F(CollectionServiceTest, GetOfADamagedFileIsDataLoss) {
  source.collection.tier = "ssd";
  start();
  insert_ids(0, 50);
  ASSERT_TRUE(flush().ok());
  const auto& directory = collection().view()->segments.front().segment->folder().directory();
  const auto file = directory.region_path(layout::kRecordsRegion);
  std::FILE* const records = std::fopen(file.c_str(), "r+");
  ASSERT_NE(records, nullptr);
  std::fseek(records, -3, SEEK_END);
  std::fputc('?', records);
  std::fputc('?', records);
  std::fclose(records);
  wire::GetRequest asked;
  asked.add_ids(0);
  wire::GetResponse got;
  const grpc::Status status = ask([&](auto& context) { return stub->Get(&context, asked, &got); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(status.error_message(), HasSubstr(file.filename().string()));
}

TEST_F(CollectionServiceTest, IsUnavailableBeforeItIsOpenAndWhenItDrains) {
  start();
  insert_ids(0, 3);
  service->drain();
  const grpc::Status status = insert(insert_request(random_rows(0, 1)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("shutting down"));
}

/// By then the rows are in, for searches: so it is not said that nothing was done, nor that it is
/// worth to try again.
TEST_F(CollectionServiceTest, ALogThatHasEndedIsUnavailable) {
  source.durability = "commit";
  start();
  insert_ids(0, 10);
  const Rows more = random_rows(100, 110);
  {
    const tests::FileSizeLimit full(0);
    for (int i = 0; i < 2; ++i) {
      const grpc::Status status = insert(insert_request(more));
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      EXPECT_THAT(status.error_message(), HasSubstr("the log has ended"));
      EXPECT_EQ(refusal, "");
    }
  }
  wire::DeleteRequest request;
  request.add_ids(3);
  wire::DeleteResponse response;
  const grpc::Status status =
      ask([&](auto& context) { return stub->Delete(&context, request, &response); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(stats().refused_no_room(), 0u);
}

}  // namespace
}  // namespace farvec::compute_node
