// Records that can be told apart, and the plain list of them that a log is compared with.
#pragma once

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "wal/log.h"
#include "wal/log_reader.h"

namespace farvec::wal::tests {

using Bytes = std::vector<std::byte>;

inline Ticks in_seconds(double seconds) {
  return now_ticks() + us_to_ticks(seconds * 1e6);
}

/// Of `size` bytes that only this number has (and the size, when there are too few for that).
inline Bytes record_of(std::uint64_t number, std::size_t size) {
  Random random(number);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

inline Result<Position> append(Log& log, std::span<const std::byte> record) {
  const std::array parts{record};
  return log.append(parts);
}

struct ReadRecord {
  Position begin, end;
  Bytes bytes;
};

struct ReadLog {
  std::vector<ReadRecord> records;
  Position end = 0;
  std::uint64_t torn_bytes = 0;

  std::vector<Bytes> bytes() const {
    std::vector<Bytes> all;
    for (const ReadRecord& record : records) all.push_back(record.bytes);
    return all;
  }
};

inline ReadLog read_log(const std::filesystem::path& folder, Position from = 0) {
  LogReader reader(folder, from);
  ReadLog read;
  while (const auto record = reader.next()) {
    read.records.push_back(
        {record->begin, record->end, {record->bytes.begin(), record->bytes.end()}});
  }
  read.end = reader.end();
  read.torn_bytes = reader.torn_bytes();
  return read;
}

inline LogOptions small_log(const std::filesystem::path& folder) {
  return {.folder = folder, .segment_bytes = 16384, .pending_bytes = 1 << 20};
}

}  // namespace farvec::wal::tests
