// Writes a small log of two segments, closed, with and without torn bytes behind its end.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "tests/fuzz/seed_files.h"
#include "tests/fuzz/wal/log_fuzz.h"
#include "wal/log.h"
#include "wal/log_segment_list.h"

namespace {

using namespace farvec;

void write_log(const std::filesystem::path& folder) {
  const auto log = wal::Log::create({.folder = folder, .segment_bytes = fuzz::kFuzzSegmentBytes});
  for (const std::size_t size : {0, 1, 8, 100, 2000, 3000, 40}) {
    const std::vector<std::byte> record(size, static_cast<std::byte>(size));
    const std::array<std::span<const std::byte>, 1> parts{record};
    if (!log->append(parts).ok()) throw Error("cannot append to a log of seeds");
  }
}

void write_all(const std::filesystem::path& folder) {
  const auto log = folder / ("log_of_seeds_" + std::to_string(getpid()));
  write_log(log);
  std::vector<std::byte> bytes(1);
  for (const wal::LogSegment& segment : wal::list_log_segments(log)) {
    const std::size_t at = bytes.size();
    bytes.resize(at + segment.file_bytes);
    InputFile(segment.path).read_at(0, bytes.data() + at, segment.file_bytes);
  }
  std::filesystem::remove_all(log);
  fuzz::write_seed(fuzz::seed_path(folder, "wal_log_fuzz", "closed"), bytes);
  bytes[0] = std::byte{fuzz::kSealHeaders};
  fuzz::write_seed(fuzz::seed_path(folder, "wal_log_fuzz", "sealed"), bytes);
  bytes[0] = std::byte{0};
  bytes[bytes.size() - 4000] ^= std::byte{1};
  fuzz::write_seed(fuzz::seed_path(folder, "wal_log_fuzz", "damaged"), bytes);
}

}  // namespace

int main(int argc, char** argv) {
  return farvec::fuzz::write_seeds(argc, argv, write_all);
}
