#include "cli/nodes/top_view.h"

#include <gmock/gmock.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace farvec::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

std::vector<Json> nodes() {
  return {{{"address", "c0:7711"},
           {"state", "serving"},
           {"queries_per_s", 24074.4},
           {"p99_us", 2007.0},
           {"reads_in_flight", 640},
           {"recall", 0.9512},
           {"changes_per_s", nullptr}},
          {{"address", "m0:7700"}, {"state", "serving"}, {"leases", 1}},
          {{"address", "m1:7700"}, {"state", "silent"}, {"failure", "nothing listens"}}};
}

std::vector<std::string> lines_of(const std::string& view) {
  std::istringstream stream(view);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(TopView, ATableHasALineForEachNode) {
  for (const std::size_t columns : {std::size_t{0}, top_table_width(), top_table_width() + 100}) {
    const auto lines = lines_of(top_view(nodes(), columns));
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0].size(), top_table_width());
    EXPECT_THAT(lines[0], HasSubstr("in flight"));
    EXPECT_THAT(words_of(lines[1]), ElementsAre("c0:7711", "serving", "24074", "2007", "-", "-",
                                                "-", "-", "640", "0.951", "-", "-", "-"));
    EXPECT_THAT(words_of(lines[2]), ElementsAre("m0:7700", "serving", "-", "-", "-", "-", "-", "-",
                                                "-", "-", "-", "-", "1"));
    EXPECT_THAT(lines[3], HasSubstr("silent"));
    EXPECT_THAT(lines[3], HasSubstr("nothing listens"));
  }
}

TEST(TopView, ANarrowTerminalHasLinesThatFit) {
  for (const std::size_t columns : {std::size_t{24}, std::size_t{44}, top_table_width() - 1}) {
    const std::string view = top_view(nodes(), columns);
    for (const std::string& line : lines_of(view)) EXPECT_LE(line.size(), columns) << line;
    EXPECT_THAT(view, StartsWith("c0:7711 serving\n"));
    EXPECT_THAT(view, HasSubstr("  nothing listens\n"));
    EXPECT_THAT(view, Not(HasSubstr("changes/s")));  // which no node has
    EXPECT_THAT(view, HasSubstr("leases"));
  }
  EXPECT_THAT(words_of(lines_of(top_view(nodes(), 44))[1]),
              ElementsAre("queries/s", "24074", "p99", "us", "2007"));
}

TEST(TopView, NoNodesHaveNothingButTheHead) {
  EXPECT_EQ(lines_of(top_view({}, 0)).size(), 1u);
  EXPECT_EQ(top_view({}, 30), "");
}

}  // namespace
}  // namespace farvec::cli
