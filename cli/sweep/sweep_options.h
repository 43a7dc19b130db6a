// Declares what `farvec sweep` takes on its command line.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "rpc/tls_flags.h"
#include "search/core/disk_options.h"

namespace farvec::cli {

struct SweepArguments {
  std::string index;
  std::string queries;
  std::string groundtruth;
  std::string filter;
  std::string lists = "20,40,80,160";
  std::string widths = "1";
  std::string probes = "1,4,16,64";
  std::string dedup = "on";
  float prune_ratio = std::numeric_limits<float>::infinity();
  std::optional<std::uint32_t> merge_gap;
  std::string slots = "auto";
  std::string threads = "1";
  std::string tiers = "dram";
  std::string second_tier;
  std::string cache_bytes = "0";
  std::string range;
  std::string json;
  std::string html;
  bool resume = false;
  bool overwrite = false;
  std::string buffers = "10%,50%";
  std::uint32_t min_complete = 6;
  search::DiskArguments disk;
  std::uint32_t k = 10;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  double line_ns = 0;
  rpc::TlsFiles tls;
};

/// Adds the options, and the text below the help. The arguments must live until the command line is
/// parsed.
void add_sweep_options(Command& command, SweepArguments& arguments);

}  // namespace farvec::cli
