/* The output of the simulations. */
#ifndef STORM_REPORT_H
#define STORM_REPORT_H

#include "simulation.h"

/* Prints the headings of `print_row`. */
void print_head(void);

/* Runs a scenario and prints one row. */
void print_row(const struct scenario *scenario);

/* Prints the table of every policy and trigger for each server, and the tables of bounds and of processes. */
void print_table(void);

/* Prints the first table as CSV. */
void print_csv(void);

/* Prints the load and the goodput in each second of an outage of the server "queue", for each policy, as CSV. */
void print_series(void);

/* Prints, as CSV, whether the server "queue" recovers from spikes of different sizes under different loads, with and
 * without a budget. */
void print_phases(void);

/* Prints the rows of an outage of the server "queue" for some policies. */
void print_demo(void);

#endif
