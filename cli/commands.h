// The commands of the `farvec` tool. Each adds itself, its options and its callback to the tool.
#pragma once

namespace CLI {
class App;
}

namespace farvec::cli {

void register_advise_command(CLI::App& tool);
void register_bench_command(CLI::App& tool);
/// Below `farvec bench`.
void register_bench_disk_command(CLI::App& bench);
void register_bench_service_command(CLI::App& bench);
void register_build_command(CLI::App& tool);
/// Below `farvec build`.
void register_build_cluster_command(CLI::App& build);
void register_dataset_command(CLI::App& tool);
void register_inspect_command(CLI::App& tool);
void register_place_command(CLI::App& tool);
void register_probe_counts_command(CLI::App& tool);
void register_publish_command(CLI::App& tool);
void register_regroup_command(CLI::App& tool);
void register_search_command(CLI::App& tool);
void register_status_command(CLI::App& tool);
void register_sweep_command(CLI::App& tool);

}  // namespace farvec::cli
