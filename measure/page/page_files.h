// Declares the files that a page of a report is made of, with the contents that they had at the
// build: those of this folder, and Chart.js with its licence from the distribution's package
// libjs-chart.js.
#pragma once

#include <string_view>

namespace farvec::measure::page_files {

extern const std::string_view html;
extern const std::string_view css;
extern const std::string_view js;
extern const std::string_view chart_js;
extern const std::string_view chart_licence;

}  // namespace farvec::measure::page_files
