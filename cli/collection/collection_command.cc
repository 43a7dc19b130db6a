// The command `farvec collection` has the commands for a changing set of vectors below it.
#include "cli/collection/collection_commands.h"
#include "cli/commands.h"

namespace farvec::cli {

void register_collection_command(Command& tool) {
  Command command = tool.add_command(
      "collection", "A set of vectors that changes: inserts, deletes, searches all the while");
  command.require_command();
  command.footer(
      "A collection is a folder: segments (graph indexes that never change), a log of what is\n"
      "fresh, and collection.json, which names them. One process at a time changes it; any number\n"
      "search. Example:\n"
      "  farvec collection create --collection set --metric l2 --like base.u8bin\n"
      "  farvec collection insert --collection set --data base.u8bin --import\n"
      "  farvec collection insert --collection set --data more.u8bin --first-id 1000000\n"
      "  farvec collection delete --collection set --range 0:1000\n"
      "  farvec collection update --collection set --range 1000:2000 --set \"price = 3\"\n"
      "  farvec collection search --collection set --queries query.u8bin --list 40");
  register_collection_create(command);
  register_collection_insert(command);
  register_collection_delete(command);
  register_collection_update(command);
  register_collection_compact(command);
  register_collection_add_columns(command);
  register_collection_inspect(command);
  register_collection_count(command);
  register_collection_list(command);
  register_collection_follow(command);
  register_collection_verify(command);
  register_collection_search(command);
}

}  // namespace farvec::cli
