#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/outbound.h"
#include "domain/timestamps/group.h"
#include "tests/support/event_vector.h"

static void
test_vector(void **state)
{
	(void)state;
	event_vector_check(&event_checkpoint_timestamped);
}

static void
test_urls_that_may_be_asked(void **state)
{
	static const char *const urls[] = {
		"https://tsa.example.com/tsr",
		"https://tsa.example.com:8443/",
		"http://127.0.0.1:8080/",
		"http://[::1]:8080/",
		"http://[::1]",
		"https://192.0.2.7?a=@b:c/d",
		"https://[2001:db8::1]:8443/",
	};
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
		if (outbound_check_url(str_from(urls[i]), &e))
			fail_msg("%s: %s", urls[i], e.detail);
}

static void
test_urls_that_may_not(void **state)
{
	static const char *const urls[] = {
		"",
		"tsa.example.com",
		"http://tsa.example.com/",
		"http://127.0.0.1.example.com/",
		"http://127.0.0.1@example.com/",
		"http://localhost/",
		"https://user:word@tsa.example.com/",
		"https://tsa.example.com/#part",
		"file:///etc/passwd",
		"gopher://127.0.0.1/",
		"https://",
		"https://a b/",
		"https://:443/",
		"https://a.example:0/",
		"https://a.example:65536/",
		"https://a.example:/",
		"https://a.example:443:443/",
		"https://[::1/",
		"https://[::1]x/",
		"https://a.example\\@b.example/",
		"https://a%2eexample/",
		"https://\xc3\xa4.example/",
		"http://[::1]@b.example/",
		"http://127.1/",
	};

	(void)state;
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
		struct err e = { 0 };

		if (outbound_check_url(str_from(urls[i]), &e) == 0)
			fail_msg("%s may be asked", urls[i]);
		assert_ptr_equal(e.kind, &err_invalid);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_urls_that_may_be_asked),
		cmocka_unit_test(test_urls_that_may_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
