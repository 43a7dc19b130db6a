// This header has what the files of a build share: CREATE INDEX and REINDEX.
#ifndef FARVEC_POSTGRES_INDEX_BUILD_H
#define FARVEC_POSTGRES_INDEX_BUILD_H

#include <postgres.h>

#include <access/relscan.h>
#include <nodes/execnodes.h>
#include <storage/dsm.h>
#include <storage/shm_toc.h>
#include <utils/palloc.h>

#include "postgres/index/index.h"

typedef struct SharedBuild SharedBuild;
typedef struct BuildTeam BuildTeam;

// What one process does of a build: it reads rows of the table, and tells them to the store.
typedef struct Build {
  OpenIndex index;
  Delivery* delivery;
  MemoryContext row;  // what one row needs
  double rows;        // that this process has told
  // What all processes of the build share; NULL: there is one.
  SharedBuild* shared;
  BuildTeam* team;  // the workers of this process; NULL: there are none
  bool shows;       // this process shows how far all of them are
} Build;

// Reads the rows that `scan` gives to this process, or all with NULL, and tells them to the store.
// `processes` do so at the same time. Answers the rows of the table that it has read.
double read_rows(Build* build, Relation heap, IndexInfo* info, TableScanDesc scan, int processes);

// ---- Workers (build_workers.c) ----

// How many workers read the table beside this process, as the planner counts them.
int workers_for(Relation heap, Relation index);

// The function of a worker, which the server finds by its name.
PGDLLEXPORT void farvec_build_worker(dsm_segment* segment, shm_toc* toc);

// Reads all rows with workers. Answers the rows of the table, and the build then has those of the
// index; negative, with nothing done, where the server has no worker to give.
double read_with_workers(Build* build, Relation heap, IndexInfo* info, int workers);

// Ends the workers of a build that failed, and waits for their ends. Nothing is told to the store
// after it.
void end_workers(Build* build);

// Adds to the rows that all processes of a build have told, and answers how many these are.
uint64 count_told(Build* build, uint64 rows);

#endif
