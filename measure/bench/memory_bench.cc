#include "measure/bench/memory_bench.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace farvec::measure {
namespace {

std::uint32_t most_of(const std::vector<std::uint32_t>& values) {
  return *std::max_element(values.begin(), values.end());
}

class MemoryBench {
 public:
  explicit MemoryBench(const MemoryBenchOptions& options)
      : options_(options), axes_(options.axes), facts_{.machine = this_machine()} {
    const std::size_t bytes =
        options.bytes != 0 ? options.bytes : default_set_bytes(facts_.machine.l3_bytes);
    facts_.set_bytes = LineOrder(bytes).count() * kCacheLineBytes;
    facts_.pass_ms = options.pass_ms;
    const std::uint64_t chains = std::uint64_t{most_of(axes_.threads)} * most_of(axes_.inflights);
    if (chains > LineOrder(bytes).count()) {
      throw Error("--bytes: {} hold fewer lines than the {} that --threads and --inflight ask for",
                  facts_.set_bytes, chains);
    }
  }

  /// Measures each kind of pages by itself, so that one working set is there at a time.
  void run() {
    print_memory_header(facts_.machine, facts_.set_bytes);
    for (const Pages pages : axes_.pages) {
      if (interrupted()) return;
      MemoryAxes axes = axes_;
      axes.pages = {pages};
      measure(axes);
    }
  }

  void report(JsonLines& json) const {
    print_memory_summary(rows_);
    for (const MemoryRow& row : rows_) json.append(memory_json(facts_, row));
    json.write();
  }

 private:
  bool interrupted() const { return asked_to_end(options_.interrupted); }

  void measure(const MemoryAxes& axes) {
    const WorkingSet set(facts_.set_bytes, axes.pages.front());
    std::vector<MemoryRow> rows;
    for (const MemoryPoint& point : axes.points()) rows.push_back({point, set.huge_share()});
    run_passes(options_.passes, options_.interrupted, [&] {
      for (MemoryRow& row : rows) {
        if (interrupted()) return;
        row.lines_per_s.push_back(
            measure_lines(set, row.point, options_.pass_ms, options_.interrupted));
      }
    });
    for (const MemoryRow& row : rows) {
      if (row.lines_per_s.empty()) continue;  // interrupted
      print_memory_row(row);
      rows_.push_back(row);
    }
  }

  const MemoryBenchOptions& options_;
  const MemoryAxes axes_;
  MemoryFacts facts_;
  std::vector<MemoryRow> rows_;
};

}  // namespace

void bench_memory(const MemoryBenchOptions& options, JsonLines& json) {
  MemoryBench bench(options);
  bench.run();
  bench.report(json);
}

}  // namespace farvec::measure
