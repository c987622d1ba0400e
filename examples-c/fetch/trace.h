/* trace.h - the output of -v on standard error: what happened, what was decided, and why. */
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

/* Prints one line, with printf's format. */
void trace(struct trace *trace, const char *format, ...);

void trace_attempt(struct trace *trace, int number, const struct request *request);

/* Prints the addresses that were tried, in the order of their start, and the result of each. `race` may be NULL. */
void trace_race(struct trace *trace, const netlib_connect *race);

/* Prints a new connection, or a new TLS layer. `whose` is "" or "the proxy ". */
void trace_connection(struct trace *trace, const char *whose, const netlib_url *url,
                      const struct connection *connection);

void trace_response(struct trace *trace, const netlib_response *response);

/* Prints an error with its causes. */
void trace_error(struct trace *trace, const netlib_error *error);

/* Traces that the request is sent again, in which form and when; or that the server asks to wait too long. */
void trace_decision(struct trace *trace, const struct request *request, const netlib_decision *decision);

#endif
