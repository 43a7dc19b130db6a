// A Request is a copy of what a process asked, which stays as it is, and the way back to it.
#pragma once

#include "base/clock.h"
#include "base/status.h"
#include "base/status_error.h"
#include "postgres/channel/channel.h"
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace farvec::postgres {

/// Reads parts of a request, one after the other. They throw StatusError (invalid_argument) where
/// it is too short.
class RequestReader {
 public:
  explicit RequestReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename T>
  T read() {
    T value;
    const std::span<const std::byte> bytes = take(sizeof(T));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(std::size_t bytes);
  /// Throws unless all was read.
  void end() const;

 private:
  std::span<const std::byte> left_;
};

/// Answers one request. It may be used again for others.
class Request {
 public:
  /// Copies what was taken.
  void copy(Channel& channel, const ChannelTaken& taken);

  std::uint32_t operation() const { return taken_.operation; }
  std::uint32_t slot() const { return taken_.slot; }
  RequestReader reader() const { return RequestReader({bytes_.data(), taken_.bytes}); }
  bool is_given_up() const { return channel_is_given_up(channel_, &taken_); }

  // Each is called once for each copy, and one of them is.
  void answer(std::span<const std::byte> bytes = {}) const;
  template <typename T>
  void answer_with(const T& value) const {
    answer(std::as_bytes(std::span(&value, 1)));
  }
  void fail(StatusCode code, std::string_view why) const;
  /// Tells the exception that is being handled.
  void fail_with_current() const;

 private:
  void fail_with(std::int32_t status, std::string_view why) const;

  Channel* channel_ = nullptr;
  ChannelTaken taken_ = {};
  std::vector<std::byte> bytes_;
};

/// Returns when a request that may take this long ends; 0: in a minute.
Ticks end_of(std::uint32_t deadline_ms);

}  // namespace farvec::postgres
