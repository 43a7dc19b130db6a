// This header removes from the engine what belongs to indexes that are gone.
#ifndef FARVEC_POSTGRES_WORKER_FOLDERS_H
#define FARVEC_POSTGRES_WORKER_FOLDERS_H

#include <postgres.h>

// Looks, now and then, which of the engine's indexes have no file in the server any more, and has
// the engine remove them. What fails is done by a later call. For the worker, which calls it often.
void remove_folders_of_gone_indexes(void);

// Removes what the engine has of gone indexes in a tablespace that is about to be dropped. Indexes
// whose relations are there stay: the server then refuses to drop it.
void leave_tablespace(Oid tablespace);

#endif
