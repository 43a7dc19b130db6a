#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace farvec {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

HugeBuffer::HugeBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  // Over-allocates by one huge page, then gives back what is outside the aligned range.
  const std::size_t rounded = round_up(bytes, kHugePageBytes);
  const std::size_t mapped = rounded + kHugePageBytes;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw SystemError(errno, "mapping {} bytes of memory", mapped);
  auto* start = static_cast<std::byte*>(raw);
  const std::size_t head = round_up(reinterpret_cast<std::uintptr_t>(start), kHugePageBytes) -
                           reinterpret_cast<std::uintptr_t>(start);
  if (head > 0) munmap(start, head);
  const std::size_t tail = mapped - head - rounded;
  if (tail > 0) munmap(start + head + rounded, tail);
  data_ = start + head;
  // Only whole huge pages are advised, so that no more becomes resident than was asked for. It is
  // only advice: a kernel without it still works.
  const std::size_t whole = bytes / kHugePageBytes * kHugePageBytes;
  if (whole > 0) madvise(data_, whole, MADV_HUGEPAGE);
}

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) munmap(data_, round_up(size_, kHugePageBytes));
}

std::size_t HugeBuffer::bytes_taken(std::size_t first) const {
  const std::size_t whole = size_ / kHugePageBytes * kHugePageBytes;
  const std::size_t huge = std::min(round_up(first, kHugePageBytes), whole);
  return huge + (first > huge ? round_up(first - huge, kPageBytes) : 0);
}

void HugeBuffer::discard_from(std::size_t first) {
  const std::size_t begin = round_up(first, kPageBytes);
  const std::size_t end = round_up(size_, kPageBytes);
  if (begin >= end) return;
  // It cannot fail for memory that was mapped here; when it did, the bytes would stay.
  (void)madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

HugeBuffer::HugeBuffer(HugeBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HugeBuffer& HugeBuffer::operator=(HugeBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::size_t peak_resident_bytes() {
  // Not getrusage(): its peak survives exec(), so it includes the program that started this one.
  constexpr std::string_view kField = "VmHWM:";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kField)) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::size_t kib = 0;
    if (digits == std::string::npos) return 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

}  // namespace farvec
