// This header has the settings of the server's engine.
#ifndef FARVEC_POSTGRES_WORKER_SETTINGS_H
#define FARVEC_POSTGRES_WORKER_SETTINGS_H

#include <postgres.h>

#include <common/relpath.h>

extern int farvec_engine_memory_mb;  // 0: there is no engine
extern int farvec_engine_threads;    // 0: as many as there are processors
extern int farvec_engine_clean_s;    // between two looks for indexes that are gone

// The program, and the folder of indexes, in the current context.
char* engine_program(void);
char* engine_folder(void);

// The server's tablespaces, each by its number, and the name of the engine's folder within one. It
// is another one for each version of the server: pg_upgrade leaves tablespaces where they are.
#define FARVEC_TABLESPACES "pg_tblspc"
#define FARVEC_TABLESPACE_FOLDER "farvec_" TABLESPACE_VERSION_DIRECTORY

// Defines the settings, and has the server start the worker. It is for _PG_init() alone.
void define_engine_settings(void);
void register_engine_worker(void);

#endif
