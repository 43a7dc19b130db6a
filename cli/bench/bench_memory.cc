// The command `farvec bench memory` measures what this machine's memory gives to random cache
// lines.
#include <memory>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "measure/bench/memory_bench.h"
#include "measure/report/measurement.h"
#include "search/core/pinned_threads.h"

namespace farvec::cli {
namespace {

struct MemoryArguments {
  std::string pages = "4k,huge";
  std::string threads;
  std::string asks = "load,l1,l2,sequential";
  std::string inflights = "1,2,4,8,16,32,64";
  std::uint64_t bytes = 0;
  std::uint32_t passes = 3;
  double pass_ms = 50;
  std::string json;
};

/// Returns the numbers that the text names; without a text one thread and as many as there are
/// processors, or one number when they are the same.
std::vector<std::uint32_t> thread_counts(const std::string& text) {
  if (!text.empty()) return measure::split_numbers(text, "--threads");
  const std::size_t all =
      measure::split_words(search::allowed_processors(measure::kMostThreads)).size();
  std::vector<std::uint32_t> counts{1};
  if (all > 1) counts.push_back(static_cast<std::uint32_t>(all));
  return counts;
}

measure::MemoryAxes read_axes(const MemoryArguments& arguments) {
  measure::MemoryAxes axes;
  for (const std::string& word : measure::split_words(arguments.pages)) {
    axes.pages.push_back(measure::parse_pages(word));
  }
  for (const std::string& word : measure::split_words(arguments.asks))
    axes.asks.push_back(measure::parse_ask(word));
  axes.threads = thread_counts(arguments.threads);
  axes.inflights = measure::split_numbers(arguments.inflights, "--inflight");
  measure::check_largest(axes.threads, measure::kMostThreads, "--threads");
  measure::check_largest(axes.inflights, measure::kMostLinesInFlight, "--inflight");
  return axes;
}

void bench_memory(const Command& command, const MemoryArguments& arguments) {
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.pass_ms > 0 && arguments.pass_ms <= 60'000)) {
    throw Error("--ms: {} is out of range: use more than 0, at most 60000", arguments.pass_ms);
  }
  const std::size_t memory = measure::memory_bytes();
  if (arguments.bytes > memory) {
    throw Error("--bytes: {} is more than the {} bytes of this machine's memory", arguments.bytes,
                memory);
  }
  if (command.was_given("--bytes")) (void)measure::LineOrder(arguments.bytes);
  measure::JsonLines json(arguments.json);
  const measure::MemoryBenchOptions options{.axes = read_axes(arguments),
                                            .bytes = arguments.bytes,
                                            .passes = arguments.passes,
                                            .pass_ms = arguments.pass_ms,
                                            .interrupted = interrupted};
  const InterruptGuard watch;
  measure::bench_memory(options, json);
  if (interrupted()) throw Interrupted{};
}

}  // namespace

void register_bench_memory_command(Command& bench) {
  auto arguments = std::make_shared<MemoryArguments>();
  MemoryArguments& a = *arguments;
  Command command = bench.add_command(
      "memory", "Measure random cache lines of this machine's memory: rate, latency, bandwidth");
  command
      .add_option("--bytes", a.bytes,
                  "Memory that the lines are of, rounded down to a power of two; more than the\n"
                  "third-level cache [16 times that, 256MiB at least, a quarter of memory at most]")
      .size();
  command.add_option("--inflight", a.inflights, "Lines under way at once, of each thread")
      .show_default();
  command.add_option("--threads", a.threads, "Threads, each pinned to a processor [1 and all]");
  command
      .add_option("--pages", a.pages,
                  "4k: no huge pages, as shared memory and small allocations have it; huge: as\n"
                  "indexes in DRAM have it")
      .show_default();
  command
      .add_option("--ask", a.asks,
                  "load: a load of each line; l1, l2: a prefetch into the cache of that level and "
                  "then\na load; sequential: loads in the order of addresses, for the bandwidth")
      .show_default();
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command.add_option("--ms", a.pass_ms, "Length of a pass of a combination").show_default();
  command.add_option("--json", a.json, "File for one JSON object per combination and line");
  command.footer(
      "A thread follows as many chains through the memory as it may have lines under way; a line "
      "holds\nthe address of the next of its chain, so with one in flight ns/line is the latency. "
      "ns/line is the\ntime of one thread; Mlines/s and GB/s are of all together. Time is what the "
      "threads have of a\nprocessor; what else runs takes its share of caches and memory all the "
      "same. The table shows\nmedians of the passes and the spread of the rate, what is below it "
      "the best of each kind. How many\nlines a search touches, and the rate that they allow: "
      "`farvec sweep`.\nSIGINT ends it with what it has, and status 130.\n"
      "Example:\n"
      "  farvec bench memory --threads 1 --inflight 1,8,16,32,64 --json memory.json");
  command.callback([arguments, command] { bench_memory(command, *arguments); });
}

}  // namespace farvec::cli
