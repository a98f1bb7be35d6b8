/* SPDX-License-Identifier: BSD-2-Clause */
/* Service records in words. */
#include "record.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "out.h"

enum {
	ID_WIDTH = 18,		/* 0x0123456789abcdef */
	PKEY_WIDTH = 6,
	GAP = 2,
	NAME_LEAST = 8,		/* a name that is cut keeps so much */
};

const char *cli_record_lease(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS])
{
	if (record->lease_s == UINT32_MAX)
		snprintf(buf, CLI_RECORD_WORDS, "for ever");
	else
		snprintf(buf, CLI_RECORD_WORDS, "%" PRIu32 " s", record->lease_s);
	return buf;
}

/* The zeros at the end are not shown. */
const char *cli_record_data(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS])
{
	size_t len = sizeof(record->data);

	while (len > 0 && record->data[len - 1] == 0)
		len--;
	snprintf(buf, CLI_RECORD_WORDS, "-");
	for (size_t i = 0; i < len; i++)
		snprintf(buf + 2 * i, 3, "%02x", record->data[i]);
	return buf;
}

const char *cli_record_gid(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS])
{
	inet_ntop(AF_INET6, record->gid, buf, CLI_RECORD_WORDS);
	return buf;
}

/* From the network: nothing of it may reach a terminal as a command, and bytes that are no text have no width. */
const char *cli_record_name(const struct rai_service_record *record, char buf[CLI_RECORD_WORDS])
{
	bool text = cli_is_utf8(record->name);

	snprintf(buf, CLI_RECORD_WORDS, "%s", record->name[0] ? record->name : "-");
	for (unsigned char *c = (unsigned char *)buf; *c; c++)
		if (*c < ' ' || *c == 0x7f || (*c >= 0x80 && !text))
			*c = '?';
	return buf;
}

/* Bytes that go on a character of UTF-8 take no column. */
static int columns(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static void widen(int *width, const char *text)
{
	int wide = columns(text);

	if (wide > *width)
		*width = wide;
}

static int row_width(const struct cli_record_widths *w)
{
	int data = w->data ? GAP + w->data : 0;

	return w->name + GAP + ID_WIDTH + GAP + w->gid + GAP + PKEY_WIDTH + GAP + w->lease + data;
}

void cli_record_widths(const struct cli_record *records, size_t count, int screen, int taken,
		       struct cli_record_widths *ret_widths)
{
	struct cli_record_widths w = { .name = 4, .gid = 3, .lease = 5, .data = 4 };	/* as wide as the heads */
	char buf[CLI_RECORD_WORDS];
	int over;

	for (size_t i = 0; i < count; i++) {
		widen(&w.name, cli_record_name(&records[i].record, buf));
		widen(&w.gid, cli_record_gid(&records[i].record, buf));
		widen(&w.lease, cli_record_lease(&records[i].record, buf));
		widen(&w.data, cli_record_data(&records[i].record, buf));
	}
	if (screen > 0 && taken + row_width(&w) > screen)
		w.data = 0;
	over = screen > 0 ? taken + row_width(&w) - screen : 0;
	if (over > 0)
		w.name = w.name - over > NAME_LEAST ? w.name - over : NAME_LEAST;
	*ret_widths = w;
}

/* Cut where it is wider, which three dots say; padded where something follows. */
static void print_cell(FILE *out, const char *text, int width, bool last)
{
	int wide = columns(text), shown = 0;

	for (const char *c = text; *c; c++) {
		if (((unsigned char)*c & 0xc0) != 0x80 && wide > width && shown == width - 3) {
			fputs("...", out);
			shown = width;
			break;
		}
		shown += ((unsigned char)*c & 0xc0) != 0x80;
		fputc(*c, out);
	}
	if (!last)
		fprintf(out, "%*s", width - shown + GAP, "");
}

void cli_record_print(FILE *out, const struct cli_record_widths *w, const struct rai_service_record *record)
{
	char buf[CLI_RECORD_WORDS];

	print_cell(out, record ? cli_record_name(record, buf) : "NAME", w->name, false);
	if (record)
		snprintf(buf, sizeof(buf), "0x%016" PRIx64, record->id);
	print_cell(out, record ? buf : "SERVICE ID", ID_WIDTH, false);
	print_cell(out, record ? cli_record_gid(record, buf) : "GID", w->gid, false);
	if (record)
		snprintf(buf, sizeof(buf), record->pkey ? "0x%04x" : "-", record->pkey);
	print_cell(out, record ? buf : "P_KEY", PKEY_WIDTH, false);
	print_cell(out, record ? cli_record_lease(record, buf) : "LEASE", w->lease, !w->data);
	if (w->data)
		print_cell(out, record ? cli_record_data(record, buf) : "DATA", w->data, true);
}

/* A name that is no text has its bytes in hexadecimal digits. */
static json_t *json_name(const struct rai_service_record *record)
{
	return cli_is_utf8(record->name) ? json_string(record->name) : json_null();
}

static json_t *json_name_hex(const struct rai_service_record *record)
{
	char hex[2 * sizeof(record->name) + 1] = "";

	for (size_t i = 0; record->name[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)record->name[i]);
	return json_string(hex);
}

static json_t *json_data(const struct rai_service_record *record)
{
	char hex[2 * sizeof(record->data) + 1];

	for (size_t i = 0; i < sizeof(record->data); i++)
		snprintf(hex + 2 * i, 3, "%02x", record->data[i]);
	return json_string(hex);
}

json_t *cli_record_json(const struct rai_service_record *record, const char *port)
{
	bool for_ever = record->lease_s == UINT32_MAX;
	char gid[CLI_RECORD_WORDS];
	json_t *json = json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "name", json_name(record), "service_id",
				 json_sprintf("0x%016" PRIx64, record->id), "gid", cli_record_gid(record, gid),
				 "pkey", record->pkey ? json_integer(record->pkey) : json_null(), "lease_s",
				 for_ever ? json_null() : json_integer(record->lease_s), "data", json_data(record));

	if (json && !cli_is_utf8(record->name))
		json_object_set_new(json, "name_hex", json_name_hex(record));
	if (json && port)
		json_object_set_new(json, "port", json_string(port));
	return json;
}
