# SPDX-License-Identifier: GPL-3.0-or-later
# X_AC_SLURM: the Slurm plugins need the source headers of the release that will
# load them: slurmctld compares major.minor.micro, and struct layouts change
# even between micro releases, so an inexact match is refused here.
AC_DEFUN([X_AC_SLURM], [
  AC_ARG_WITH([slurm-src],
    [AS_HELP_STRING([--with-slurm-src=DIR],
      [unpacked source of the installed Slurm (contrib/slurm-source prints it)])],
    [slurm_src=$withval], [slurm_src=])
  AC_ARG_WITH([slurm],
    [AS_HELP_STRING([--without-slurm], [do not build the Slurm plugins])],
    [], [with_slurm=check])
  AC_ARG_WITH([slurm-plugindir],
    [AS_HELP_STRING([--with-slurm-plugindir=DIR],
      [where Slurm looks for plugins (default: found from the installed Slurm)])],
    [slurm_plugindir=$withval], [slurm_plugindir=])
  build_slurm=no
  slurm_summary="not built (--with-slurm-src=DIR enables it)"
  AS_IF([test "$with_slurm" = no],
    [slurm_summary="not built (--without-slurm)"],
    [test -n "$slurm_src"],
    [X_AC_SLURM_SOURCE])
  AS_IF([test "$with_slurm" = yes && test $build_slurm = no],
    [AC_MSG_ERROR([--with-slurm needs --with-slurm-src=DIR])])
  AM_CONDITIONAL([BUILD_SLURM], [test $build_slurm = yes])
  AC_SUBST([slurmplugindir], [$slurm_plugindir])
])

AC_DEFUN([X_AC_SLURM_SOURCE], [
  AS_CASE([$slurm_src], [/*], [], [slurm_src=`cd "$slurm_src" && pwd`])
  AS_IF([test ! -r "$slurm_src/META" || test ! -d "$slurm_src/src/slurmctld"],
    [AC_MSG_ERROR([$slurm_src is not an unpacked Slurm source tree (no META or src/slurmctld)])])

  AC_MSG_CHECKING([release of the Slurm source])
  slurm_major=`sed -n 's/^[[[:space:]]]*Major:[[[:space:]]]*//p' "$slurm_src/META"`
  slurm_minor=`sed -n 's/^[[[:space:]]]*Minor:[[[:space:]]]*//p' "$slurm_src/META"`
  slurm_micro=`sed -n 's/^[[[:space:]]]*Micro:[[[:space:]]]*//p' "$slurm_src/META"`
  slurm_release=$slurm_major.$slurm_minor.$slurm_micro
  AC_MSG_RESULT([$slurm_release])

  AC_MSG_CHECKING([release of the installed Slurm])
  slurm_installed=`(slurmctld -V || /usr/sbin/slurmctld -V || sinfo -V) 2>/dev/null | head -n 1 | sed 's/^[[^ ]]* *//'`
  AC_MSG_RESULT([${slurm_installed:-none}])
  AC_ARG_ENABLE([slurm-version-check],
    [AS_HELP_STRING([--disable-slurm-version-check],
      [compile against headers of another release than the installed one; slurmctld will refuse such a plugin])],
    [], [enable_slurm_version_check=yes])
  AS_IF([test "$enable_slurm_version_check" = yes && test -n "$slurm_installed" && test "$slurm_installed" != "$slurm_release"],
    [AC_MSG_ERROR([the source in $slurm_src is Slurm $slurm_release but Slurm $slurm_installed is installed; the plugin must be built from exactly the installed release])])

  AS_IF([test -z "$slurm_plugindir"],
    [AC_MSG_CHECKING([where Slurm keeps its plugins])
     for dir in /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
       AS_IF([test -e "$dir/select_cons_tres.so"], [slurm_plugindir=$dir; break])
     done
     AS_IF([test -z "$slurm_plugindir"], [slurm_plugindir='${libdir}/slurm'])
     AC_MSG_RESULT([$slurm_plugindir])])

  # Slurm's headers want a configured tree's slurm_version.h and config.h.  The
  # first is made here.  Nothing in their layout depends on the second (NDEBUG
  # and MULTIPLE_SLURMD are looked at, and defined in plugin/local.mk): they get
  # weft's.
  AS_MKDIR_P([slurm-stub/slurm])
  "$srcdir/plugin/slurm-version" "$slurm_src" >slurm-stub/slurm/slurm_version.h ||
    AC_MSG_ERROR([cannot tell the release of $slurm_src])
  SLURM_CFLAGS="-isystem slurm-stub -isystem slurm-stub/slurm -isystem $slurm_src"
  AC_SUBST([SLURM_CFLAGS])
  AC_SUBST([slurm_src])
  build_slurm=yes
  slurm_summary="$slurm_release, into $slurm_plugindir"
])
