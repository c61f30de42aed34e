# SPDX-License-Identifier: GPL-3.0-or-later
# X_AC_SIMD: the flag that honours "#pragma omp simd"; no OpenMP runtime.  Where
# the pragma asks for more than is done (unoptimised, or with sanitizers), clang
# would warn.
AC_DEFUN([X_AC_SIMD], [
  SIMD_CFLAGS=
  x_ac_simd_save=$CFLAGS
  AC_MSG_CHECKING([for the flag of "omp simd"])
  CFLAGS="$x_ac_simd_save -Werror -fopenmp-simd"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [SIMD_CFLAGS=-fopenmp-simd], [SIMD_CFLAGS=-Wno-unknown-pragmas])
  CFLAGS="$x_ac_simd_save -Werror -Wpass-failed"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [SIMD_CFLAGS="$SIMD_CFLAGS -Wno-pass-failed"])
  CFLAGS=$x_ac_simd_save
  AC_MSG_RESULT([$SIMD_CFLAGS])
  AC_SUBST([SIMD_CFLAGS])
])
