#include "layout/region/json_fields.h"

#include <charconv>
#include <utility>

namespace farvec::layout {

JsonFields::JsonFields(const nlohmann::json& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) throw Error("{} is not a JSON object", path_);
}

const nlohmann::json& JsonFields::field(const char* name) const {
  const auto found = object_.find(name);
  if (found == object_.end()) throw Error("{}.{} is missing", path_, name);
  return *found;
}

std::uint64_t JsonFields::integer(const char* name, std::uint64_t least, std::uint64_t most) const {
  const nlohmann::json& value = field(name);
  if (!value.is_number_unsigned()) fail(name, "is not a non-negative integer");
  const auto number = value.get<std::uint64_t>();
  if (number < least || number > most) {
    fail(name, fmt::format("is {}, outside [{}, {}]", number, least, most));
  }
  return number;
}

std::uint32_t JsonFields::integer32(const char* name, std::uint64_t least,
                                    std::uint64_t most) const {
  return static_cast<std::uint32_t>(integer(name, least, most));
}

double JsonFields::number(const char* name, double least, double most) const {
  const nlohmann::json& value = field(name);
  if (!value.is_number()) fail(name, "is not a number");
  const auto number = value.get<double>();
  if (!(number >= least && number <= most)) {
    fail(name, fmt::format("is {}, outside [{}, {}]", number, least, most));
  }
  return number;
}

bool JsonFields::boolean(const char* name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_boolean()) fail(name, "is neither true nor false");
  return value.get<bool>();
}

const std::string& JsonFields::text(const char* name, std::size_t longest) const {
  const nlohmann::json& value = field(name);
  if (!value.is_string()) fail(name, "is not a text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > longest) fail(name, "is too long");
  return text;
}

std::uint64_t JsonFields::hash(const char* name) const {
  std::uint64_t hash = 0;
  if (!hash_from_text(text(name), hash)) fail(name, "is not sixteen hexadecimal digits");
  return hash;
}

JsonFields JsonFields::object(const char* name) const {
  return {field(name), fmt::format("{}.{}", path_, name)};
}

const nlohmann::json& JsonFields::array(const char* name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_array()) fail(name, "is not an array");
  return value;
}

JsonFields JsonFields::element(const char* name, std::size_t i) const {
  return {array(name)[i], fmt::format("{}.{}[{}]", path_, name, i)};
}

void JsonFields::fail(const char* name, std::string_view what) const {
  throw Error("{}.{} {}: the manifest is damaged or was not written by farvec", path_, name, what);
}

std::string hash_to_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

bool hash_from_text(std::string_view text, std::uint64_t& hash) {
  if (text.size() != 16) return false;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, hash, 16);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace farvec::layout
