// This header has what a start of the server does after its data directory was restored.
#ifndef FARVEC_POSTGRES_WORKER_RESTORED_H
#define FARVEC_POSTGRES_WORKER_RESTORED_H

// Removes the marks of the engine's indexes where the server starts from a backup or after
// pg_rewind. The server does not start where that fails. It is for _PG_init() alone, after the
// settings.
void forget_marks_where_restored(void);

#endif
