#include "measure/sweep/sweep_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using SweepRow = nlohmann::ordered_json;

constexpr Column kNameAndRate[] = {{"name", 5}, {"rate", 5}};

/// Says what is asked of a cell, and what goes wrong with it.
struct Plan {
  std::string name;
  std::size_t group = 0;
  std::string pace = "the same";
  bool bounds = false;
  std::string fails_in = "";  ///< the step that throws
};

/// Notes the steps of all cells in one list.
class FakeCell final : public SweepCell {
 public:
  FakeCell(Plan plan, std::vector<std::string>& steps) : plan_(std::move(plan)), steps_(steps) {}

  std::size_t group() const override { return plan_.group; }
  SweepRow parameters() const override { return {{"name", plan_.name}, {"model", nullptr}}; }
  void prepare() override { step("prepare"); }
  void measure_pass(std::uint32_t pass) override {
    step(std::to_string(pass));
    rates_.push_back(10 * (pass + 1));
  }
  void release() override { steps_.push_back(plan_.name + " release"); }
  std::string pace() const override { return plan_.pace; }
  double work() const override { return static_cast<double>(plan_.name.size()); }
  double probe_seconds() override {
    step("probe");
    return 3;
  }
  double seconds(double search_seconds) const override { return 2 * search_seconds; }
  const std::vector<double>* bounding_rates() const override {
    return plan_.bounds && !failed() ? &rates_ : nullptr;
  }
  void bound_by(const std::vector<double>& rates) override { bound_ = rates; }
  std::span<const Column> columns() const override { return kNameAndRate; }
  std::vector<std::string> table_cells() const override {
    return failed() ? std::vector<std::string>{plan_.name}
                    : std::vector<std::string>{plan_.name, "10"};
  }
  void add_facts(SweepRow& row) const override {
    if (!failed()) row.update({{"rates", rates_}, {"bound", bound_}});
  }

 private:
  void step(const std::string& what) {
    steps_.push_back(plan_.name + " " + what);
    if (what == plan_.fails_in) throw Error("no room for {}", plan_.name);
  }

  const Plan plan_;
  std::vector<std::string>& steps_;
  std::vector<double> rates_;
  std::vector<double> bound_;
};

class SweepRunTest : public ::testing::Test {
 protected:
  SweepRunTest() { queries_.passes = 2; }

  static SweepQuestions questions() {
    return {.queries = "four rows",
            .groundtruth = "their neighbours",
            .truth = dataset::GroundTruth{4, 1, {0, 0, 0, 0}, {}}};
  }

  void run(const std::vector<Plan>& plans, ExistingFile existing = ExistingFile::refuse) {
    std::vector<std::unique_ptr<SweepCell>> cells;
    for (const Plan& plan : plans) cells.push_back(std::make_unique<FakeCell>(plan, steps_));
    SweepFile file(path_, existing);
    SweepRun(std::move(cells), queries_, file, manner_).run();
  }

  void interrupt_after(const std::string& step) {
    manner_.interrupted = [this, step] {
      return std::find(steps_.begin(), steps_.end(), step) != steps_.end();
    };
  }

  /// Runs, and returns what it says on stderr.
  std::string told(const std::vector<Plan>& plans) {
    manner_.quiet = false;
    ::testing::internal::CaptureStderr();
    run(plans);
    return ::testing::internal::GetCapturedStderr();
  }

  std::vector<SweepRow> rows() const { return SweepFile(path_, ExistingFile::resume).rows(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const SweepRow& row : rows()) names.push_back(row.at("name"));
    return names;
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("rows.jsonl");
  SweepQueries queries_{questions(), dataset::VectorSet(4, 2, ElementType::f32), "", 1};
  SweepManner manner_{.quiet = true, .table = false};
  std::vector<std::string> steps_;
};

TEST_F(SweepRunTest, TheCellsOfAGroupAreMeasuredInTurn) {
  run({{"a", 0}, {"b", 0}, {"c", 1}});
  EXPECT_THAT(steps_,
              ElementsAre("a probe", "a prepare", "b prepare", "a 0", "b 0", "a 1", "b 1",
                          "a release", "b release", "c prepare", "c 0", "c 1", "c release"));
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(rows()[0].at("rates"), SweepRow({10, 20}));
  EXPECT_FALSE(rows()[0].contains("model")) << "a value that is null is not in the row";
  EXPECT_FALSE(rows()[0].contains("error"));
  for (const char* name : {"commit", "host", "command"}) EXPECT_TRUE(rows()[0].contains(name));
}

TEST_F(SweepRunTest, WhatCannotRunSaysWhyAndEndsNothing) {
  run({{"a", 0}, {"b", 0, "b", false, "prepare"}, {"c", 0, "c", false, "1"}, {"d", 1}});
  EXPECT_THAT(steps_, ::testing::Not(::testing::Contains("b 0")));
  EXPECT_THAT(names(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(rows()[1].at("error"), "no room for b");
  EXPECT_EQ(rows()[2].at("error"), "no room for c");
  for (const int ran : {0, 3}) EXPECT_EQ(rows()[ran].at("rates"), SweepRow({10, 20}));
  for (const int failed : {1, 2}) EXPECT_FALSE(rows()[failed].contains("rates"));
}

TEST_F(SweepRunTest, TheTableSaysWhyToo) {
  manner_.table = true;
  ::testing::internal::CaptureStdout();
  run({{"a", 0}, {"b", 1, "b", false, "prepare"}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "name   rate\n"
            "a        10\n"
            "b         -  cannot run: no room for b\n");
}

TEST_F(SweepRunTest, ItIsAnErrorWhenNoneCanRun) {
  try {
    run({{"a", 0, "a", false, "prepare"}, {"b", 1, "b", false, "0"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "none of the combinations can run; the first: no room for a");
  }
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(SweepRunTest, AnInterruptionBetweenPassesKeepsTheGroupsBefore) {
  interrupt_after("b 0");
  manner_.quiet = false;
  ::testing::internal::CaptureStderr();
  EXPECT_THROW(run({{"a", 0}, {"b", 1}, {"c", 1}}), WorkInterrupted);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("interrupted: 1 of 3 combinations are measured"));
  EXPECT_THAT(said, HasSubstr("--resume measures the others"));
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(SweepRunTest, AnInterruptedCellIsMeasuredNoMore) {
  interrupt_after("a 0");
  EXPECT_THROW(run({{"a", 0}, {"b", 0}}), WorkInterrupted);
  EXPECT_THAT(steps_,
              ElementsAre("a probe", "a prepare", "b prepare", "a 0", "a release", "b release"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(SweepRunTest, RowsThatAreThereAreNotMeasuredAgain) {
  run({{"a", 0}, {"b", 0, "b", false, "0"}});
  steps_.clear();
  run({{"a", 0}, {"b", 0}, {"c", 1}}, ExistingFile::resume);
  EXPECT_THAT(names(), ElementsAre("a", "b", "b", "c"));
  EXPECT_THAT(steps_, ::testing::Not(::testing::Contains("a 0")));
  EXPECT_TRUE(rows()[1].contains("error")) << "the row of the first run";
  EXPECT_FALSE(rows()[2].contains("error"));
}

TEST_F(SweepRunTest, ARowThatIsThereIsNoFailure) {
  run({{"a", 0}});
  run({{"a", 0}, {"b", 1, "b", false, "0"}}, ExistingFile::resume);
  run({{"a", 0}}, ExistingFile::resume);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(SweepRunTest, OneCellMayBoundTheOthersOfItsGroup) {
  run({{"a", 0}, {"b", 0, "b", true}, {"c", 0, "c", false, "1"}, {"d", 1}});
  EXPECT_EQ(rows()[0].at("bound"), SweepRow({10, 20}));
  for (const int other : {1, 3}) EXPECT_EQ(rows()[other].at("bound"), SweepRow::array());
}

TEST_F(SweepRunTest, TheTimeIsForetoldFromTheFirstCellOfEachPace) {
  // Two searches of 3 s for one unit of work: 6 s, twice that for "bb", 6 s of another pace, and
  // nothing is known of what cannot be probed.
  EXPECT_THAT(told({{"a", 0, "slow"},
                    {"bb", 1, "slow"},
                    {"c", 2, "other"},
                    {"d", 3, "none", false, "probe"}}),
              HasSubstr("4 combinations of 4 queries, 2 passes: about 24 s\n"));
  EXPECT_EQ(std::count(steps_.begin(), steps_.end(), "bb probe"), 0);
  EXPECT_EQ(std::count(steps_.begin(), steps_.end(), "c probe"), 1);
  EXPECT_FALSE(rows()[3].contains("error")) << "a probe is no measurement";
}

TEST_F(SweepRunTest, PassesThatEndAfterATimeSayIt) {
  queries_.pass_ms = 1.5;
  EXPECT_THAT(told({{"a", 0}}), HasSubstr("1 combinations of 4 queries, 2 passes of 1.5 ms: "));
}

}  // namespace
}  // namespace farvec::measure
