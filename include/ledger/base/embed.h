/*
 * A file of the source tree as a NUL-terminated string in the program; the
 * path is relative to the project's root, where the compiler runs.
 *
 *	EMBED(actions_view_sql, "domain/actions/view.sql");
 */
#ifndef LEDGER_BASE_EMBED_H
#define LEDGER_BASE_EMBED_H

#define EMBED(symbol, path)                           \
	__asm__(".section .rodata\n"                  \
		".global " #symbol "\n" #symbol ":\n" \
		".incbin \"" path "\"\n"              \
		".byte 0\n"                           \
		".previous\n");                       \
	extern const char symbol[]

#endif
