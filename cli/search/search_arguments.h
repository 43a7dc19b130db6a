// SearchArguments are what `farvec search` was given.
#pragma once

#include <cstdint>
#include <string>

#include "rpc/tls_flags.h"
#include "search/core/asked_search.h"
#include "search/core/disk_options.h"

namespace farvec::cli {

struct SearchArguments {
  std::string index;
  std::string connect;
  std::string queries;
  std::string out;
  std::string groundtruth;
  std::string tier = "dram";
  std::string probe_counts;
  search::AskedSearch parameters;
  /// Above 0: the list, or the clusters to probe, are chosen for this recall.
  double recall = 0;
  std::string plan = "chosen";
  std::string second_tier;
  std::string slots = "auto";
  unsigned threads = 0;
  search::DiskArguments disk;
  std::uint32_t deadline_ms = 10'000;
  std::uint32_t retries = 0;
  bool json = false;
  bool quiet = false;
  rpc::TlsFiles tls;
  bool has_bound = false;  ///< --within was given
};

}  // namespace farvec::cli
