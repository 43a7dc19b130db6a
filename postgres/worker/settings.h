// This header has the settings of the server's engine.
#ifndef FARVEC_POSTGRES_WORKER_SETTINGS_H
#define FARVEC_POSTGRES_WORKER_SETTINGS_H

#include <postgres.h>

extern int farvec_engine_memory_mb;  // 0: there is no engine
extern int farvec_engine_threads;    // 0: as many as there are processors
extern int farvec_engine_clean_s;    // between two looks for indexes that are gone

// The program, and the folder of indexes, in the current context.
char* engine_program(void);
char* engine_folder(void);

// Defines the settings, and has the server start the worker. It is for _PG_init() alone.
void define_engine_settings(void);
void register_engine_worker(void);

#endif
