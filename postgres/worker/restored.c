// A data directory that was restored goes on from an earlier state, in place or beside the engine's
// folder. Indexes of the engine then lack vectors that were erased since, or were copied while they
// changed. Their marks say otherwise, so the marks go: each index begins anew.
#include <postgres.h>

#include "postgres/worker/restored.h"

#include <access/xlog.h>
#include <errno.h>
#include <miscadmin.h>
#include <storage/fd.h>
#include <sys/stat.h>

#include "postgres/worker/settings.h"

#define MARK "covered"  // layout/collection/coverage_mark.h

// pg_rewind leaves a label too. The server renames these files when it has read them, which is
// after its libraries were loaded.
static bool is_restored(void) {
  struct stat found;
  return stat(BACKUP_LABEL_FILE, &found) == 0 || stat(RECOVERY_SIGNAL_FILE, &found) == 0;
}

static void forget_mark(const char* folder, const char* index) {
  struct stat found;
  char path[MAXPGPATH];
  const int length = snprintf(path, sizeof path, "%s/%s/%s", folder, index, MARK);
  if (length < 0 || (size_t)length >= sizeof path || lstat(path, &found) != 0) return;
  durable_unlink(path, FATAL);
}

// Calls for each name in a folder; none where it is not there.
static void for_each_name(const char* folder, void (*look)(const char* folder, const char* name)) {
  DIR* all = AllocateDir(folder);
  if (all == NULL && (errno == ENOENT || errno == ENOTDIR)) return;
  const struct dirent* entry;
  while ((entry = ReadDirExtended(all, folder, FATAL)) != NULL) {
    if (entry->d_name[0] != '.') look(folder, entry->d_name);
  }
  FreeDir(all);
}

static void forget_marks_of_tablespace(const char* tablespaces, const char* number) {
  char* folder = psprintf("%s/%s/%s", tablespaces, number, FARVEC_TABLESPACE_FOLDER);
  for_each_name(folder, forget_mark);
  pfree(folder);
}

void forget_marks_where_restored(void) {
  if (!process_shared_preload_libraries_in_progress || !is_restored()) return;
  for_each_name(engine_folder(), forget_mark);
  for_each_name(FARVEC_TABLESPACES, forget_marks_of_tablespace);
}
