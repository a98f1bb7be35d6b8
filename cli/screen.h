/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes to a terminal alone: its width, and colours. A pipe or a file gets whole lines and no escape sequence. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum cli_colour { CLI_PLAIN, CLI_GREEN, CLI_YELLOW, CLI_RED, CLI_DIM };

/* Columns of the terminal that out is; 0 where it is none, or has no width. */
int cli_screen_width(FILE *out);

/* Whether out may have colours: a terminal that isn't dumb, and NO_COLOR is unset or empty (no-color.org). */
bool cli_screen_colours(FILE *out);

/* text in that colour where out may have it. */
void cli_print_coloured(FILE *out, enum cli_colour colour, const char *text);

/*
 * text from column indent on, broken at blanks where it would reach the column width, each further line indented
 * likewise; a word that is longer stays whole, so that a path can be copied. width 0: in one line. Ends the line.
 * Control characters become '?': texts come from the network and from files.
 */
void cli_print_wrapped(FILE *out, int width, int indent, const char *text);

/* The same with prefix, instead of blanks, in front of each further line. */
void cli_print_wrapped_behind(FILE *out, int width, const char *prefix, const char *text);
