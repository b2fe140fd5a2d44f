/*
 * The service's own log: one JSON object a line on standard error, written in
 * one call, so lines of threads and processes do not mix. It is for operators;
 * facts for auditors are events. Nothing secret and nothing personal goes in.
 *
 *	log_line(LOG_WARN, "worker", "pack failed: %s", e.detail);
 */
#ifndef LEDGER_BASE_LOG_H
#define LEDGER_BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below the level are dropped; LOG_INFO at start. */
void log_set_level(enum log_level);

__attribute__((format(printf, 3, 4))) void log_line(
    enum log_level, const char *module, const char *fmt, ...);

#endif
