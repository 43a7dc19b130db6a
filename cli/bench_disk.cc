// farvec bench disk: what a disk gives to random reads through our engine, beside fio.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "cli/bench_disk_report.h"
#include "cli/commands.h"
#include "cli/fio.h"
#include "cli/measurement.h"
#include "cli/pinned_threads.h"
#include "cli/test_file.h"
#include "compute_node/disk_endpoint.h"
#include "ssd_baseline/io/uring_queue.h"
#include "transport/load/read_load.h"

namespace farvec::cli {
namespace {

/// New reads go out when so small a part of the depth has completed: together they cost one system
/// call, and one exit where the disk is a virtual machine's.
constexpr std::uint32_t kRefills = 8;
constexpr std::size_t kMaxDestinationBytes = std::size_t{1} << 30;

struct DiskArguments {
  std::string path;
  std::string payloads = "512,4096,16384,65536";
  std::string depths = "1,32,128";
  std::string mixes = "0";
  std::string threads = "1";
  std::string fio = "auto";
  std::uint64_t bytes = std::uint64_t{4} << 30;
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double seconds = 1;
  std::string json;
};

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// "" when fio is not wanted, or not there and not asked for.
std::string wanted_fio(const std::string& choice) {
  if (choice == "off") return "";
  const std::string version = fio_version();
  if (version.empty() && choice == "on") {
    throw Error("--fio on: there is no fio in PATH; install the package fio");
  }
  return version;
}

void check_largest(const std::vector<std::uint32_t>& values, std::uint32_t most,
                   const char* option) {
  const std::uint32_t largest = *std::max_element(values.begin(), values.end());
  if (largest > most) throw Error("{}: {} is out of range: use 1 to {}", option, largest, most);
}

class DiskBench {
 public:
  explicit DiskBench(const DiskArguments& arguments)
      : arguments_(arguments), fio_(wanted_fio(arguments.fio)), seeds_(arguments.seed) {
    const BenchAxes axes = read_axes();
    std::string path = arguments.path;
    if (is_folder(path)) path = test_file_.emplace(path, arguments.bytes).path();
    files_ = {std::make_shared<ssd_baseline::DiskFile>(path)};
    for (const BenchPoint& point : axes.points()) rows_.push_back({point, {}, {}});
    check_rows();
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
    const DiskFacts facts{arguments_.path,      model_,         fio_, file().size(),
                          file().block_bytes(), file().direct()};
    print_disk_header();
    for (const DiskRow& row : rows_) {
      print_disk_row(row);
      for (const std::string& line : disk_json(context, facts, row)) json.append(line);
    }
    json.write();
  }

 private:
  const ssd_baseline::DiskFile& file() const { return *files_.front(); }

  BenchAxes read_axes() const {
    BenchAxes axes;
    axes.threads = split_numbers(arguments_.threads, "--threads");
    axes.payloads = split_numbers(arguments_.payloads, "--payload");
    axes.inflights = split_numbers(arguments_.depths, "--depth");
    axes.mixes = split_shares(arguments_.mixes, "--mix");
    check_largest(axes.payloads, ssd_baseline::kMaxDiskReadBytes, "--payload");
    check_largest(axes.inflights, ssd_baseline::kMaxQueuedReads, "--depth");
    axes.batches = {ssd_baseline::kMaxQueuedReads};  // reduced to the depth
    return axes;
  }

  /// Refuses what cannot be measured before anything is.
  void check_rows() {
    const compute_node::DiskEndpoint probe(
        ssd_baseline::open_disk(files_, ssd_baseline::kMaxQueuedReads),
        {.max_read_bytes = ssd_baseline::kMaxDiskReadBytes});
    model_ = probe.description();
    std::size_t bytes = 0;
    std::size_t threads = 0;
    for (const DiskRow& row : rows_) {
      const transport::LoadShape shape = shape_of(row.point);
      transport::check_load(shape, probe, 0);
      bytes = std::max(bytes, transport::destination_bytes(shape));
      threads = std::max<std::size_t>(threads, row.point.threads);
    }
    if (bytes > kMaxDestinationBytes / threads) {
      throw Error("{} threads with {} bytes of reads in flight each: use at most {} bytes together",
                  threads, bytes, kMaxDestinationBytes);
    }
    for (std::size_t t = 0; t < threads; ++t) destinations_.emplace_back(bytes);
  }

  /// Reads begin at multiples of the payload, as fio's do, and the smallest are of one block.
  transport::LoadShape shape_of(const BenchPoint& point) const {
    const std::size_t unit = std::max<std::size_t>(file().block_bytes(), transport::kLoadAlignment);
    return {.payload_bytes = point.payload_bytes,
            .inflight = point.inflight,
            .batch = std::max(point.inflight / kRefills, 1u),
            .small_share = point.mix,
            .alignment = static_cast<std::uint32_t>(round_up(point.payload_bytes, unit))};
  }

  /// What is not of whole blocks is copied.
  compute_node::DiskEndpointOptions endpoint_options(const BenchPoint& point) const {
    const bool whole = point.payload_bytes % file().block_bytes() == 0;
    return {.max_read_bytes = ssd_baseline::kMaxDiskReadBytes,
            .max_staged_bytes = whole ? transport::kSmallReadBytes : point.payload_bytes};
  }

  /// Each thread opens its engine: a ring belongs to the thread that reads with it.
  void measure_ours(DiskRow& row) {
    std::vector<transport::LoadCounts> counts(row.point.threads);
    std::vector<std::uint64_t> seeds;
    for (std::size_t t = 0; t < counts.size(); ++t) seeds.push_back(seeds_.next());
    run_pinned(counts.size(), [&](std::size_t t) {
      compute_node::DiskEndpoint endpoint(ssd_baseline::open_disk(files_, row.point.inflight),
                                          endpoint_options(row.point));
      endpoint.register_memory(destinations_[t].span());
      transport::LoadOptions options;
      options.shape = shape_of(row.point);
      options.destinations = destinations_[t].span();
      options.seed = seeds[t];
      counts[t] = transport::ReadLoad(endpoint, options).run(arguments_.seconds * 1e6);
    });
    add_pass(row.farvec, counts);
  }

  void measure_fio(DiskRow& row) {
    const BenchPoint& point = row.point;
    const FioResult result = run_fio({.path = file().path(),
                                      .direct = file().direct(),
                                      .block_bytes = shape_of(point).alignment,
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

  const DiskArguments& arguments_;
  const std::string fio_;
  Random seeds_;
  std::optional<TestFile> test_file_;
  ssd_baseline::DiskFiles files_;
  std::string model_;
  std::vector<DiskRow> rows_;
  std::vector<HugeBuffer> destinations_;  ///< by thread
};

void bench_disk(const DiskArguments& arguments) {
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.seconds > 0 && arguments.seconds <= 3600)) {
    throw Error("--seconds: {} is out of range: use more than 0, at most 3600", arguments.seconds);
  }
  if (arguments.bytes == 0) throw Error("--bytes must be at least 1");
  JsonLines json(arguments.json);
  DiskBench bench(arguments);
  bench.measure();
  bench.report(json);
}

}  // namespace

void register_bench_disk_command(CLI::App& bench) {
  auto arguments = std::make_shared<DiskArguments>();
  DiskArguments& a = *arguments;
  CLI::App* command = bench.add_subcommand(
      "disk", "Measure random reads of a disk through io_uring, beside fio: rate, latency");
  command
      ->add_option("--path", a.path,
                   "A file or block device, which is only read, or a folder: a file of random "
                   "bytes is made\nthere and gone afterwards")
      ->required();
  command->add_option("--payload", a.payloads, "Useful bytes per read; whole blocks are read")
      ->capture_default_str();
  command->add_option("--depth", a.depths, "Reads in flight per thread")->capture_default_str();
  command
      ->add_option("--mix", a.mixes,
                   "Share of reads of which 128 bytes are useful instead of the payload")
      ->capture_default_str();
  command->add_option("--threads", a.threads, "Threads, each with its own ring")
      ->capture_default_str();
  command->add_option("--fio", a.fio, "Measure fio in the same passes; auto: where it is installed")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  command->add_option("--bytes", a.bytes, "Size of the file made in a folder")
      ->capture_default_str();
  command->add_option("--passes", a.passes, "Times every combination is measured, in turn")
      ->capture_default_str();
  command->add_option("--seconds", a.seconds, "Length of a pass")->capture_default_str();
  command->add_option("--seed", a.seed, "Of the offsets, multiples of the payload in whole blocks")
      ->capture_default_str();
  command->add_option("--json", a.json,
                      "File for one JSON object per engine, combination and line");
  command->footer(
      "Reads go past the page cache (O_DIRECT) where the file system can. Latency is that of a "
      "read, from\nits submission to the poll that delivered it. The table shows medians of the "
      "passes and the spread\nof the rate, and of its ratio to fio's in the same pass.\n"
      "Example:\n"
      "  farvec bench disk --path /data --payload 512,4096,65536 --depth 1,32,128 \\\n"
      "    --mix 0,0.5,0.9 --json disk.json");
  command->callback([arguments] { bench_disk(*arguments); });
}

}  // namespace farvec::cli
