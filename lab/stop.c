/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stop.c - signals and the seconds that pass while a search runs */
#include "lab/stop.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t n_ticks;
static char of_seconds[64]; /* " s of 10 s ..." */

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Only what a signal handler may call: no printf. */
static void on_tick(int signal)
{
	char text[128] = "\rweft: ";
	size_t length = strlen(text), first;
	int ticks = ++n_ticks, failed = errno;

	(void)signal;
	first = length;
	do {
		memmove(text + first + 1, text + first, length - first);
		text[first] = (char)('0' + ticks % 10);
		ticks /= 10;
		length++;
	} while (ticks);
	memcpy(text + length, of_seconds, strlen(of_seconds));
	length += strlen(of_seconds);
	/* a terminal that is gone is no reason to end the search */
	if (write(STDERR_FILENO, text, length) < 0)
		errno = failed;
	errno = failed;
}

const volatile sig_atomic_t *stop_on_signal(void)
{
	struct sigaction action = {.sa_flags = SA_RESTART | (int)SA_RESETHAND};

	action.sa_handler = on_stop;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &stopped;
}

void stop_count(double seconds)
{
	const struct itimerval every = {{1, 0}, {1, 0}};
	struct sigaction action = {.sa_flags = SA_RESTART};

	if ((seconds > 0 && seconds < 2) || !isatty(STDERR_FILENO))
		return;
	if (seconds > 0)
		snprintf(of_seconds, sizeof(of_seconds),
			 " s of %g s; Ctrl-C takes the best so far", seconds);
	else
		snprintf(of_seconds, sizeof(of_seconds),
			 " s; Ctrl-C takes the best so far");
	action.sa_handler = on_tick;
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

void stop_quiet(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};

	if (!of_seconds[0])
		return;
	setitimer(ITIMER_REAL, &never, NULL);
	if (n_ticks)
		fputs("\r\033[K", stderr);
	of_seconds[0] = '\0';
	n_ticks = 0;
}
