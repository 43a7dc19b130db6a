// Any bytes are the segments of a log, from which records are read; or an Error.
#include "tests/fuzz/wal/log_fuzz.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "layout/log/log_frame.h"
#include "layout/log/log_segment.h"
#include "tests/fuzz/fuzz_file.h"
#include "wal/log_reader.h"
#include "wal/log_segment_list.h"

namespace {

using namespace farvec;
namespace fs = std::filesystem;

/// In /dev/shm (or TMPDIR), removed at the end.
class FuzzFolder {
 public:
  FuzzFolder() {
    const char* parent = std::getenv("TMPDIR");
    path_ = fs::path(parent != nullptr ? parent : "/dev/shm") /
            ("farvec_fuzz_log_" + std::to_string(getpid()));
    fs::create_directories(path_);
  }
  ~FuzzFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Gives every header its position and checksum, from the first on as their lengths lead.
void seal(std::span<std::byte> bytes, std::uint64_t number) {
  if (bytes.size() < layout::kLogHeaderBytes) return;
  layout::LogSegmentHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.magic = layout::LogSegmentHeader::kMagic;
  header.version = layout::kLogVersion;
  header.number = number;
  const auto block = layout::encode_log_header(header);
  std::copy(block.begin(), block.end(), bytes.begin());
  const std::uint32_t seed = layout::log_frame_seed(header.salt);
  std::size_t at = layout::kLogHeaderBytes;
  while (at + sizeof(layout::LogFrameHeader) <= bytes.size()) {
    layout::LogFrameHeader frame;
    std::memcpy(&frame, bytes.data() + at, sizeof(frame));
    frame.position = header.first + (at - layout::kLogHeaderBytes);
    layout::seal_log_frame(frame, seed);
    std::memcpy(bytes.data() + at, &frame, sizeof(frame));
    at += layout::log_frame_bytes(frame.length);
  }
}

void read_all(const fs::path& folder, wal::Position from) {
  wal::LogReader reader(folder, from);
  wal::Position end = from;
  while (const auto record = reader.next()) {
    FARVEC_CHECK(record->begin >= end && record->end >= record->begin + record->bytes.size());
    end = record->end;
    if (!record->bytes.empty()) {
      volatile const std::byte last = record->bytes.back();
      (void)last;
    }
  }
  FARVEC_CHECK(reader.end() >= end || end == from);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzFolder folder;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> bytes(input.begin(), input.end());
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < bytes.size(); at += fuzz::kFuzzSegmentBytes, ++number) {
    const auto segment = std::span(bytes).subspan(
        at, std::min<std::size_t>(fuzz::kFuzzSegmentBytes, bytes.size() - at));
    if ((data[0] & fuzz::kSealHeaders) != 0) seal(segment, number);
    std::ofstream(folder.path() / wal::log_segment_name(number), std::ios::binary)
        .write(reinterpret_cast<const char*>(segment.data()),
               static_cast<std::streamsize>(segment.size()));
  }
  for (const wal::Position from : {0, 24, 4096}) {
    fuzz::expect_error_at_most([&] { read_all(folder.path(), from); });
  }
  return 0;
}
