// This header turns texts of SQL, which have the encoding of the database, into the library's
// UTF-8, and back. Answers may be the text that was given, else they lie in the current context.
#ifndef FARVEC_POSTGRES_ENCODING_H
#define FARVEC_POSTGRES_ENCODING_H

// Ends with an error where a database without an encoding (SQL_ASCII) has bytes that are no UTF-8.
const char* utf8_of(const char* text);

// Ends with an error where a character is not in the encoding of the database.
const char* text_of_utf8(const char* utf8);

// Does that for messages, in which a question mark stands for a character that is not there.
const char* message_of_utf8(const char* utf8);

#endif
