// The sub-commands of `farvec dataset`.
#pragma once

#include "base/command_line.h"

namespace farvec::cli {

void register_dataset_info(Command& dataset);
void register_dataset_convert(Command& dataset);
void register_dataset_sample(Command& dataset);
void register_dataset_groundtruth(Command& dataset);

}  // namespace farvec::cli
