#include "measure/page/report_page.h"

#include <map>
#include <string_view>

#include "base/error.h"
#include "base/output_file.h"
#include "base/version.h"
#include "measure/page/page_files.h"

namespace farvec::measure {
namespace {

/// Returns the rows as the text of a <script>, with "<" escaped: the first "</script" or "<!--" in
/// it would end or change the script.
std::string script_text(const std::vector<nlohmann::ordered_json>& rows) {
  const std::string text =
      nlohmann::ordered_json(rows).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string escaped;
  for (const char letter : text) {
    if (letter == '<') {
      escaped += "\\u003c";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

/// Returns the template with each @NAME@ of `parts` replaced; what a part holds is left as it is.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& parts) {
  std::string result;
  while (true) {
    const std::size_t begin = page.find('@');
    const std::size_t end = begin == page.npos ? page.npos : page.find('@', begin + 1);
    result += page.substr(0, begin);
    if (end == page.npos) return result += begin == page.npos ? "" : page.substr(begin);
    const std::string_view name = page.substr(begin + 1, end - begin - 1);
    const auto part = parts.find(name);
    if (part == parts.end()) {
      result += '@';
      page.remove_prefix(begin + 1);
    } else {
      result += part->second;
      page.remove_prefix(end + 1);
    }
  }
}

}  // namespace

std::string report_page(const std::vector<nlohmann::ordered_json>& rows) {
  return filled(page_files::html, {{"CHART_LICENSE", std::string(page_files::chart_licence)},
                                   {"PAGE_CSS", std::string(page_files::css)},
                                   {"VERSION", std::string(version())},
                                   {"DATA", script_text(rows)},
                                   {"CHART_JS", std::string(page_files::chart_js)},
                                   {"PAGE_JS", std::string(page_files::js)}});
}

void write_report_page(const std::string& path, const std::vector<nlohmann::ordered_json>& rows) {
  const std::string page = report_page(rows);
  OutputFile file(path, page.size());
  file.append(page.data(), page.size());
  file.commit();
}

}  // namespace farvec::measure
