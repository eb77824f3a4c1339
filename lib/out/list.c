// SPDX-License-Identifier: LGPL-2.1-only
/* The lists of `schedlat list`: the same tables that the analysis itself uses. */
#include "out/out.h"

#include <errno.h>

#include "event/event.h"
#include "out/json.h"
#include "out/table.h"
#include "out/text.h"

/* Objects of texts: key, value, key, value ... NULL. */
static json_t *json_texts(const char *const *pairs)
{
	json_t *object = json_object();
	int bad = 0;

	for (; pairs[0]; pairs += 2)
		bad |= sl_json_set(object, pairs[0], sl_json_text(pairs[1]));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static int json_row(struct sl_out *out, unsigned int index, const char *const *pairs)
{
	fputs(index ? ",\n  " : "\n  ", out->file);
	return sl_json_print(out, json_texts(pairs));
}

static void list_begin(struct sl_out *out, const char *what)
{
	fprintf(out->file, "{\"schema\": \"schedlat.list/1\",\n \"%s\": [", what);
}

static void list_end(struct sl_out *out)
{
	fputs("\n ]}\n", out->file);
}

int sl_out_list_causes(struct sl_out *out, bool json)
{
	unsigned int i;
	int ret = 0;

	if (json)
		list_begin(out, "causes");
	for (i = 0; i < SL_CAUSE_NR && !ret; i++) {
		const struct sl_cause_desc *desc = &sl_cause_descs[i];
		struct sl_line needs = { .used = 0 };

		if (json) {
			const char *const pairs[] = {
				"id", desc->id, "family", sl_out_family_name(desc->family),
				"doc", desc->doc, "needs", desc->needs, NULL,
			};

			ret = json_row(out, i, pairs);
			continue;
		}
		fprintf(out->file, "%-18s (%s)\n", desc->id, sl_out_family_name(desc->family));
		sl_out_wrap(out, 4, 4, desc->doc);
		sl_line_add(&needs, "needs %s", desc->needs);
		sl_out_wrap(out, 4, 10, needs.text);
	}
	if (json)
		list_end(out);
	return ret;
}

int sl_out_list_events(struct sl_out *out, bool json)
{
	struct sl_table *table = sl_table_new();
	unsigned int i;
	int ret = 0;

	if (!table)
		return -ENOMEM;
	sl_table_wide(table);
	sl_table_column(table, SL_LEFT, "event");
	sl_table_column(table, SL_LEFT, "group");
	sl_table_column(table, SL_LEFT, "what it says");
	if (json)
		list_begin(out, "events");
	for (i = 0; i < sl_event_descs_nr && !ret; i++) {
		const struct sl_event_desc *desc = &sl_event_descs[i];

		if (json) {
			const char *const pairs[] = {
				"system", desc->system, "name", desc->name,
				"group", sl_event_group_name(desc->group), "doc", desc->doc, NULL,
			};

			ret = json_row(out, i, pairs);
			continue;
		}
		sl_table_row(table);
		sl_table_cell(table, "%s:%s", desc->system, desc->name);
		sl_table_cell(table, "%s", sl_event_group_name(desc->group));
		sl_table_cell(table, "%s", desc->doc);
	}
	if (json)
		list_end(out);
	else
		ret = sl_table_print(table, out, 0);
	sl_table_free(table);
	return ret;
}

int sl_out_list_columns(struct sl_out *out, bool json)
{
	struct sl_table *table = sl_table_new();
	unsigned int i;
	int ret = 0;

	if (!table)
		return -ENOMEM;
	sl_table_wide(table);
	sl_table_column(table, SL_LEFT, "set");
	sl_table_column(table, SL_LEFT, "name");
	sl_table_column(table, SL_LEFT, "key");
	sl_table_column(table, SL_LEFT, "unit");
	sl_table_column(table, SL_LEFT, "what it is");
	if (json)
		list_begin(out, "columns");
	for (i = 0; i < sl_columns_nr && !ret; i++) {
		const struct sl_column *column = &sl_columns[i];
		const char *unit = sl_cell_type_unit(column->type);

		if (json) {
			const char *const pairs[] = {
				"set", sl_column_set_name(column->set), "name", column->name,
				"key", column->key, "unit", unit, "doc", column->doc, NULL,
			};

			ret = json_row(out, i, pairs);
			continue;
		}
		sl_table_row(table);
		sl_table_cell(table, "%s", sl_column_set_name(column->set));
		sl_table_cell(table, "%s", column->name);
		sl_table_cell(table, "%s", column->key);
		sl_table_cell(table, "%s", unit);
		sl_table_cell(table, "%s", column->doc);
	}
	if (json)
		list_end(out);
	else
		ret = sl_table_print(table, out, 0);
	sl_table_free(table);
	return ret;
}
