# SPDX-License-Identifier: GPL-3.0-or-later
# X_AC_SIMD: the flag that honours "#pragma omp simd"; no OpenMP runtime.
AC_DEFUN([X_AC_SIMD], [
  AC_CACHE_CHECK([for the flag of "omp simd"], [x_ac_cv_simd_cflags],
    [x_ac_simd_save=$CFLAGS
     CFLAGS="$CFLAGS -Werror -fopenmp-simd"
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
       [x_ac_cv_simd_cflags=-fopenmp-simd],
       [x_ac_cv_simd_cflags=-Wno-unknown-pragmas])
     CFLAGS=$x_ac_simd_save])
  AC_SUBST([SIMD_CFLAGS], [$x_ac_cv_simd_cflags])
])
