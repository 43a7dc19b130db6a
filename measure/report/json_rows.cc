#include "measure/report/json_rows.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace farvec::measure {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error("'{}' cannot be read", path);
  return text.str();
}

nlohmann::ordered_json parse_row(const std::string& line, const std::string& path,
                                 std::size_t number) {
  auto row = nlohmann::ordered_json::parse(line, nullptr, false);
  if (!row.is_object()) {
    throw Error("'{}' line {} is no row of a sweep: name another file", path, number);
  }
  return row;
}

}  // namespace

JsonRows read_json_rows(const std::string& path) {
  std::string text = read_text(path);
  JsonRows found;
  found.bytes = text.size();
  found.whole_bytes = text.rfind('\n') + 1;  // 0 when there is none
  text.resize(found.whole_bytes);
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty()) found.rows.push_back(parse_row(line, path, number));
  }
  return found;
}

}  // namespace farvec::measure
