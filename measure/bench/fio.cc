#include "measure/bench/fio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/program.h"
#include "search/core/pinned_threads.h"

namespace farvec::measure {
namespace {

constexpr double kStartMs = 60e3;  ///< time for what fio does besides reading

int percent(double share) {
  return static_cast<int>(std::lround(share * 100));
}

std::string block_sizes(const FioJob& job) {
  const int small = percent(job.small_share);
  if (small == 0) return fmt::format("--bs={}", job.block_bytes);
  return fmt::format("--bssplit={}/{}:{}/{}", job.small_bytes, small, job.block_bytes, 100 - small);
}

}  // namespace

std::string fio_version() {
  try {
    const ProgramResult result = run_program({"fio", "--version"}, kStartMs);
    if (result.status != 0) return "";
    return result.output.substr(0, result.output.find('\n'));
  } catch (const Error&) {
    return "";
  }
}

std::vector<std::string> fio_options(const FioJob& job) {
  return {"--name=farvec",
          "--filename=" + job.path,
          "--readonly",
          "--rw=randread",
          "--ioengine=io_uring",
          "--fixedbufs=1",
          "--registerfiles=1",
          "--norandommap=1",
          "--randrepeat=0",
          std::string(job.direct ? "--direct=1" : "--direct=0"),
          block_sizes(job),
          fmt::format("--blockalign={}", job.block_bytes),
          fmt::format("--iodepth={}", job.depth),
          fmt::format("--numjobs={}", job.threads),
          "--thread=1",
          "--group_reporting=1",
          "--cpus_allowed=" + search::allowed_processors(job.threads),
          "--cpus_allowed_policy=split",
          "--time_based=1",
          fmt::format("--runtime={}ms", std::max(1L, std::lround(job.run_ms))),
          "--lat_percentiles=1",
          "--clat_percentiles=0",
          "--percentile_list=50:99",
          "--output-format=json",
          "--eta=never"};
}

FioResult parse_fio(const std::string& output) {
  const std::size_t begin = output.find('{');  // notes may come first
  if (begin == std::string::npos) throw Error("fio printed no JSON: {}", output);
  try {
    const auto report = nlohmann::json::parse(output.substr(begin));
    const auto& job = report.at("jobs").at(0);
    if (const int error = job.at("error").get<int>(); error != 0) {
      throw SystemError(error, "fio's reads failed");
    }
    const auto& read = job.at("read");
    const auto& latency = read.at("lat_ns");
    const auto& percentiles = latency.at("percentile");
    return {read.at("iops").get<double>(), latency.at("mean").get<double>() / 1e3,
            percentiles.at("50.000000").get<double>() / 1e3,
            percentiles.at("99.000000").get<double>() / 1e3};
  } catch (const nlohmann::json::exception& error) {
    throw Error("fio's report is not as expected: {}", error.what());
  }
}

FioResult run_fio(const FioJob& job) {
  std::vector<std::string> command = fio_options(job);
  command.insert(command.begin(), "fio");
  const ProgramResult result = run_program(command, job.run_ms + kStartMs);
  if (result.status != 0) {
    std::string line;
    for (const std::string& word : command) line.append(word).append(" ");
    throw Error("'{}' ended with status {}: {}", line, result.status, result.output);
  }
  return parse_fio(result.output);
}

}  // namespace farvec::measure
