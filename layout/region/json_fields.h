// JsonFields gives checked access to the fields of a JSON object, with errors that name file and
// field.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace farvec::layout {

/// The most bytes of a text in a manifest, for example of the name of a data set.
inline constexpr std::size_t kMostTextBytes = 4096;

/// JsonFields is a view of one object. `path` is what errors call it: "DIR/manifest.json: graph".
/// Every getter throws Error when the field is missing, of another type, or out of range.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string path);

  /// Tests a field that may be missing.
  bool has(const char* name) const { return object_.contains(name); }
  std::uint64_t integer(const char* name, std::uint64_t least,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  std::uint32_t integer32(const char* name, std::uint64_t least,
                          std::uint64_t most = std::numeric_limits<std::uint32_t>::max()) const;
  double number(const char* name, double least, double most) const;
  bool boolean(const char* name) const;
  /// Returns a text of at most `longest` bytes.
  const std::string& text(const char* name, std::size_t longest = kMostTextBytes) const;
  /// Returns `parse` of a text; `parse` throws Error for a text that it does not accept.
  template <typename Parse>
  auto word(const char* name, Parse parse) const {
    const std::string& word = text(name);
    try {
      return parse(word);
    } catch (const Error& error) {
      fail(name, fmt::format("is not understood ({})", error.what()));
    }
  }
  /// Returns the value of sixteen hexadecimal digits.
  std::uint64_t hash(const char* name) const;
  JsonFields object(const char* name) const;
  const nlohmann::json& array(const char* name) const;
  /// Returns an object in an array of this length or longer.
  JsonFields element(const char* name, std::size_t i) const;

  const std::string& path() const { return path_; }

  /// Throws Error about this field.
  [[noreturn]] void fail(const char* name, std::string_view what) const;

 private:
  const nlohmann::json& field(const char* name) const;

  const nlohmann::json& object_;
  const std::string path_;
};

std::string hash_to_text(std::uint64_t hash);
/// Returns false unless `text` is sixteen hexadecimal digits.
bool hash_from_text(std::string_view text, std::uint64_t& hash);

}  // namespace farvec::layout
