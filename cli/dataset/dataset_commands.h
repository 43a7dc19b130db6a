// The sub-commands of `farvec dataset`.
#pragma once

namespace CLI {
class App;
}

namespace farvec::cli {

void register_dataset_info(CLI::App& dataset);
void register_dataset_convert(CLI::App& dataset);
void register_dataset_sample(CLI::App& dataset);
void register_dataset_groundtruth(CLI::App& dataset);

}  // namespace farvec::cli
