// This header reads vectors that are texts: "[1,2.5,-3]".
#ifndef FARVEC_POSTGRES_VECTOR_TEXT_H
#define FARVEC_POSTGRES_VECTOR_TEXT_H

#include "postgres/vector.h"

// Reads a whole text into a value of the kind, in the current context. Ends with an error where the
// text is none, and where an element is beyond the kind's range, not a number or infinite.
VectorHeader* vector_of_text(const char* text, const VectorKind* kind);

#endif
