#include "measure/bench/disk_bench.h"

#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "measure/bench/bench_disk_report.h"
#include "measure/bench/fio.h"
#include "measure/report/machine.h"
#include "transport/load/read_load.h"

namespace farvec::measure {
namespace {

/// Returns fio's version; "" when fio is not wanted, or is not installed and was not asked for.
std::string wanted_fio(const std::string& choice) {
  if (choice == "off") return "";
  std::string version = fio_version();
  if (version.empty() && choice == "on") {
    throw Error("--fio on: there is no fio in PATH; install the package fio");
  }
  return version;
}

class DiskBench {
 public:
  explicit DiskBench(const DiskBenchOptions& options)
      : options_(options),
        fio_(wanted_fio(options.fio)),
        seeds_(options.seed),
        points_(options.axes.points()),
        load_(options.target) {
    load_.prepare(points_);
    for (const BenchPoint& point : points_) rows_.push_back({point, {}, {}});
  }

  void measure() {
    bool ours_first = true;
    run_passes(options_.passes, options_.interrupted, [&] {
      for (DiskRow& row : rows_) {
        if (ours_first) measure_ours(row);
        if (!fio_.empty()) measure_fio(row);
        if (!ours_first) measure_ours(row);
      }
      ours_first = !ours_first;
    });
  }

  void report(JsonLines& json) const {
    const BenchContext context{host_description(), options_.seconds * 1e3, options_.seed};
    const DiskFacts facts{options_.target.path, load_.model(),        fio_,
                          file().size(),        file().block_bytes(), file().direct()};
    print_disk_header();
    for (const DiskRow& row : rows_) {
      print_disk_row(row);
      for (const std::string& line : disk_json(context, facts, row)) json.append(line);
    }
    json.write();
  }

 private:
  const disk::DiskFile& file() const { return load_.file(); }

  void measure_ours(DiskRow& row) {
    add_pass(row.farvec, load_.run(row.point, options_.seconds, seeds_.next()).threads);
  }

  void measure_fio(DiskRow& row) {
    const BenchPoint& point = row.point;
    const FioResult result = run_fio({.path = file().path(),
                                      .direct = file().direct(),
                                      .block_bytes = load_.shape_of(point).alignment,
                                      .small_bytes = file().block_bytes(),
                                      .small_share = point.mix,
                                      .depth = point.inflight,
                                      .threads = point.threads,
                                      .run_ms = options_.seconds * 1e3});
    const double mean_bytes =
        point.mix * transport::kSmallReadBytes + (1 - point.mix) * point.payload_bytes;
    row.fio.reads_per_s.push_back(result.reads_per_s);
    row.fio.gb_per_s.push_back(result.reads_per_s * mean_bytes / 1e9);
    row.fio.mean_us.push_back(result.mean_us);
    row.fio.p50_us.push_back(result.p50_us);
    row.fio.p99_us.push_back(result.p99_us);
  }

  const DiskBenchOptions& options_;
  const std::string fio_;
  Random seeds_;
  const std::vector<BenchPoint> points_;
  DiskLoad load_;
  std::vector<DiskRow> rows_;
};

}  // namespace

void bench_disk(const DiskBenchOptions& options, JsonLines& json) {
  DiskBench bench(options);
  bench.measure();
  bench.report(json);
}

}  // namespace farvec::measure
