// Declares the sub-commands of `farvec dataset`.
#pragma once

#include <string>

#include "base/command_line.h"
#include "dataset/groundtruth.h"

namespace farvec::cli {

void register_dataset_info(Command& dataset);
void register_dataset_convert(Command& dataset);
void register_dataset_sample(Command& dataset);
void register_dataset_groundtruth(Command& dataset);

/// Reports what was written to a file of ground truth.
void report_groundtruth(const std::string& out, const dataset::GroundTruth& truth, bool json);

}  // namespace farvec::cli
