# SPDX-License-Identifier: GPL-3.0-or-later
# X_AC_WARNINGS: the warnings weft is clean under; errors on request.
AC_DEFUN([X_AC_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [], [enable_werror=no])
  WARN_CFLAGS="-std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
-Wno-sign-conversion -Wdouble-promotion -Wstrict-prototypes \
-Wmissing-prototypes -Wwrite-strings -Wcast-qual -Wvla -Wundef -Wformat=2"
  AS_IF([test "$enable_werror" = yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])
