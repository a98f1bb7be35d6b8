/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes to a terminal alone. */
#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MIN = 40 };	/* narrower ones are written to as if they were so wide */

int cli_screen_width(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 0;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

bool cli_screen_colours(FILE *out)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}

void cli_print_coloured(FILE *out, enum cli_colour colour, const char *text)
{
	static const char *const codes[] = { "", "\033[32m", "\033[33m", "\033[31m", "\033[2m" };

	if (colour == CLI_PLAIN || !cli_screen_colours(out))
		fputs(text, out);
	else
		fprintf(out, "%s%s\033[0m", codes[colour], text);
}

/* Columns of the first len bytes: bytes that go on a character of UTF-8 take none. */
static int columns(const char *text, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

static void print_tame(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i], out);
}

void cli_print_wrapped(FILE *out, int width, int indent, const char *text)
{
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "%*s", indent, "");
	cli_print_wrapped_behind(out, width, prefix, text);
}

void cli_print_wrapped_behind(FILE *out, int width, const char *prefix, const char *text)
{
	int indent = columns(prefix, strlen(prefix)), column = indent;

	for (;;) {
		size_t len = strcspn(text, " ");

		if (width > 0 && column > indent && column + 1 + columns(text, len) > width) {
			fprintf(out, "\n%s", prefix);
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		print_tame(out, text, len);
		column += columns(text, len);
		text += len;
		if (!*text)
			break;
		text++;
	}
	fputc('\n', out);
}
