/*
 * System calls by which a process rules the machine, looks into others or finds
 * a way round limits. Whoever asks for one gets EPERM, as from a kernel that
 * says no: nothing is ended for it.
 *
 * What a program may do is not listed, what it may not is: git, ssh and tokens'
 * modules inherit this, and a call that one of their later versions makes must
 * not fail here.
 */
#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "ledger/base/confine_parts.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef ARCHITECTURE

bool
confine_calls(void)
{
	return false;
}

#else

/* Numbers that are the same everywhere and younger than some headers. */
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

/* x86-64's second set of numbers, for 32-bit pointers. */
#define X32_BIT 0x40000000

/* What a clone may not have of its own. */
#define NAMESPACES                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static const long refused[] = {
/* Other processes. The leak sanitizer stops threads by ptrace. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	SYS_ptrace,
#endif
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_pidfd_getfd,
	SYS_perf_event_open,
	SYS_lookup_dcookie,
	/* The kernel. */
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_bpf,
	SYS_reboot,
	SYS_syslog,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	/* The tree of files. */
	SYS_mount,
	SYS_umount2,
	SYS_open_tree,
	SYS_open_tree_attr,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_mount_setattr,
	SYS_pivot_root,
	SYS_chroot,
	SYS_swapon,
	SYS_swapoff,
	SYS_quotactl,
	SYS_quotactl_fd,
	SYS_name_to_handle_at,
	SYS_open_by_handle_at,
	SYS_fanotify_init,
	SYS_fanotify_mark,
	/* Namespaces. */
	SYS_setns,
	SYS_unshare,
	/* The machine's clock, names and accounts. */
	SYS_settimeofday,
	SYS_adjtimex,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_acct,
	SYS_vhangup,
	/* The kernel's keyring. */
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_modify_ldt,
	SYS_uselib,
	SYS_ustat,
	SYS_sysfs,
#endif
};

#define N_REFUSED   (sizeof refused / sizeof refused[0])
/* One jump and one end for each border, and the beginning. */
#define PROGRAM_MAX (4 * N_REFUSED + 32)

struct program {
	unsigned short n;
	struct sock_filter code[PROGRAM_MAX];
};

/* Where one kind of answer ends and the other begins: from the first number on
 * calls are refused, from the second on permitted, and so on. */
struct borders {
	uint32_t at[2 * N_REFUSED];
	size_t n;
};

static void
put(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	assert(p->n < PROGRAM_MAX);
	p->code[p->n++] = (struct sock_filter){ code, yes, no, k };
}

static void
put_load(struct program *p, size_t offset)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Passes over so many instructions unless the comparison holds. */
static void
put_unless(struct program *p, uint16_t comparison, uint32_t k, uint8_t over)
{
	put(p, BPF_JMP | BPF_K | comparison, k, 0, over);
}

static void
put_end(struct program *p, uint32_t answer)
{
	put(p, BPF_RET | BPF_K, answer, 0, 0);
}

#define PERMIT  SECCOMP_RET_ALLOW
#define REFUSE  (SECCOMP_RET_ERRNO | EPERM)
/* The C library then uses clone, whose flags can be looked at. */
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

/* Numbers mean what the table says only for this architecture. */
static void
put_architecture(struct program *p)
{
	put_load(p, offsetof(struct seccomp_data, arch));
	put(p, BPF_JMP | BPF_K | BPF_JEQ, ARCHITECTURE, 1, 0);
	put_end(p, REFUSE);
	put_load(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	put_unless(p, BPF_JGE, X32_BIT, 1);
	put_end(p, REFUSE);
#endif
}

/* Calls whose first argument decides. Both architectures are little-endian: its
 * low half comes first. */
static void
put_arguments(struct program *p)
{
	const uint32_t first = offsetof(struct seccomp_data, args);

	put_unless(p, BPF_JEQ, SYS_clone3, 1);
	put_end(p, UNKNOWN);
	put_unless(p, BPF_JEQ, SYS_clone, 4);
	put_load(p, first);
	put_unless(p, BPF_JSET, NAMESPACES, 1);
	put_end(p, REFUSE);
	put_end(p, PERMIT);
	/* Which one it is may be asked. */
	put_unless(p, BPF_JEQ, SYS_personality, 4);
	put_load(p, first);
	put_unless(p, BPF_JEQ, UINT32_MAX, 1);
	put_end(p, PERMIT);
	put_end(p, REFUSE);
}

/* For numbers between two borders an answer; before that, halves. When a filter
 * is set the kernel asks it about every number once, so a long list of
 * comparisons would be felt. */
static void
put_between(struct program *p, const struct borders *b, size_t from, size_t to)
{
	size_t middle = from + (to - from + 1) / 2;
	unsigned short at = p->n;

	if (from == to) {
		put_end(p, from % 2 ? REFUSE : PERMIT);
		return;
	}
	put_unless(p, BPF_JGE, b->at[middle - 1], 0);
	put_between(p, b, middle, to);
	assert(p->n - at - 1 <= UINT8_MAX);
	p->code[at].jf = (uint8_t)(p->n - at - 1);
	put_between(p, b, from, middle - 1);
}

static int
compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
find_borders(struct borders *b)
{
	uint32_t sorted[N_REFUSED];

	for (size_t i = 0; i < N_REFUSED; i++)
		sorted[i] = (uint32_t)refused[i];
	qsort(sorted, N_REFUSED, sizeof *sorted, compare);
	b->n = 0;
	for (size_t i = 0; i < N_REFUSED; i++) {
		if (b->n > 0 && b->at[b->n - 1] == sorted[i])
			b->n--;
		else
			b->at[b->n++] = sorted[i];
		b->at[b->n++] = sorted[i] + 1;
	}
}

bool
confine_calls(void)
{
	struct program p = { 0 };
	struct borders b;
	struct sock_fprog filter = { .filter = p.code };

	find_borders(&b);
	put_architecture(&p);
	put_arguments(&p);
	put_between(&p, &b, 0, b.n);
	filter.len = p.n;
	/* Not seccomp(2), which a unit's own filter may refuse. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#endif
