#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "measure/runbook/runbook.h"

namespace farvec::measure {
namespace {

using ::testing::HasSubstr;

class RunbookFileTest : public ::testing::Test {
 protected:
  ~RunbookFileTest() override { std::filesystem::remove(path_); }

  Runbook read(const std::string& text, const std::string& dataset = "") {
    std::ofstream(path_) << text;
    return read_runbook(path_, dataset);
  }
  std::string fault_of(const std::string& text, const std::string& dataset = "") {
    try {
      read(text, dataset);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  const std::string path_ = ::testing::TempDir() + "runbook_file_test." +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".yaml";
};

constexpr const char* kWhole = R"(
sift-1M:
  max_pts: 1000
  10: {operation: "search"}
  2: {operation: "search"}
  3: {operation: delete, start: 5, end: 7}
  1: {operation: insert, start: 0, end: 1000}
  4: {operation: replace, tags_start: 20, tags_end: 30, ids_start: 900, ids_end: 910}
  5: {operation: search}
  6: {operation: search}
  7: {operation: search}
  8: {operation: search}
  9: {operation: search}
  gt_url: "https://example.org/gt"
)";

TEST_F(RunbookFileTest, ReadsStepsByTheirNumbers) {
  const Runbook runbook = read(kWhole);
  EXPECT_EQ(runbook.dataset, "sift-1M");
  EXPECT_EQ(runbook.max_points, 1000u);
  ASSERT_EQ(runbook.steps.size(), 10u);
  EXPECT_EQ(runbook.steps[0].kind, StepKind::insert);
  EXPECT_EQ(runbook.steps[0].count(), 1000u);
  EXPECT_EQ(runbook.steps[2].kind, StepKind::erase);
  EXPECT_EQ(runbook.steps[2].first_id, 5u);
  EXPECT_EQ(runbook.steps[2].end, 7u);
  const RunbookStep& replace = runbook.steps[3];
  EXPECT_EQ(replace.kind, StepKind::replace);
  EXPECT_EQ(replace.begin, 900u);
  EXPECT_EQ(replace.end, 910u);
  EXPECT_EQ(replace.first_id, 20u);
  EXPECT_EQ(runbook.steps[9].number, 10u);
}

TEST_F(RunbookFileTest, ChoosesTheDataSet) {
  const std::string two =
      "a: {1: {operation: search}}\nb: {1: {operation: search}, 2: "
      "{operation: search}}\n";
  EXPECT_EQ(read(two, "b").steps.size(), 2u);
  EXPECT_THAT(fault_of(two), HasSubstr("has runbooks for a, b: choose one with --dataset"));
  EXPECT_THAT(fault_of(two, "c"), HasSubstr("no runbook for 'c', but for a, b"));
}

TEST_F(RunbookFileTest, RefusesWhatIsNoRunbook) {
  EXPECT_THAT(fault_of("{"), HasSubstr("is no YAML"));
  EXPECT_THAT(fault_of(""), HasSubstr("is no runbook"));
  EXPECT_THAT(fault_of("- 1\n- 2\n"), HasSubstr("is no runbook"));
  EXPECT_THAT(fault_of("a: 3"), HasSubstr("'a' has no steps"));
  EXPECT_THAT(fault_of("a: {max_pts: 3}"), HasSubstr("'a' has no steps"));
  EXPECT_THAT(fault_of("a: {max_pts: many, 1: {operation: search}}"), HasSubstr("'max_pts'"));
  EXPECT_THAT(fault_of("a: {2: {operation: search}}"), HasSubstr("step 2 follows step 0"));
  EXPECT_THAT(fault_of("a: {1: {operation: search}, 1: {operation: search}}"),
              HasSubstr("two steps 1"));
  EXPECT_THAT(fault_of("a: {1: search}"), HasSubstr("step 1: has no operation"));
  EXPECT_THAT(fault_of("a: {1: {operation: fetch}}"), HasSubstr("'fetch' is none of insert"));
  EXPECT_THAT(fault_of("a: {1: {operation: insert, start: 3}}"), HasSubstr("has no 'end'"));
  EXPECT_THAT(fault_of("a: {1: {operation: insert, start: -3, end: 4}}"),
              HasSubstr("'start' is no whole number"));
  EXPECT_THAT(fault_of("a: {1: {operation: insert, start: 4, end: 4}}"),
              HasSubstr("from 4 to 4 is no range"));
  EXPECT_THAT(fault_of("a: {1: {operation: replace, tags_start: 0, tags_end: 3, ids_start: 4, "
                       "ids_end: 6}}"),
              HasSubstr("replaces 3 ids by 2 rows"));
}

}  // namespace
}  // namespace farvec::measure
