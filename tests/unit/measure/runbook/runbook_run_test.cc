#include "measure/runbook/runbook_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "base/error.h"
#include "changes/batches.h"
#include "tests/unit/message_of.h"

namespace farvec::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kDimension = 3;
constexpr std::uint32_t kK = 4;

std::vector<float> random_rows(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> rows(count * kDimension);
  for (float& value : rows) value = uniform(random);
  return rows;
}

float distance_of(const float* a, const float* b) {
  float sum = 0;
  for (std::uint32_t i = 0; i < kDimension; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Exact, but blind to every `blind`-th id, and it loses row `lost`.
class NaiveIndex final : public RunbookIndex, public changes::Changing {
 public:
  explicit NaiveIndex(NodeId blind, std::uint64_t lost = kInvalidNode)
      : blind_(blind), lost_(lost) {}

  changes::Changing& changing() override { return *this; }
  void settle() override { ++settled_; }
  int settled() const { return settled_; }

  changes::RowShape row_shape() const override {
    return {.dimension = kDimension, .batch_rows = 7, .batch_ids = 7, .batch_gets = 7};
  }
  void check(const changes::RowBatch&) const override {}
  void insert(const changes::RowBatch& batch, const changes::Patience&,
              changes::Receipt& receipt) override {
    const auto& [rows, ids, attributes] = batch;
    ASSERT_LE(ids.size(), 7u);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto* row = reinterpret_cast<const float*>(rows.row(i));
      ASSERT_TRUE(vectors_.emplace(ids[i], std::vector<float>(row, row + kDimension)).second);
    }
    vectors_.erase(lost_);
    written_ += ids.size();
    receipt += {.done = ids.size()};
  }
  void erase(std::span<const std::uint64_t> ids, const changes::Patience&,
             changes::Receipt& receipt) override {
    for (const std::uint64_t id : ids) {
      const std::uint64_t found = vectors_.erase(id);
      receipt += {.done = found, .missing = 1 - found};
    }
  }
  changes::FoundRows get(std::span<const std::uint64_t>, const changes::Patience&) const override {
    return {};
  }
  bool flush(const Interruption&) override { return true; }
  bool compact(const Interruption&) override { return true; }
  nlohmann::ordered_json now() const override { return {}; }

  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override {
    for (std::size_t q = 0; q < queries.count; ++q) {
      std::vector<std::pair<float, NodeId>> found;
      const auto* query = reinterpret_cast<const float*>(queries.row(q));
      for (const auto& [id, vector] : vectors_) {
        if (id % blind_ != 0)
          found.emplace_back(distance_of(query, vector.data()), static_cast<NodeId>(id));
      }
      std::sort(found.begin(), found.end());
      for (std::uint32_t i = 0; i < std::min<std::size_t>(kK, found.size()); ++i) {
        results.ids[q * kK + i] = found[i].second;
        results.distances[q * kK + i] = found[i].first;
      }
      latency_us.push_back(static_cast<float>(q));
    }
  }
  std::unique_ptr<RunbookIndex> rebuilt(const changes::RowBatch& batch) const override {
    auto other = std::make_unique<NaiveIndex>(kInvalidNode);
    changes::Receipt receipt;
    changes::insert_all(*other, batch, {}, receipt);
    return other;
  }
  DiskBytes disk_bytes() const override { return {0, written_}; }
  std::uint64_t stored_bytes() const override { return vectors_.size(); }
  nlohmann::ordered_json describe() const override { return {}; }

 private:
  const NodeId blind_;
  const std::uint64_t lost_;
  int settled_ = 0;
  std::map<std::uint64_t, std::vector<float>> vectors_;
  std::uint64_t written_ = 0;
};

class RunbookRunTest : public ::testing::Test {
 protected:
  static constexpr NodeId kRows = 200;
  ~RunbookRunTest() override { fs::remove_all(folder_); }

  TruthInput input(const std::string& folder = "") const {
    return {.data = packed_view(rows_.data(), kRows, kDimension, ElementType::f32),
            .queries = packed_view(queries_.data(), 11, kDimension, ElementType::f32),
            .k = kK,
            .folder = folder,
            .threads = 1,
            .quiet = true};
  }
  static Runbook runbook() {
    return {"x",
            0,
            {{1, StepKind::insert, 0, 120, 0},
             {2, StepKind::search},
             {3, StepKind::erase, 10, 60, 10},
             {4, StepKind::insert, 150, 170, 150},
             {5, StepKind::replace, 180, 200, 80},
             {6, StepKind::search}}};
  }
  std::vector<StepOutcome> run(NodeId blind, const std::string& folder = "") {
    NaiveIndex index(blind);
    return run_runbook(runbook(), input(folder), index,
                       {.told = [](const StepOutcome&) {}, .rebuild_every = 2});
  }

  const std::vector<float> rows_ = random_rows(kRows, 1);
  const std::vector<float> queries_ = random_rows(11, 2);
  const std::string folder_ = ::testing::TempDir() + "runbook_run_test." +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RunbookRunTest, ARowThatTheIndexLostIsAnErrorOfItsStep) {
  NaiveIndex index(kInvalidNode, 15);
  EXPECT_EQ(tests::message_of([&] {
              (void)run_runbook(runbook(), input(), index, {.told = [](const StepOutcome&) {}});
            }),
            "step 3: 1 of 50 vectors to delete are not in the index");
}

TEST_F(RunbookRunTest, TheIndexSettlesAfterEachStepThatDeletes) {
  NaiveIndex index(kInvalidNode);
  (void)run_runbook(runbook(), input(), index, {.told = [](const StepOutcome&) {}});
  EXPECT_EQ(index.settled(), 2);
}

TEST_F(RunbookRunTest, AnInterruptionEndsAStepBetweenItsBatches) {
  NaiveIndex index(kInvalidNode);
  int asked = 0;
  EXPECT_THROW((void)run_runbook(runbook(), input(), index,
                                 {.told = [](const StepOutcome&) { FAIL() << "a step was told"; },
                                  .interrupted = [&] { return ++asked > 3; }}),
               WorkInterrupted);
  EXPECT_EQ(index.stored_bytes(), 21u);
}

TEST_F(RunbookRunTest, AnExactIndexHasRecallOne) {
  const auto steps = run(kInvalidNode);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[1].recall, 1);
  EXPECT_EQ(steps[5].recall, 1);
  EXPECT_EQ(mean_recall(steps), 1);
  EXPECT_EQ(steps[5].operations, 11u);
  EXPECT_EQ(steps[4].operations, 20u);
  EXPECT_EQ(steps[4].live, 90u);
  EXPECT_EQ(steps[4].disk.written, 20u);
  EXPECT_EQ(steps[1].p99_us, 10);
}

TEST_F(RunbookRunTest, RecallFallsByWhatAnIndexDoesNotFind) {
  // Every third id is lost: of the true neighbours, those whose ids are multiples of three.
  const auto steps = run(3);
  EXPECT_LT(steps[1].recall, 0.85);
  EXPECT_GT(steps[1].recall, 0.45);
  EXPECT_NEAR(mean_recall(steps), (steps[1].recall + steps[5].recall) / 2, 1e-12);
  EXPECT_FALSE(steps[1].rebuilt) << "at every second search";
  ASSERT_TRUE(steps[5].rebuilt);
  EXPECT_EQ(steps[5].rebuilt->recall, 1) << "of what is live then";
}

TEST_F(RunbookRunTest, TheTruthIsKeptAndTakenFromTheFolder) {
  const auto first = run(3, folder_);
  EXPECT_TRUE(fs::exists(folder_ + "/step2.gt4"));
  EXPECT_TRUE(fs::exists(folder_ + "/step6.gt4"));
  const auto again = run(3, folder_);
  EXPECT_EQ(first[5].recall, again[5].recall);
  // Files that are there are believed: one with other neighbours changes the recall.
  dataset::GroundTruth other = dataset::read_groundtruth(folder_ + "/step6.gt4");
  for (std::size_t i = 0; i < other.ids.size(); ++i) other.ids[i] = 61 + i % 4;
  other.distances.clear();
  dataset::write_groundtruth(folder_ + "/step6.gt4", other);
  EXPECT_NE(run(3, folder_)[5].recall, first[5].recall);
}

TEST_F(RunbookRunTest, ATruthOfAnotherRunbookIsRefused) {
  run(kInvalidNode, folder_);
  fs::copy_file(folder_ + "/step2.gt4", folder_ + "/step6.gt4",
                fs::copy_options::overwrite_existing);
  try {
    run(kInvalidNode, folder_);
    FAIL() << "a truth of another step was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("of another runbook"));
  }
}

}  // namespace
}  // namespace farvec::measure
