/* SPDX-License-Identifier: Apache-2.0 */
/* Which error something is, and the sentence that says what to do. */
#ifndef REACH_ERRORS_H
#define REACH_ERRORS_H

#include <stddef.h>

/* The error of a connect(2) that failed with this errno. */
int error_of_connect(int number);
/* The error that the service names so. */
int error_of_name(const char *name);
/*
 * Writes the sentence for an error at a socket, with what to do; socket is empty if none is to be asked.
 * number is an errno or 0.
 */
void error_message(char *text, size_t size, int error, int number, const char *socket);

#endif
