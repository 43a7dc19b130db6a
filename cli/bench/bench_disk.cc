// The command `farvec bench disk` measures what a disk gives to random reads through our engine,
// beside fio.
#include <filesystem>
#include <memory>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "disk/uring_queue.h"
#include "measure/bench/disk_bench.h"
#include "measure/report/measurement.h"

namespace farvec::cli {
namespace {

struct DiskBenchArguments {
  measure::DiskTarget target;
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

measure::BenchAxes read_axes(const DiskBenchArguments& arguments) {
  measure::BenchAxes axes;
  axes.threads = measure::split_numbers(arguments.threads, "--threads");
  axes.payloads = measure::split_payloads(arguments.payloads);
  axes.inflights = measure::split_numbers(arguments.depths, "--depth");
  axes.mixes = measure::split_shares(arguments.mixes, "--mix");
  measure::check_largest(axes.payloads, disk::kMaxDiskRequestBytes, "--payload");
  measure::check_largest(axes.inflights, disk::kMaxQueuedRequests, "--depth");
  axes.batches = {disk::kMaxQueuedRequests};  // points() reduces it to the depth
  return axes;
}

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
  measure::JsonLines json(arguments.json);
  measure::bench_disk({.target = arguments.target,
                       .axes = read_axes(arguments),
                       .fio = arguments.fio,
                       .seed = arguments.seed,
                       .passes = arguments.passes,
                       .seconds = arguments.seconds},
                      json);
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
