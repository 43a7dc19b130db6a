// Declares the commands below `farvec collection`. Each adds itself.
#pragma once

#include "base/command_line.h"

namespace farvec::cli {

void register_collection_create(Command& collection);
void register_collection_insert(Command& collection);
void register_collection_delete(Command& collection);
void register_collection_update(Command& collection);
void register_collection_compact(Command& collection);
void register_collection_follow(Command& collection);
void register_collection_add_columns(Command& collection);
void register_collection_count(Command& collection);
void register_collection_list(Command& collection);
void register_collection_inspect(Command& collection);
void register_collection_verify(Command& collection);
void register_collection_search(Command& collection);

}  // namespace farvec::cli
