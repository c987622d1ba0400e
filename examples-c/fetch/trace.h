/* trace.h - prints the output of -v on standard error: events, decisions and their reasons. */
#ifndef EXAMPLES_FETCH_TRACE_H
#define EXAMPLES_FETCH_TRACE_H

#include "connection.h"
#include "output.h"
#include "request.h"

#include <netlib.h>
#include <stdbool.h>

struct trace {
    bool on;
    struct output *output; /* has a progress bar that must be erased first */
};

/* Prints one line in printf's format, if -v was given. */
void trace(struct trace *trace, const char *format, ...);

void trace_attempt(struct trace *trace, int number, const struct request *request);

/* Prints the connection attempts in the order of their start: address, duration and result. `race` may be NULL. */
void trace_race(struct trace *trace, const netlib_connect *race);

/* Prints that a connection was opened or a TLS layer added. `whose` is "" for the server, and "the proxy " for the
 * proxy. */
void trace_connection(struct trace *trace, const char *whose, const netlib_url *url,
                      const struct connection *connection);

void trace_response(struct trace *trace, const netlib_response *response);

/* Prints an error with its causes. */
void trace_error(struct trace *trace, const netlib_error *error);

/* Prints the retry policy's decision: a retry or redirect with its delay and its changes to the request, or that the
 * server asks to wait too long. */
void trace_decision(struct trace *trace, const struct request *request, const netlib_decision *decision);

#endif
