#include "postgres/engine/request.h"

#include <spdlog/spdlog.h>

#include "base/full_disk.h"
#include "changes/changing.h"
#include <algorithm>
#include <exception>
#include <new>

namespace farvec::postgres {
namespace {
constexpr std::uint32_t kUsualMs = 60'000;
constexpr std::uint32_t kMostMs = 3'600'000;
}  // namespace

std::span<const std::byte> RequestReader::take(std::size_t bytes) {
  if (bytes > left_.size()) {
    throw StatusError(StatusCode::invalid_argument, "the request ends {} bytes too early",
                      bytes - left_.size());
  }
  const std::span<const std::byte> taken = left_.first(bytes);
  left_ = left_.subspan(bytes);
  return taken;
}

void RequestReader::end() const {
  if (left_.empty()) return;
  throw StatusError(StatusCode::invalid_argument, "the request has {} bytes too many",
                    left_.size());
}

void Request::copy(Channel& channel, const ChannelTaken& taken) {
  channel_ = &channel;
  taken_ = taken;
  if (bytes_.size() < taken.bytes) bytes_.resize(taken.bytes);
  channel_read_request(channel_, &taken_, bytes_.data());
}

void Request::answer(std::span<const std::byte> bytes) const {
  channel_answer(channel_, &taken_, 0, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

void Request::fail(StatusCode code, std::string_view why) const {
  fail_with(static_cast<std::int32_t>(code), why);
}

void Request::fail_with(std::int32_t status, std::string_view why) const {
  const std::size_t bytes = std::min<std::size_t>(why.size(), CHANNEL_ANSWER_BYTES);
  channel_answer(channel_, &taken_, status, why.data(), static_cast<std::uint32_t>(bytes));
}

void Request::fail_with_current() const {
  try {
    throw;
  } catch (const changes::Refusal& error) {
    fail(error.code, error.reason);
  } catch (const StatusError& error) {
    fail(error.code, error.what());
  } catch (const std::bad_alloc&) {
    fail(StatusCode::resource_exhausted, "the engine has no memory for it");
  } catch (const std::exception& error) {
    spdlog::error("a request failed: {}", error.what());
    fail_with(is_full_disk(error) ? ASK_DISK_FULL : static_cast<std::int32_t>(StatusCode::internal),
              error.what());
  }
}

Ticks end_of(std::uint32_t deadline_ms) {
  const std::uint32_t ms = deadline_ms == 0 ? kUsualMs : std::min(deadline_ms, kMostMs);
  return now_ticks() + us_to_ticks(1e3 * ms);
}

}  // namespace farvec::postgres
