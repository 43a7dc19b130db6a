#include "cluster/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Memberships {
  MembershipView view() const { return {begins, clusters}; }
  void add(const std::vector<ClusterId>& of) {
    clusters.insert(clusters.end(), of.begin(), of.end());
    begins.push_back(clusters.size());
  }
  std::vector<std::uint64_t> begins{0};
  std::vector<ClusterId> clusters;
};

/// Each vector in 1 to `replicas` different clusters.
Memberships random_memberships(std::size_t vectors, std::uint32_t clusters, std::uint32_t replicas,
                               Random& random) {
  Memberships result;
  std::vector<ClusterId> all(clusters);
  std::iota(all.begin(), all.end(), ClusterId{0});
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::size_t size = 1 + random.below(std::min(replicas, clusters));
    for (std::size_t i = 0; i < size; ++i) {
      std::swap(all[i], all[i + random.below(clusters - i)]);
    }
    result.add({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  return result;
}

TEST(Grouping, TakesTheMostFrequentCluster) {
  Memberships memberships;
  memberships.add({0, 1, 2});
  memberships.add({2});
  memberships.add({1, 0});
  const std::vector<std::uint64_t> frequency{5, 9, 7};
  EXPECT_THAT(group_by_frequency(memberships.view(), frequency, 2), ElementsAre(1, 2, 1));
}

TEST(Grouping, OfEqualsTheLargestAndThenTheFirstNumber) {
  Memberships memberships;
  memberships.add({2, 1, 0});
  memberships.add({0, 2});
  memberships.add({1, 0});
  memberships.add({2});
  memberships.add({2, 3});
  // Members: 3, 2, 4, 1.
  EXPECT_THAT(group_by_frequency(memberships.view(), {}, 1), ElementsAre(2, 2, 0, 2, 2));
  const std::vector<std::uint64_t> frequency{4, 9, 9, 9};
  EXPECT_THAT(group_by_frequency(memberships.view(), frequency, 1), ElementsAre(2, 2, 1, 2, 2));
  const std::vector<std::uint64_t> never(4, 0);
  EXPECT_THAT(group_by_frequency(memberships.view(), never, 1), ElementsAre(2, 2, 0, 2, 2));
  Memberships equal;
  equal.add({1, 0});
  equal.add({0, 1});
  EXPECT_THAT(group_by_frequency(equal.view(), {}, 1), ElementsAre(0, 0));
}

TEST(Grouping, NoVectors) {
  EXPECT_TRUE(group_by_frequency(Memberships().view(), {}, 2).empty());
  EXPECT_TRUE(group_by_frequency({}, {}, 2).empty());
}

TEST(Grouping, RefusesFrequenciesOfAnotherIndex) {
  Memberships memberships;
  memberships.add({0, 3});
  const std::vector<std::uint64_t> three{1, 2, 3};
  try {
    group_by_frequency(memberships.view(), three, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cluster 3, but there are frequencies of 3"));
  }
}

TEST(Grouping, ThreadsDoNotMatter) {
  Random random(3);
  const Memberships memberships = random_memberships(300000, 1000, 8, random);
  std::vector<std::uint64_t> frequency(1000);
  for (auto& f : frequency) f = random.below(50);
  EXPECT_EQ(group_by_frequency(memberships.view(), frequency, 1),
            group_by_frequency(memberships.view(), frequency, 4));
}

TEST(CountRequests, CountsGroupsAndStrays) {
  Memberships memberships;
  memberships.add({0, 1});
  memberships.add({1});
  const std::vector<std::uint64_t> frequency{10, 100};
  const std::vector<ClusterId> first{0, 1}, second{1, 1};
  EXPECT_EQ(count_requests(memberships.view(), frequency, first), 110u + 100u);
  EXPECT_EQ(count_requests(memberships.view(), frequency, second), 110u + 10u);
}

// The same problem as an integer linear program (section 6.2 of the second-tier memory study, with
// the cost that its greedy is for): P_vj = 1 when v lies in the group of j.

void write_program(const std::string& path, MembershipView membership,
                   const std::vector<std::uint64_t>& frequency) {
  std::ofstream out(path);
  // Frequency j is paid for every member of j but those in the group: maximise what is not paid.
  out << "Maximize\n saved:";
  for (std::size_t v = 0; v < membership.count(); ++v) {
    for (const ClusterId j : membership.of(v)) {
      out << "\n + " << frequency[j] << " P_" << v << "_" << j;
    }
  }
  out << "\nSubject To\n";
  for (std::size_t v = 0; v < membership.count(); ++v) {
    out << " one_" << v << ":";
    for (const ClusterId j : membership.of(v)) out << " + P_" << v << "_" << j;
    out << " = 1\n";
  }
  out << "Binary\n";
  for (std::size_t v = 0; v < membership.count(); ++v) {
    for (const ClusterId j : membership.of(v)) out << " P_" << v << "_" << j << "\n";
  }
  out << "End\n";
}

/// The homes of the solver's optimum: lines "index P_v_j value cost" after one with the status.
std::vector<ClusterId> read_solution(const std::string& path, std::size_t vectors) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  EXPECT_THAT(line, HasSubstr("Optimal"));
  std::vector<ClusterId> homes(vectors, kInvalidNode);
  std::size_t index = 0, v = 0;
  double value = 0, cost = 0;
  std::string name;
  while (in >> index >> name >> value >> cost) {
    ClusterId j = 0;
    EXPECT_EQ(std::sscanf(name.c_str(), "P_%zu_%u", &v, &j), 2) << name;
    if (value > 0.5) homes.at(v) = j;
  }
  return homes;
}

TEST(Grouping, IsTheOptimumOfTheIntegerProgram) {
  if (std::system("command -v cbc >/dev/null") != 0) {
    GTEST_SKIP() << "the solver cbc is not installed (scripts/install-deps.sh)";
  }
  const tests::TemporaryFolder folder;
  Random random(11);
  for (int instance = 0; instance < 20; ++instance) {
    const auto clusters = static_cast<std::uint32_t>(2 + random.below(12));
    const Memberships memberships = random_memberships(1 + random.below(60), clusters, 8, random);
    std::vector<std::uint64_t> frequency(clusters);
    for (auto& f : frequency) f = random.below(instance % 2 == 0 ? 4 : 1000);
    const std::string program = folder.file("program.lp");
    const std::string solution = folder.file("solution.txt");
    write_program(program, memberships.view(), frequency);
    const std::string command = "cbc " + program + " solve solution " + solution + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto optimal = read_solution(solution, memberships.view().count());
    const auto greedy = group_by_frequency(memberships.view(), frequency, 1);
    EXPECT_EQ(count_requests(memberships.view(), frequency, greedy),
              count_requests(memberships.view(), frequency, optimal))
        << "instance " << instance;
  }
}

}  // namespace
}  // namespace farvec::cluster
