#include <postgres.h>

#include "postgres/worker/settings.h"

#include <limits.h>
#include <miscadmin.h>
#include <postmaster/bgworker.h>
#include <utils/guc.h>

#define PROGRAM "farvec-postgres-engine"
#define USUAL_MEMORY_MB 1024
#define MAX_THREADS 1024
#define USUAL_CLEAN_S 60
#define MAX_CLEAN_S 86400
#define RESTART_S 1

int farvec_engine_memory_mb = USUAL_MEMORY_MB;
int farvec_engine_threads = 0;
int farvec_engine_clean_s = USUAL_CLEAN_S;
static char* program = NULL;
static char* folder = NULL;

// The server takes settings that hold from its start only while it starts.
void define_engine_settings(void) {
  if (!process_shared_preload_libraries_in_progress) return;
  DefineCustomStringVariable("farvec.engine", "Program of the engine that has the indexes.",
                             "Empty: " PROGRAM " beside the extension.", &program, "",
                             PGC_POSTMASTER, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
  DefineCustomStringVariable("farvec.engine_folder", "Folder in which the engine has its indexes.",
                             "A relative path is one below the data directory.", &folder, "farvec",
                             PGC_POSTMASTER, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
  DefineCustomIntVariable(
      "farvec.engine_memory",
      "Most memory that the engine's indexes may take; 0: no engine is started.",
      "It bounds the records, ids and fresh rows of indexes that are in use.",
      &farvec_engine_memory_mb, USUAL_MEMORY_MB, 0, INT_MAX, PGC_POSTMASTER, GUC_UNIT_MB, NULL,
      NULL, NULL);
  DefineCustomIntVariable(
      "farvec.engine_threads", "Threads of the engine that search; 0: one for each processor.",
      NULL, &farvec_engine_threads, 0, 0, MAX_THREADS, PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomIntVariable("farvec.engine_clean_interval",
                          "Time between two looks for indexes of the engine that are gone.", NULL,
                          &farvec_engine_clean_s, USUAL_CLEAN_S, 1, MAX_CLEAN_S, PGC_SIGHUP,
                          GUC_UNIT_S, NULL, NULL, NULL);
}

char* engine_program(void) {
  return *program == '\0' ? psprintf("%s/%s", pkglib_path, PROGRAM) : pstrdup(program);
}

char* engine_folder(void) {
  return is_absolute_path(folder) ? pstrdup(folder) : psprintf("%s/%s", DataDir, folder);
}

void register_engine_worker(void) {
  if (!process_shared_preload_libraries_in_progress || farvec_engine_memory_mb == 0) return;
  BackgroundWorker worker = {.bgw_flags = BGWORKER_SHMEM_ACCESS,
                             .bgw_start_time = BgWorkerStart_PostmasterStart,
                             .bgw_restart_time = RESTART_S};
  strlcpy(worker.bgw_name, "farvec engine", sizeof worker.bgw_name);
  strlcpy(worker.bgw_type, "farvec engine", sizeof worker.bgw_type);
  strlcpy(worker.bgw_library_name, "farvec", sizeof worker.bgw_library_name);
  strlcpy(worker.bgw_function_name, "farvec_engine_main", sizeof worker.bgw_function_name);
  RegisterBackgroundWorker(&worker);
}
