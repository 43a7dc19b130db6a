#include "measure/bench/working_set.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"

namespace farvec::measure {
namespace {

/// Returns the bytes in huge pages of the mapping that holds `address`, from /proc/self/smaps.
std::size_t huge_bytes_at(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("AnonHugePages:")) {
      return std::stoull(line.substr(line.find(':') + 1)) << 10;
    }
  }
  return 0;
}

}  // namespace

LineOrder::LineOrder(std::size_t bytes) {
  if (bytes < kLeastBytes) {
    throw Error("a working set of {} bytes is too small: use {} or more", bytes, kLeastBytes);
  }
  mask_ = std::bit_floor(bytes / kCacheLineBytes) - 1;
  shift_ = (static_cast<unsigned>(std::bit_width(mask_)) + 1) / 2;
}

std::string_view to_string(Pages pages) {
  return pages == Pages::small ? "4k" : "huge";
}

Pages parse_pages(std::string_view text) {
  for (const Pages pages : {Pages::small, Pages::huge}) {
    if (text == to_string(pages)) return pages;
  }
  throw Error("--pages: '{}' is unknown: use 4k or huge", text);
}

WorkingSet::WorkingSet(std::size_t bytes, Pages pages) : order_(bytes) {
  map(pages);
  for (std::size_t place = 0; place < order_.count(); ++place) {
    store_unaligned(data_ + order_.at(place) * kCacheLineBytes, line(place + 1));
  }
  huge_share_ = static_cast<double>(huge_bytes_at(data_)) / static_cast<double>(this->bytes());
  // The kernel may have put another mapping into the same line of its list.
  if (huge_share_ > 1) huge_share_ = 1;
}

void WorkingSet::map(Pages pages) {
  if (pages == Pages::huge) {
    huge_ = HugeBuffer(bytes());
    data_ = huge_.data();
    return;
  }
  void* const start =
      mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw SystemError(errno, "mapping {} bytes of memory", bytes());
  data_ = static_cast<std::byte*>(start);
  small_ = {data_, Unmap{bytes()}};
  // It fails only where the kernel knows no huge pages, and then there are none.
  (void)madvise(start, bytes(), MADV_NOHUGEPAGE);
}

void Unmap::operator()(std::byte* start) const {
  munmap(start, bytes);
}

}  // namespace farvec::measure
