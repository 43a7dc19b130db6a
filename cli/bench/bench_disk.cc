// farvec bench disk: what a disk gives to random reads through our engine, beside fio.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "base/random.h"
#include "cli/bench/bench_disk_report.h"
#include "cli/bench/disk_load.h"
#include "cli/bench/fio.h"
#include "cli/commands.h"
#include "cli/report/machine.h"
#include "cli/report/measurement.h"
#include "disk/uring_queue.h"
#include "transport/load/read_load.h"

namespace farvec::cli {
namespace {

struct DiskBenchArguments {
  DiskTarget target;
  std::string payloads = "512,4096,16384,65536";
  std::string depths = "1,32,128";
  std::string mixes = "0%";
  std::string threads = "1";
  std::string fio = "auto";
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double seconds = 1;
  std::string json;
};

/// "" when fio is not wanted, or not there and not asked for.
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
  explicit DiskBench(const DiskBenchArguments& arguments)
      : arguments_(arguments),
        fio_(wanted_fio(arguments.fio)),
        seeds_(arguments.seed),
        points_(read_axes().points()),
        load_(arguments.target) {
    load_.prepare(points_);
    for (const BenchPoint& point : points_) rows_.push_back({point, {}, {}});
  }

  void measure() {
    bool ours_first = true;
    run_passes(arguments_.passes, [&] {
      for (DiskRow& row : rows_) {
        if (ours_first) measure_ours(row);
        if (!fio_.empty()) measure_fio(row);
        if (!ours_first) measure_ours(row);
      }
      ours_first = !ours_first;
    });
  }

  void report(JsonLines& json) const {
    const BenchContext context{host_description(), arguments_.seconds * 1e3, arguments_.seed};
    const DiskFacts facts{arguments_.target.path, load_.model(),        fio_,
                          file().size(),          file().block_bytes(), file().direct()};
    print_disk_header();
    for (const DiskRow& row : rows_) {
      print_disk_row(row);
      for (const std::string& line : disk_json(context, facts, row)) json.append(line);
    }
    json.write();
  }

 private:
  const disk::DiskFile& file() const { return load_.file(); }

  BenchAxes read_axes() const {
    BenchAxes axes;
    axes.threads = split_numbers(arguments_.threads, "--threads");
    axes.payloads = split_payloads(arguments_.payloads);
    axes.inflights = split_numbers(arguments_.depths, "--depth");
    axes.mixes = split_shares(arguments_.mixes, "--mix");
    check_largest(axes.payloads, disk::kMaxDiskRequestBytes, "--payload");
    check_largest(axes.inflights, disk::kMaxQueuedRequests, "--depth");
    axes.batches = {disk::kMaxQueuedRequests};  // reduced to the depth
    return axes;
  }

  void measure_ours(DiskRow& row) {
    add_pass(row.farvec, load_.run(row.point, arguments_.seconds, seeds_.next()).threads);
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
                                      .run_ms = arguments_.seconds * 1e3});
    const double mean_bytes =
        point.mix * transport::kSmallReadBytes + (1 - point.mix) * point.payload_bytes;
    row.fio.reads_per_s.push_back(result.reads_per_s);
    row.fio.gb_per_s.push_back(result.reads_per_s * mean_bytes / 1e9);
    row.fio.mean_us.push_back(result.mean_us);
    row.fio.p50_us.push_back(result.p50_us);
    row.fio.p99_us.push_back(result.p99_us);
  }

  const DiskBenchArguments& arguments_;
  const std::string fio_;
  Random seeds_;
  const std::vector<BenchPoint> points_;
  DiskLoad load_;
  std::vector<DiskRow> rows_;
};

void bench_disk(const Command& command, const DiskBenchArguments& arguments) {
  refuse_unused(command,
                std::vector<OptionRule>{
                    {"--bytes", std::filesystem::is_directory(arguments.target.path),
                     "a --path that is a folder; '" + arguments.target.path + "' is read"}});
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.seconds > 0 && arguments.seconds <= 3600)) {
    throw Error("--seconds: {} is out of range: use more than 0, at most 3600", arguments.seconds);
  }
  if (arguments.target.bytes == 0) throw Error("--bytes must be at least 1");
  JsonLines json(arguments.json);
  DiskBench bench(arguments);
  bench.measure();
  bench.report(json);
}

}  // namespace

void register_bench_disk_command(Command& bench) {
  auto arguments = std::make_shared<DiskBenchArguments>();
  DiskBenchArguments& a = *arguments;
  Command command = bench.add_command(
      "disk", "Measure random reads of a disk through io_uring, beside fio: rate, latency");
  command
      .add_option("--path", a.target.path,
                  "A file or block device, which is only read, or a folder: a file of random "
                  "bytes is written\nthere first and gone afterwards")
      .required();
  command.add_option("--payload", a.payloads, "Useful bytes per read; whole blocks are read")
      .show_default();
  command.add_option("--depth", a.depths, "Reads in flight per thread").show_default();
  command
      .add_option("--mix", a.mixes,
                  "Share of reads of which 128 bytes are useful instead of the payload")
      .show_default();
  command.add_option("--threads", a.threads, "Threads, each with its own ring").show_default();
  command.add_option("--fio", a.fio, "Measure fio in the same passes; auto: where it is installed")
      .one_of({"auto", "on", "off"})
      .show_default();
  command
      .add_option("--bytes", a.target.bytes,
                  "Size of the file written in a folder, like 4GiB; more than what the disk\n"
                  "itself keeps in memory")
      .size()
      .show_default();
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command.add_option("--seconds", a.seconds, "Length of a pass").show_default();
  command
      .add_option("--seed", a.seed,
                  "Random seed of the offsets, multiples of the payload in whole blocks")
      .show_default();
  command.add_option("--json", a.json, "File for one JSON object per engine, combination and line");
  command.footer(
      "Reads go past the page cache (O_DIRECT) where the file system can. Latency is that of a "
      "read, from\nits submission to the poll that delivered it. The table shows medians of the "
      "passes and the spread\nof the rate, and of its ratio to fio's in the same pass.\n"
      "Example:\n"
      "  farvec bench disk --path /data --payload 512,4096,65536 --depth 1,32,128 \\\n"
      "    --mix 0%,50%,90% --json disk.json");
  command.callback([arguments, command] { bench_disk(command, *arguments); });
}

}  // namespace farvec::cli
