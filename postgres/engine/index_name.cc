#include "postgres/engine/index_name.h"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>

namespace farvec::postgres {

IndexName name_of(const AskedIndex& asked) {
  return {asked.number, asked.tablespace, asked.database, asked.file};
}

AskedIndex asked_of(const IndexName& name) {
  return {name.number, name.tablespace, name.database, name.file, 0};
}

std::string to_string(const IndexName& name) {
  return fmt::format("{}-{}-{}-{:016x}", name.tablespace, name.database, name.file, name.number);
}

std::optional<IndexName> parse_index_name(std::string_view text) {
  IndexName name;
  const std::string words(text);
  const int found = std::sscanf(words.c_str(), "%" SCNu32 "-%" SCNu32 "-%" SCNu32 "-%" SCNx64,
                                &name.tablespace, &name.database, &name.file, &name.number);
  // Only the one spelling of a name is one: "+1" and trailing words are none.
  if (found != 4 || to_string(name) != text) return std::nullopt;
  return name;
}

}  // namespace farvec::postgres
