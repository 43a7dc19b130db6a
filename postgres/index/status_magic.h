// This header has the mark of a page of entries.
#ifndef FARVEC_POSTGRES_INDEX_STATUS_MAGIC_H
#define FARVEC_POSTGRES_INDEX_STATUS_MAGIC_H

#define FARVEC_PAGE_MAGIC 0x46765045  // FvPE

#endif
