// A process that appends is killed; what it had acknowledged is found.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/file_names.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/wal/log_fixture.h"

namespace farvec::wal {
namespace {

using tests::append;
using tests::in_seconds;
using tests::read_log;
using tests::record_of;
using tests::small_log;

constexpr int kKills = 30;

std::size_t size_of(std::uint64_t number) {
  return number * 37 % 3000;
}

/// Appends from `number` on and writes the number of every acknowledged record to `out`, for ever.
[[noreturn]] void append_until_killed(const std::filesystem::path& folder, std::uint64_t number,
                                      int out) {
  const auto log = number == 0 ? Log::create(small_log(folder)) : Log::open(small_log(folder));
  for (;; ++number) {
    const auto end = append(*log, record_of(number, size_of(number)));
    if (!end.ok()) _exit(1);
    if (number % 3 != 0) continue;
    if (!log->wait(end.value(), in_seconds(60)).ok()) _exit(1);
    if (write(out, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }
}

/// Starts it, kills it behind `acknowledgements`; answers with the last one, or nothing.
std::optional<std::uint64_t> kill_after(const std::filesystem::path& folder, std::uint64_t number,
                                        std::uint64_t acknowledgements) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) append_until_killed(folder, number, ends[1]);
  close(ends[1]);
  std::uint64_t word = 0;
  std::optional<std::uint64_t> last;
  for (std::uint64_t i = 0; i < acknowledgements; ++i) {
    if (read(ends[0], &word, sizeof(word)) == sizeof(word)) last = word;
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  while (read(ends[0], &word, sizeof(word)) == sizeof(word)) last = word;
  close(ends[0]);
  return last;
}

TEST(Kill, LosesNoAcknowledgedRecord) {
  const farvec::tests::TemporaryFolder folder;
  Random random(7);
  std::uint64_t count = 0;
  for (int i = 0; i < kKills; ++i) {
    const auto last = kill_after(folder.path() / "log", count, 1 + random.below(20));
    ASSERT_TRUE(last.has_value());
    const auto read = read_log(folder.path() / "log");
    ASSERT_GT(read.records.size(), *last);
    for (std::uint64_t number = count; number < read.records.size(); ++number) {
      ASSERT_EQ(read.records[number].bytes, record_of(number, size_of(number)));
    }
    count = read.records.size();
  }
}

}  // namespace
}  // namespace farvec::wal
