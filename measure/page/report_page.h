// The rows of sweeps as one page for a browser, which needs no network.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

/// Rows as `farvec sweep --json` writes them, also those with "error". None is fine.
std::string report_page(const std::vector<nlohmann::ordered_json>& rows);

/// The page as a file that appears when it is complete. Throws SystemError.
void write_report_page(const std::string& path, const std::vector<nlohmann::ordered_json>& rows);

}  // namespace farvec::measure
