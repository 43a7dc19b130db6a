// This header has what the engine leaves when a tablespace is dropped.
#ifndef FARVEC_POSTGRES_WORKER_TABLESPACES_H
#define FARVEC_POSTGRES_WORKER_TABLESPACES_H

// Has DROP TABLESPACE remove what the engine still has there of indexes that are gone, which the
// server does not see. It is for _PG_init() alone.
void watch_tablespaces(void);

#endif
