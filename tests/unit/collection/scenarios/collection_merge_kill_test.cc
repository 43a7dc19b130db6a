// A process is killed in the middle of merges, again and again: what was acknowledged is there, and
// the next one goes on. FARVEC_MERGE_KILLS=200 kills so often [4].
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "collection/read/collection_reader.h"
#include "tests/unit/collection/killed_writer.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

/// So slow that most of the time one is under way: of all rows some 0.2 s.
constexpr double kMergeBytesPerS = 800e3;
/// Behind the report of a merge.
constexpr auto kLatest = std::chrono::milliseconds(20);

using Seconds = std::chrono::duration<double>;

double percentile_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

TEST(CollectionKills, InTheMiddleOfMergesLoseNothing) {
  const int kills = kills_of("FARVEC_MERGE_KILLS", 4);
  const tests::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "set";
  layout::CollectionManifest shape = small_shape();
  shape.options.memtable_rows = 40;
  shape.options.merge_fanout = 2;
  Collection::create(path, shape);
  CollectionAccess access = small_access();
  access.merge_bytes_per_s = kMergeBytesPerS;
  Random random(11);
  Rows rows;
  std::uint64_t version = 0;
  Report all;
  std::map<std::string, int> phases;
  std::vector<double> openings;
  for (int kill_count = 0; kill_count < kills; ++kill_count) {
    const auto begin = std::chrono::steady_clock::now();
    KilledWriter writer(path, access);
    Report acknowledged = writer.next({.version = version});
    openings.push_back(Seconds(std::chrono::steady_clock::now() - begin).count());
    // Each phase, or one behind it, has its turn.
    const auto wanted = static_cast<BuildPhase>(1 + kill_count % 4);
    while (acknowledged.merging < wanted) {
      const Report next = writer.next({.version = ~std::uint64_t{0}});
      ASSERT_NE(next.version, ~std::uint64_t{0}) << "it ended by itself";
      acknowledged = next;
    }
    std::this_thread::sleep_for(kLatest * random.uniform());
    ASSERT_TRUE(writer.kill()) << "it ended by itself";
    acknowledged = writer.last(acknowledged);
    ++phases[to_string(acknowledged.merging)];
    all.built += acknowledged.built;
    all.merged += acknowledged.merged;

    CollectionReader reader(path, small_segments());
    const std::uint64_t reached = reader.view()->version;
    ASSERT_GE(reached, acknowledged.version) << "after " << kill_count << " kills";
    ASSERT_TRUE(bring_to(reached, version, rows)) << "a part of a batch";
    ASSERT_NO_FATAL_FAILURE(expect_holds(reader.view(), rows, random)) << kill_count << " kills";
  }
  fmt::print(
      "{} kills in merges, {} changes, {} segments built, {} merged; a writer opens in {:.3f} "
      "s (median), {:.3f} s at most; killed while",
      kills, version, all.built, all.merged, percentile_of(openings, 0.5),
      percentile_of(openings, 1));
  for (const auto& [phase, count] : phases)
    fmt::print(" {} {}", phase.empty() ? "between" : phase, count);
  fmt::print("\n");
}

}  // namespace
}  // namespace farvec::collection
