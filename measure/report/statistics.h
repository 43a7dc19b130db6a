// Summarises the numbers of a few passes, or of many queries, in one.
#pragma once

#include <vector>

namespace farvec::measure {

/// Returns the middle value (mean of the middle two); 0 for none.
double median(std::vector<double> values);

/// Returns the value below which `share` of the values are (nearest rank); 0 for none. Reorders
/// them.
double percentile(std::vector<float>& values, double share);

}  // namespace farvec::measure
