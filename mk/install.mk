# SPDX-License-Identifier: GPL-2.0-only
# make install, make uninstall. DESTDIR is put in front of every path written.

BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
INSTALL ?= install

MAN_PAGES := $(wildcard man/*.[1-9])

HEADERS := $(wildcard include/schedlat/*.h include/schedlat/*.def)

make_pc = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@REQUIRES@|$(MODULES)|' mk/schedlat.pc.in

$(O)/schedlat.pc: mk/schedlat.pc.in mk/install.mk
	@mkdir -p $(@D)
	$(Q)$(make_pc) > $@

install: all
	$(Q)$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(INCLUDEDIR)/schedlat $(DESTDIR)$(DATADIR)/bash-completion/completions
	$(Q)$(INSTALL) -m 755 $(O)/schedlat $(DESTDIR)$(BINDIR)/schedlat
	$(Q)$(INSTALL) -m 644 $(O)/libschedlat.a $(DESTDIR)$(LIBDIR)
	$(Q)$(INSTALL) -m 755 $(O)/$(SONAME) $(DESTDIR)$(LIBDIR)
	$(Q)ln -sfn $(SONAME) $(DESTDIR)$(LIBDIR)/libschedlat.so
	$(Q)$(make_pc) > $(DESTDIR)$(LIBDIR)/pkgconfig/schedlat.pc
	$(Q)$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/schedlat
	$(Q)$(INSTALL) -m 644 completion/schedlat.bash \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/schedlat
	$(Q)for m in $(MAN_PAGES); do \
		$(INSTALL) -D -m 644 $$m $(DESTDIR)$(DATADIR)/man/man$${m##*.}/$${m##*/} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/schedlat $(DESTDIR)$(LIBDIR)/libschedlat.a \
		$(DESTDIR)$(LIBDIR)/libschedlat.so $(DESTDIR)$(LIBDIR)/$(SONAME) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/schedlat.pc \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/schedlat
	for h in $(notdir $(HEADERS)); do rm -f $(DESTDIR)$(INCLUDEDIR)/schedlat/$$h; done
	for m in $(MAN_PAGES); do rm -f $(DESTDIR)$(DATADIR)/man/man$${m##*.}/$${m##*/}; done
	-rmdir $(DESTDIR)$(INCLUDEDIR)/schedlat

.PHONY: install uninstall
