# SPDX-License-Identifier: GPL-3.0-or-later
# X_AC_SANITIZER: --enable-sanitizer=address,undefined and the like.
AC_DEFUN([X_AC_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST],
      [comma-separated sanitizers, e.g. address,undefined])],
    [], [enable_sanitizer=])
  AS_CASE([$enable_sanitizer], [yes], [enable_sanitizer=address,undefined],
    [no], [enable_sanitizer=])
  AS_IF([test -n "$enable_sanitizer"],
    [SANITIZER_CFLAGS="-fsanitize=$enable_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"])
  AC_SUBST([SANITIZER_CFLAGS])
  AM_CONDITIONAL([SANITIZER], [test -n "$enable_sanitizer"])
])
