// Makes a page for a browser from the rows of sweeps. The page needs no network.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

/// Returns the page. `rows` are rows that `farvec sweep --json` writes, also those with "error";
/// there may be none.
std::string report_page(const std::vector<nlohmann::ordered_json>& rows);

/// Writes the page to a file that appears when it is complete. Throws SystemError.
void write_report_page(const std::string& path, const std::vector<nlohmann::ordered_json>& rows);

}  // namespace farvec::measure
