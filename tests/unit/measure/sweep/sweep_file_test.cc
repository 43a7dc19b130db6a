#include "measure/sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

using ::testing::HasSubstr;

class SweepFileTest : public ::testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(path_);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write(const std::string& content) const { std::ofstream(path_) << content; }
  std::string error_of(ExistingFile existing) const {
    try {
      const SweepFile file(path_, existing);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "rows.jsonl";
};

TEST_F(SweepFileTest, RowsAreThereAtOnce) {
  {
    SweepFile file(path_, ExistingFile::refuse);
    file.append(R"({"a":1})");
    EXPECT_EQ(text(), "{\"a\":1}\n");
    file.append(R"({"a":2})");
  }
  EXPECT_EQ(text(), "{\"a\":1}\n{\"a\":2}\n");
}

TEST_F(SweepFileTest, AFileWithoutARowIsNone) {
  { const SweepFile file(path_, ExistingFile::refuse); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  SweepFile none("", ExistingFile::refuse);
  none.append("{}");
}

TEST_F(SweepFileTest, AnOldFileIsKeptUntilTheFirstRow) {
  write("{\"a\":1}\n");
  EXPECT_THAT(error_of(ExistingFile::refuse), HasSubstr("exists"));
  EXPECT_EQ(error_of(ExistingFile::overwrite), "");
  EXPECT_EQ(text(), "{\"a\":1}\n");
  SweepFile(path_, ExistingFile::overwrite).append("{}");
  EXPECT_EQ(text(), "{}\n");
}

TEST_F(SweepFileTest, AnEmptyFileMayBeWrittenTo) {
  write("");
  EXPECT_EQ(error_of(ExistingFile::refuse), "");
  EXPECT_TRUE(std::filesystem::exists(path_)) << "it is not ours";
}

TEST_F(SweepFileTest, KnowsTheRowsThatWereThere) {
  write(
      "{\"list\":20,\"budget\":null,\"recall\":0.9}\n\n{\"list\":40,\"error\":\"no\"}\n{\"list\":"
      "8");
  SweepFile file(path_, ExistingFile::resume);
  using Json = nlohmann::ordered_json;
  EXPECT_TRUE(file.has(Json{{"list", 20u}}));
  EXPECT_TRUE(file.has(Json{{"list", 20u}, {"budget", nullptr}, {"ratio", nullptr}}));
  EXPECT_FALSE(file.has(Json{{"list", 20u}, {"budget", 5}}));
  EXPECT_FALSE(file.has(Json{{"list", 20u}, {"tier", "dram"}}));
  EXPECT_FALSE(file.has(Json{{"list", 40u}})) << "it could not run";
  EXPECT_FALSE(file.has(Json{{"list", 8u}}));
  file.append("{\"list\":8}");
  EXPECT_THAT(text(), ::testing::EndsWith("\"no\"}\n{\"list\":8}\n"));
}

TEST_F(SweepFileTest, RefusesWhatHoldsNoRows) {
  for (const char* content : {"x\n", "{}\n[1]\n", "{}\n{\"a\":}\n"}) {
    write(content);
    EXPECT_THAT(error_of(ExistingFile::resume), HasSubstr("line")) << content;
    EXPECT_EQ(text(), content);
  }
  EXPECT_EQ(std::string(), [] {
    SweepFile("/dev/null", ExistingFile::refuse).append("{}");
    return "";
  }());
  EXPECT_THROW(SweepFile("/dev/null", ExistingFile::resume), Error);
  EXPECT_THROW(SweepFile(folder_.path().string(), ExistingFile::overwrite), Error);
  EXPECT_THROW(SweepFile("/nonexistent/rows", ExistingFile::refuse), Error);
}

TEST_F(SweepFileTest, AFullDiskKeepsWholeRows) {
  SweepFile file(path_, ExistingFile::refuse);
  file.append(R"({"a":1})");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{12, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(file.append(R"({"a":2})"), SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text(), "{\"a\":1}\n");
}

}  // namespace
}  // namespace farvec::measure
