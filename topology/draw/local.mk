# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures: a library of its own, so that the plugins link neither it nor
# jansson.
noinst_LTLIBRARIES += libweft_draw.la
libweft_draw_la_SOURCES = \
	%D%/dot.h \
	%D%/dot_cables.c \
	%D%/draw.c \
	%D%/draw.h \
	%D%/draw_dot.c \
	%D%/draw_html.c \
	%D%/draw_json.c \
	%D%/draw_parts.h \
	%D%/draw_svg.c \
	%D%/draw_text.c \
	%D%/inside.c \
	%D%/layout.c \
	%D%/layout.h \
	%D%/node.c \
	%D%/node.h \
	%D%/node_dot.c \
	%D%/node_links.c \
	%D%/node_svg.c \
	%D%/node_text.c \
	%D%/palette.c \
	%D%/palette.h \
	%D%/scene.c \
	%D%/scene.h \
	%D%/svg_sheet.c \
	%D%/svg_sheet.h \
	# End of libweft_draw_la_SOURCES
libweft_draw_la_LIBADD = \
	libweft_topology.la \
	$(JANSSON_LIBS) \
	# End of libweft_draw_la_LIBADD

# The page as the bytes of a C array.
draw_page = %D%/page.inc
$(draw_page): %D%/page.html
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	{ od -An -v -t d1 $(srcdir)/%D%/page.html | \
		sed 's/\([0-9]\)  */\1,/g; s/\([0-9]\)$$/\1,/'; echo 0; } >$@.tmp && \
	mv $@.tmp $@
%D%/draw_html.lo: $(draw_page)
BUILT_SOURCES += $(draw_page)
CLEANFILES += $(draw_page)
EXTRA_DIST += %D%/page.html
