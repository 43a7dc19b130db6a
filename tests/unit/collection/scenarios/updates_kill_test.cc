// A process that updates attributes is killed at any moment, again and again: each update that was
// acknowledged is there as a whole, and no other than the one that was under way.
// FARVEC_KILLS=1000 kills that many times [25].
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "collection/read/collection_reader.h"
#include "collection/state/matching_rows.h"
#include "tests/unit/collection/killed_writer.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

constexpr int kMostOpenMs = 30'000;

/// The round that last changed a row, by its id.
using Stamps = std::map<std::uint64_t, std::int64_t>;

layout::Schema stamp_schema() {
  return layout::parse_schema("stamp: i64, note: string");
}

/// What a round does; it follows from the round's number.
struct Round {
  enum class Kind : std::uint8_t { insert, update_ids, update_matching };

  explicit Round(std::int64_t number) : stamp(number), random(static_cast<std::uint64_t>(number)) {
    const std::uint64_t dice = random.below(8);
    kind = number == 0 || dice == 0 ? Kind::insert
           : dice < 5               ? Kind::update_ids
                                    : Kind::update_matching;
    const std::uint64_t first = number == 0 ? 0 : random.below(kKilledIds);
    // Updates of a few rows leave the segments as they are.
    const std::uint64_t most = number == 0 ? kKilledIds / 2 : kind == Kind::insert ? 40 : 8;
    const std::uint64_t end = std::min(first + 1 + random.below(most), kKilledIds + 20);
    for (std::uint64_t id = first; id < end; ++id) ids.push_back(id);
  }

  void apply(Stamps& stamps) const {
    for (const std::uint64_t id : ids) {
      if (kind == Kind::insert || stamps.contains(id)) stamps[id] = stamp;
    }
  }

  void apply(Collection& collection) {
    Receipt receipt;
    layout::Tuples stamp_alone;
    stamp_alone.append(layout::parse_schema("stamp: i64"), std::vector<layout::Value>{stamp});
    const changes::ColumnValues update{{"stamp"}, stamp_alone.view()};
    switch (kind) {
      case Kind::insert:
        return insert(collection);
      case Kind::update_ids:
        return collection.update(ids, update, within(kPatienceUs), receipt);
      case Kind::update_matching:
        return collection.update_matching(
            fmt::format("id between {} and {}", ids.front(), ids.back()), update,
            within(kPatienceUs), receipt);
    }
  }

  std::int64_t stamp;
  Random random;
  Kind kind;
  std::vector<std::uint64_t> ids;

 private:
  void insert(Collection& collection) {
    Batch batch;
    layout::Tuples tuples;
    for (const std::uint64_t id : ids) {
      batch.add(id, random_row(random));
      tuples.append(stamp_schema(),
                    std::vector<layout::Value>{stamp, "note of " + std::to_string(id)});
    }
    Receipt receipt;
    collection.insert({batch.rows(), batch.ids(), tuples.view()}, within(kPatienceUs), receipt);
  }
};

/// Says the last round before when the collection is open. Then does one round after the other, and
/// says each when it is acknowledged. Never returns.
[[noreturn]] void update_until_killed(const std::filesystem::path& path, std::int64_t round,
                                      int acknowledged) {
  try {
    CollectionAccess access = small_access();
    access.durability = wal::Durability::commit;
    Collection collection(path, access);
    const auto say = [&](std::int64_t done) {
      if (write(acknowledged, &done, sizeof(done)) != sizeof(done)) _exit(2);
    };
    say(round - 1);
    for (;; ++round) {
      Round next(round);
      next.apply(collection);
      say(round);
      const std::uint64_t dice = next.random.below(60);
      if (dice == 6) collection.compact();
      if (dice < 6) collection.flush();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the child failed: %s\n", error.what());
  }
  _exit(3);
}

/// A child's life begins with its process, or when it has opened the collection, which may take
/// longer than a life on a slow machine.
enum class Since : std::uint8_t { fork, open };

/// Returns the last round that a child acknowledged, `round` - 1 where none was.
std::int64_t killed_after(const std::filesystem::path& path, std::int64_t round,
                          std::chrono::microseconds life, Since since) {
  int ends[2] = {};
  if (pipe(ends) != 0) throw Error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw Error("no process");
  if (child == 0) update_until_killed(path, round, ends[1]);
  close(ends[1]);
  pollfd opened{ends[0], POLLIN, 0};
  if (since == Since::open) {
    EXPECT_EQ(poll(&opened, 1, kMostOpenMs), 1) << "it does not open";
  }
  std::this_thread::sleep_for(life);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  std::int64_t last = round - 1;
  for (std::int64_t next = 0; read(ends[0], &next, sizeof(next)) == sizeof(next);) last = next;
  close(ends[0]);
  return last;
}

Stamps stamps_of(const View& view) {
  Stamps stamps;
  const auto all = attributes::parse_condition("true", *view.schema);
  for (const MatchingRows& part : matching_rows(view, *all, {})) {
    for (const NodeId row : part.rows) {
      layout::Tuples tuple;
      part.place(row).append_attributes(tuple);
      const layout::Tuple values(tuple.view().row(0));
      stamps[part.id(row)] = static_cast<std::int64_t>(values.word(0));
      EXPECT_EQ(values.text(1), "note of " + std::to_string(part.id(row)));
    }
  }
  return stamps;
}

TEST(CollectionKills, UpdatedAttributesStay) {
  const tests::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "set";
  layout::CollectionManifest shape = small_shape();
  shape.schema = stamp_schema();
  Collection::create(path, shape);
  const int kills = kills_of("FARVEC_KILLS", 25);
  Random random(3);
  Stamps stamps;
  // It inserts more rows than a record of the log has, so that a kill could leave a part of them.
  Round(0).apply(stamps);
  {
    Collection collection(path, small_access());
    Round(0).apply(collection);
  }
  std::int64_t round = 1;
  std::uint64_t saved = 0;
  // On a slow machine most writers are killed before they save anything: more are killed then.
  for (int kill_count = 0; kill_count < (saved > 0 ? kills : 8 * kills); ++kill_count) {
    const std::chrono::microseconds most(kill_count % 4 == 3 ? 800'000 : 120'000);
    const auto life =
        std::chrono::duration_cast<std::chrono::microseconds>(most * random.uniform());
    const Since since = kill_count % 2 == 0 ? Since::fork : Since::open;
    const std::int64_t acknowledged = killed_after(path, round, life, since);
    for (; round <= acknowledged; ++round) Round(round).apply(stamps);
    const CollectionReader reader(path, small_segments());
    const Stamps found = stamps_of(*reader.view());
    if (found != stamps) {
      Round(round++).apply(stamps);  // it is in, and was not acknowledged
    }
    ASSERT_EQ(found, stamps) << "after " << kill_count << " kills";
    ASSERT_FALSE(::testing::Test::HasFailure()) << "after " << kill_count << " kills";
    for (const layout::SegmentEntry& segment : layout::read_collection(path).segments) {
      saved += segment.update_count;
    }
  }
  fmt::print("{} kills, {} rounds, {} updated rows seen in files\n", kills, round, saved);
  EXPECT_GT(saved, 0u);
}

}  // namespace
}  // namespace farvec::collection
