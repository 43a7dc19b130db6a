// HugeBuffer is large anonymous memory in huge pages; the functions load unaligned little-endian
// values and prefetch cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace farvec {

inline constexpr std::size_t kCacheLineBytes = 64;
inline constexpr std::size_t kHugePageBytes = 2u << 20;

/// Loads a trivially copyable value from any address.
template <typename T>
T load_unaligned(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <typename T>
void store_unaligned(void* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Brings one cache line into the core's second-level cache. A core can have more of these requests
/// under way than requests into the first level, where it waits when all are in use
/// (docs/results/015-memory.md). The empty statement is for GCC, to which a function that only
/// prefetches has no effects, so that it may drop calls to it.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 0, 2);
  asm volatile("");
}

/// Brings every cache line of [address, address + bytes) towards the core.
inline void prefetch_range(const void* address, std::size_t bytes) {
  auto first = reinterpret_cast<std::uintptr_t>(address) & ~(kCacheLineBytes - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
  for (; first < end; first += kCacheLineBytes) {
    prefetch_line(reinterpret_cast<const void*>(first));
  }
}

/// Returns the number of cache lines that hold any of [offset, offset + bytes), in memory that
/// begins with a cache line.
constexpr std::uint64_t lines_of(std::uint64_t offset, std::size_t bytes) {
  if (bytes == 0) return 0;
  return (offset + bytes - 1) / kCacheLineBytes - offset / kCacheLineBytes + 1;
}

/// A HugeBuffer is zeroed anonymous memory, 2 MiB aligned, advised to transparent huge pages.
/// Movable, not copyable. Throws SystemError when the kernel refuses. A size of 0 holds no memory.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  explicit HugeBuffer(std::size_t bytes);
  ~HugeBuffer();
  HugeBuffer(HugeBuffer&& other) noexcept;
  HugeBuffer& operator=(HugeBuffer&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {data_, size_}; }
  std::span<const std::byte> span() const { return {data_, size_}; }

  /// Returns the memory that the buffer takes where its first `first` bytes were written, and none
  /// after them: whole pages, which are huge ones where it was advised to them.
  std::size_t bytes_taken(std::size_t first) const;

  /// Gives memory back to the kernel from `first` on, as far as whole pages of it reach. These
  /// bytes are zero when they are next touched. Other threads may read them meanwhile, as they were
  /// or as zeros; none may write them.
  void discard_from(std::size_t first);

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the most bytes that this program has had resident since it began (VmHWM); 0 where the
/// system does not say. What the process used before its exec(), or its parent used, does not
/// count.
std::size_t peak_resident_bytes();

}  // namespace farvec
