// Declares the commands of the `farvec` tool. Each adds itself, its options and its callback to the
// tool.
#pragma once

#include "base/command_line.h"

namespace farvec::cli {

/// A command throws this when it has done its work and ends with another status than 0. It is no
/// std::exception, so that no handler takes it for a failure.
struct ExitStatus {
  int status;
};

void register_advise_command(Command& tool);
void register_bench_command(Command& tool);
/// The next three are below `farvec bench`.
void register_bench_disk_command(Command& bench);
void register_bench_memory_command(Command& bench);
void register_bench_service_command(Command& bench);
void register_build_command(Command& tool);
/// The next two are below `farvec build`.
void register_build_cluster_command(Command& build);
void register_build_hnsw_command(Command& build);
void register_collection_command(Command& tool);
void register_attributes_command(Command& tool);
void register_convert_command(Command& tool);
void register_dataset_command(Command& tool);
void register_delete_command(Command& tool);
void register_devices_command(Command& tool);
void register_insert_command(Command& tool);
void register_inspect_command(Command& tool);
void register_place_command(Command& tool);
void register_probe_counts_command(Command& tool);
void register_publish_command(Command& tool);
void register_regroup_command(Command& tool);
void register_report_command(Command& tool);
void register_runbook_command(Command& tool);
void register_search_command(Command& tool);
void register_status_command(Command& tool);
void register_sweep_command(Command& tool);
void register_top_command(Command& tool);
void register_vacuum_command(Command& tool);

}  // namespace farvec::cli
