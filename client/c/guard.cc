#include "client/c/guard.h"

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/file_names.h"
#include "base/progress.h"
#include "base/said_by.h"
#include "base/status_error.h"
#include "base/unreachable_error.h"
#include "rpc/channel.h"

namespace farvec::c {
namespace {

constexpr const char* kNoMemory = "there is not as much memory as this takes";

/// Reports what the C++ library throws. A thread or a buffer that cannot be made is no bug.
farvec_status report_library(farvec_error* error, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return report(error, StatusCode::resource_exhausted, kNoMemory);
  } catch (const std::length_error&) {
    return report(error, StatusCode::resource_exhausted, kNoMemory);
  } catch (const std::system_error& failure) {
    return report(error, StatusCode::resource_exhausted, said_by(failure));
  } catch (const std::exception& failure) {
    return report(error, StatusCode::internal, failure.what());
  } catch (...) {
    return report(error, StatusCode::internal, "something that is no error was thrown");
  }
}

farvec_status report_any(farvec_error* error, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& failure) {
    return report(error, failure.code, failure.what());
  } catch (const WorkInterrupted& failure) {
    return report(error, StatusCode::cancelled, failure.what());
  } catch (const rpc::NobodyListens& failure) {
    return report(error, StatusCode::unavailable, failure.what());
  } catch (const UnreachableError& failure) {
    return report(error, StatusCode::unavailable, failure.what());
  } catch (const Error& failure) {
    return report(error, StatusCode::invalid_argument, failure.what());
  } catch (...) {
    return report_library(error, thrown);
  }
}

/// Returns how many bytes of a text fit, so that no character of UTF-8 is cut.
std::size_t fitting(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text.size();
  std::size_t bytes = room;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return bytes;
}

/// Writes a question mark in the place of each byte that belongs to no character of UTF-8.
void replace_faulty(char* text, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    std::size_t length = 1;
    while (length <= 4 && at + length <= bytes && !is_utf8({text + at, length})) ++length;
    const bool sound = length <= 4 && at + length <= bytes;
    if (!sound) text[at] = '?';
    at += sound ? length : 1;
  }
}

}  // namespace

farvec_status report(farvec_error* error, StatusCode code, std::string_view message) noexcept {
  const auto status = static_cast<farvec_status>(code);
  if (error == nullptr) return status;
  const std::size_t bytes = fitting(message, sizeof(error->message) - 1);
  std::memcpy(error->message, message.data(), bytes);
  replace_faulty(error->message, bytes);
  error->message[bytes] = '\0';
  error->status = status;
  return status;
}

farvec_status report_thrown(farvec_error* error) noexcept {
  try {
    return report_any(error, std::current_exception());
  } catch (...) {
    return report(error, StatusCode::resource_exhausted, kNoMemory);
  }
}

}  // namespace farvec::c
