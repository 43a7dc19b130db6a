// What a C caller gives is checked and copied here, once, where it enters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status_error.h"
#include "base/types.h"
#include "client/c/farvec.h"
#include "client/c/worker.h"
#include "client/remote_node.h"
#include "search/core/asked_search.h"

namespace farvec::c {

// All of these throw StatusError (invalid_argument) that begins with `name`.

[[noreturn]] void refuse_null(const char* name);
/// Throws unless `pointer` is one.
template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) refuse_null(name);
  return *pointer;
}

/// Checks what a caller says to be the size of its struct.
void check_size(std::size_t size, const char* name);
/// Throws unless the bytes after the members that this library knows are all 0.
void check_unknown(const void* bytes, std::size_t count, const char* name);

/// Returns a copy of a struct that begins with its size, and may be of an older or a newer header.
/// Members that are not there are zero; a null pointer is a struct of zeros.
template <typename T>
T sized_copy(const T* given, const char* name) {
  T copy{};
  if (given == nullptr) return copy;
  const std::size_t size = given->size;
  check_size(size, name);
  std::memcpy(&copy, given, std::min(size, sizeof(T)));
  if (size > sizeof(T)) {
    check_unknown(reinterpret_cast<const char*>(given) + sizeof(T), size - sizeof(T), name);
  }
  return copy;
}

/// Writes a struct in the caller's place, as far as that has room, and zeros after it.
template <typename T>
void give_sized(T value, T& out, const char* name) {
  const std::size_t size = out.size;
  check_size(size, name);
  value.size = size;
  std::memset(static_cast<void*>(&out), 0, size);
  std::memcpy(&out, &value, std::min(size, sizeof(T)));
}

Wait given_wait(const farvec_wait* wait);
/// Returns a text; an empty one for a null pointer.
std::string given_text(const char* text);

/// Does the same with a text that is sent, which has to be UTF-8.
std::string given_utf8(const char* text, const char* name);

/// Owns a copy of vectors. Their values are checked where it is known what they are for.
class GivenVectors {
 public:
  GivenVectors(const farvec_vectors* vectors, const char* name);

  std::size_t count() const { return count_; }
  VectorView view() const { return packed_view(bytes_.data(), count_, dimension_, type_); }

 private:
  std::size_t count_;
  std::uint32_t dimension_;
  ElementType type_;
  std::vector<std::byte> bytes_;
};

std::vector<std::uint64_t> given_ids(const std::uint64_t* ids, std::size_t count);

/// Returns the JSON of the attributes of each row, none for a null pointer in its place.
using GivenAttributes = std::vector<std::optional<std::string>>;
GivenAttributes given_attributes(const char* const* attributes, std::size_t count);

/// Returns options without what depends on the node: numbers that were not given are 0.
search::AskedSearch given_search(const farvec_search_options* options);
/// Fills in what was not given.
void complete(search::AskedSearch& asked, const search::SearchBounds& most);

}  // namespace farvec::c
