# make help lists the targets.
#
# MODE chooses the build: debug (ASan and UBSan), release, tsan, coverage, fuzz.
# Each has a folder of its own below build/, so they do not disturb each other.

MODE      ?= debug
BUILD     ?= build
prefix    ?= /usr/local
bindir    ?= $(prefix)/bin
libexecdir ?= $(prefix)/libexec
mandir    ?= $(prefix)/share/man
docdir    ?= $(prefix)/share/doc/probity
datadir   ?= $(prefix)/share/probity
unitdir   ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
tmpfilesdir ?= $(prefix)/lib/tmpfiles.d
# Where the programs look, whatever the prefix.
confdir   ?= /etc/probity
INSTALL   ?= install

# One spelling of the path, since the dependency files name it.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))

VERSION   := 2.0.0
# make V=1 shows the commands.
Q         := $(if $(V),,@)
B         := $(BUILD)/$(MODE)

PACKAGES  := libgit2 zlib yajl libssl libcrypto libsodium sqlite3 libxml-2.0 \
	libcurl libcares icu-uc p11-kit-1
WARN      := -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wswitch-enum -Wcast-qual -Wwrite-strings -Werror

debug_CFLAGS    := -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
debug_LDFLAGS   := -fsanitize=address,undefined
release_CFLAGS  := -O2 -g -fstack-protector-strong -fstack-clash-protection \
	-fcf-protection -D_FORTIFY_SOURCE=2 -fPIE
release_LDFLAGS := -pie -Wl,-z,relro,-z,now,-z,noexecstack
tsan_CFLAGS     := -O1 -g -fsanitize=thread
tsan_LDFLAGS    := -fsanitize=thread
coverage_CFLAGS := -O0 -g --coverage
coverage_LDFLAGS := --coverage
fuzz_CFLAGS     := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all
fuzz_LDFLAGS    := -fsanitize=address,undefined

ifeq ($(MODE),fuzz)
CC := clang
endif
ifeq ($(filter $(MODE),debug release tsan coverage fuzz),)
$(error MODE is debug, release, tsan, coverage or fuzz)
endif

CFLAGS_ALL := -std=c17 -D_GNU_SOURCE -DPROBITY_VERSION='"$(VERSION)"' \
	-pthread -Iinclude -I. $(WARN) $($(MODE)_CFLAGS) \
	$(shell pkg-config --cflags $(PACKAGES)) $(CFLAGS)
LDLIBS_LEDGER := $(shell pkg-config --libs zlib yajl libssl libcrypto \
	libsodium sqlite3) -pthread -lm
# libgit2, libcurl, libxml2 and ICU are loaded when they are first needed.
LDLIBS_DOMAIN := $(shell pkg-config --libs libcares)
LDLIBS_FCGI   := -lfcgi
# The function is exported to libgit2: ledger/store/git2_library.c.
LDFLAGS_ALL := $($(MODE)_LDFLAGS) \
	-Wl,--export-dynamic-symbol=mbedtls_x509_crt_parse_file $(LDFLAGS)

# What each program is made of: three libraries, and a folder with a main.c.
LEDGER_C  := $(wildcard ledger/base/*.c ledger/codec/*.c ledger/crypto/*.c \
	ledger/store/*.c ledger/chain/*.c ledger/view/*.c ledger/write/*.c)
AUDIT_C   := $(wildcard ledger/audit/*.c)
CTL_C     := $(wildcard domain/probityctl/*.c)
WORKER_C  := $(wildcard domain/worker/*.c)
DOMAIN_C  := $(filter-out $(CTL_C) $(WORKER_C),\
	$(wildcard domain/*.c domain/*/*.c domain/*/engine/*.c))
FCGI_C    := $(filter-out fcgi/main.c,$(wildcard fcgi/*.c fcgi/*/*.c))
UNIT_C    := $(wildcard tests/unit/*/test_*.c tests/unit/test_*.c)
SUPPORT_C := $(wildcard tests/support/*.c)
FUZZ_C    := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_C   := $(wildcard tests/bench/bench_*.c)
SHIM_C    := $(wildcard tests/fault/shim_*.c tests/bench/shim_*.c)
FAULT_C   := $(wildcard tests/fault/fault_*.c)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

PROGRAMS := $(B)/probity.fcgi $(B)/probity-worker $(B)/probityctl \
	$(B)/probity-audit
UNIT     := $(patsubst %.c,$(B)/%,$(UNIT_C))
FUZZERS  := $(patsubst %.c,$(B)/%,$(FUZZ_C))
BENCHES  := $(patsubst %.c,$(B)/%,$(BENCH_C))
FAULTS   := $(patsubst %.c,$(B)/%,$(FAULT_C))
SHIMS    := $(patsubst %.c,$(B)/%.so,$(SHIM_C))


# What is installed beside programs and pages.
UNITS     := $(notdir $(wildcard conf/systemd/*))
WEB_CONF  := $(filter-out probity.conf,$(notdir $(wildcard conf/*.conf)))
SHIPPED_SCRIPTS := scripts/verify.sh scripts/check-proof.sh \
	scripts/check-manifest.sh

.PHONY: all help programs unit fuzzers shims benches faults check check-source \
	lint bench install uninstall deb version clean format docs fuzz-short
.SECONDEXPANSION:
.SECONDARY:

all: programs ## Build the four programs
programs: $(PROGRAMS)
unit: $(UNIT) ## Build the unit tests
fuzzers: $(FUZZERS)
shims: $(SHIMS)
benches: $(BENCHES)
faults: $(FAULTS)

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n",$$1,$$2}' Makefile
	@echo "  MODE=debug|release|tsan|coverage|fuzz chooses the build"

$(B)/libledger.a: $(call obj,$(LEDGER_C))
$(B)/libdomain.a: $(call obj,$(DOMAIN_C))
$(B)/libfront.a: $(call obj,$(FCGI_C))
$(B)/libsupport.a: $(call obj,$(SUPPORT_C))
$(B)/lib%.a:
	@rm -f $@
	@echo "AR   $@"
	$(Q)ar rcs $@ $^

link = @echo "LINK $@"; mkdir -p $(@D); \
	$(if $(Q),,set -x;) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^)

$(B)/probity-audit: $(call obj,$(AUDIT_C)) $(B)/libledger.a
	$(link) $(LDLIBS_LEDGER)
$(B)/probityctl: $(call obj,$(CTL_C)) $(B)/libdomain.a $(B)/libledger.a
	$(link) $(LDLIBS_LEDGER) $(LDLIBS_DOMAIN)
$(B)/probity-worker: $(call obj,$(WORKER_C)) $(B)/libdomain.a $(B)/libledger.a
	$(link) $(LDLIBS_LEDGER) $(LDLIBS_DOMAIN)
$(B)/probity.fcgi: $(call obj,fcgi/main.c) $(B)/libfront.a $(B)/libdomain.a \
	$(B)/libledger.a
	$(link) $(LDLIBS_LEDGER) $(LDLIBS_DOMAIN) $(LDLIBS_FCGI)

TEST_LIBS := $(B)/libsupport.a $(B)/libfront.a $(B)/libdomain.a $(B)/libledger.a
TEST_LDLIBS = $(LDLIBS_LEDGER) $(LDLIBS_DOMAIN) $(LDLIBS_FCGI)

$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(TEST_LIBS)
	$(link) $(TEST_LDLIBS) -lcmocka
$(B)/tests/unit/crypto/test_pkcs11: $(B)/tests/fault/shim_token.so
$(B)/tests/bench/bench_%: $(B)/obj/tests/bench/bench_%.o $(TEST_LIBS)
	$(link) $(TEST_LDLIBS)
$(B)/tests/fault/fault_%: $(B)/obj/tests/fault/fault_%.o $(TEST_LIBS)
	$(link) $(TEST_LDLIBS)
$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(TEST_LIBS)
	$(link) -fsanitize=fuzzer $(TEST_LDLIBS)
# The shims are loaded into other programs, so they carry no sanitizer.
$(B)/%.so: %.c
	@mkdir -p $(@D)
	@echo "SO   $@"
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O2 -fPIC -shared -Wall -Wextra -Werror \
		-o $@ $< -ldl -pthread

# A folder's SQL, examples and style sheets are embedded into its objects.
embedded = $$(wildcard $$(dir $$*)*.sql $$(dir $$*)*.css \
	$$(dir $$*)examples/*.json)
$(B)/obj/%.o: %.c $(embedded)
	@mkdir -p $(@D)
	@echo "CC   $<"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

check: unit ## Run the unit tests of this mode
	scripts/run-unit $(UNIT)

check-source: ## Format, layers, lengths, headers alone: seconds, no build
	scripts/check-source

lint: ## cppcheck and clang-tidy
	scripts/lint

format: ## Bring every C file to the house format
	clang-format -i $$(git ls-files '*.c' '*.h')

fuzz-short: ## Each fuzz target for a few seconds
	$(MAKE) MODE=fuzz fuzzers
	scripts/fuzz-short

bench: ## Measure against the baselines; writes build/bench.json
	$(MAKE) MODE=release programs benches shims
	scripts/bench

docs: programs ## Write the generated reference pages
	scripts/generate-docs $(B)

# A unit or a web server's configuration names where the programs went.
place = sed -e 's|/usr/local/libexec/probity|$(libexecdir)/probity|g' \
	-e 's|/usr/local/share/probity|$(datadir)|g'

install: ## Install below $(DESTDIR)$(prefix); build with MODE=release first
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(libexecdir)/probity \
		$(mandir)/man1 $(mandir)/man5 $(mandir)/man8 \
		$(docdir)/decisions $(datadir)/conf $(unitdir) $(sysusersdir) \
		$(tmpfilesdir) $(confdir))
	$(INSTALL) -m 755 $(B)/probityctl $(B)/probity-audit $(DESTDIR)$(bindir)
	$(INSTALL) -m 755 $(B)/probity.fcgi $(B)/probity-worker \
		$(DESTDIR)$(libexecdir)/probity
	$(INSTALL) -m 755 $(SHIPPED_SCRIPTS) $(DESTDIR)$(datadir)
	$(INSTALL) -m 644 $(wildcard docs/man/*.1) $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 $(wildcard docs/man/*.5) $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 $(wildcard docs/man/*.8) $(DESTDIR)$(mandir)/man8
	$(INSTALL) -m 644 $(wildcard docs/*.md) $(DESTDIR)$(docdir)
	$(INSTALL) -m 644 $(wildcard docs/decisions/*.md) \
		$(DESTDIR)$(docdir)/decisions
	for f in $(UNITS); do \
		$(place) conf/systemd/$$f >$(DESTDIR)$(unitdir)/$$f && \
		chmod 644 $(DESTDIR)$(unitdir)/$$f || exit; done
	for f in $(WEB_CONF); do \
		$(place) conf/$$f >$(DESTDIR)$(datadir)/conf/$$f && \
		chmod 644 $(DESTDIR)$(datadir)/conf/$$f || exit; done
	$(INSTALL) -m 644 conf/sysusers.d/probity.conf $(DESTDIR)$(sysusersdir)
	$(INSTALL) -m 644 conf/tmpfiles.d/probity.conf $(DESTDIR)$(tmpfilesdir)
	@# Settings that are there are the operator's.
	test -e $(DESTDIR)$(confdir)/probity.conf || \
		$(INSTALL) -m 644 conf/probity.conf $(DESTDIR)$(confdir)

uninstall: ## Remove what install brought; settings, ledgers and keys stay
	rm -f $(addprefix $(DESTDIR)$(bindir)/,probityctl probity-audit) \
		$(foreach n,1 5 8,$(addprefix $(DESTDIR)$(mandir)/man$(n)/,\
		$(notdir $(wildcard docs/man/*.$(n))))) \
		$(addprefix $(DESTDIR)$(unitdir)/,$(UNITS)) \
		$(DESTDIR)$(sysusersdir)/probity.conf \
		$(DESTDIR)$(tmpfilesdir)/probity.conf
	rm -rf $(DESTDIR)$(libexecdir)/probity $(DESTDIR)$(docdir) \
		$(DESTDIR)$(datadir)

deb: ## Build the Debian packages into build/deb
	scripts/make-deb

version:
	@echo $(VERSION)

clean: ## Remove everything built
	rm -rf $(BUILD)
