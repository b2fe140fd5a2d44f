/*
 * ISO 4217, list one: the codes in force since Bulgaria's euro of 1 January
 * 2026. Payable are the tenders and funds; metals, units of account, bond
 * market units and the codes for testing and for no currency are not. What has
 * no minor unit of its own stands with 0 digits.
 */
#include <stdlib.h>

#include "domain/money.h"

/* clang-format off */
#define PAY(code, digits) { code, digits, true }
#define NONE(code) { code, 0, false }

/* By code: currency_find searches in halves. */
static const struct currency currencies[] = {
	PAY("AED", 2), PAY("AFN", 2), PAY("ALL", 2), PAY("AMD", 2),
	PAY("AOA", 2), PAY("ARS", 2), PAY("AUD", 2), PAY("AWG", 2),
	PAY("AZN", 2), PAY("BAM", 2), PAY("BBD", 2), PAY("BDT", 2),
	PAY("BHD", 3), PAY("BIF", 0), PAY("BMD", 2), PAY("BND", 2),
	PAY("BOB", 2), PAY("BOV", 2), PAY("BRL", 2), PAY("BSD", 2),
	PAY("BTN", 2), PAY("BWP", 2), PAY("BYN", 2), PAY("BZD", 2),
	PAY("CAD", 2), PAY("CDF", 2), PAY("CHE", 2), PAY("CHF", 2),
	PAY("CHW", 2), PAY("CLF", 4), PAY("CLP", 0), PAY("CNY", 2),
	PAY("COP", 2), PAY("COU", 2), PAY("CRC", 2), PAY("CUP", 2),
	PAY("CVE", 2), PAY("CZK", 2), PAY("DJF", 0), PAY("DKK", 2),
	PAY("DOP", 2), PAY("DZD", 2), PAY("EGP", 2), PAY("ERN", 2),
	PAY("ETB", 2), PAY("EUR", 2), PAY("FJD", 2), PAY("FKP", 2),
	PAY("GBP", 2), PAY("GEL", 2), PAY("GHS", 2), PAY("GIP", 2),
	PAY("GMD", 2), PAY("GNF", 0), PAY("GTQ", 2), PAY("GYD", 2),
	PAY("HKD", 2), PAY("HNL", 2), PAY("HTG", 2), PAY("HUF", 2),
	PAY("IDR", 2), PAY("ILS", 2), PAY("INR", 2), PAY("IQD", 3),
	PAY("IRR", 2), PAY("ISK", 0), PAY("JMD", 2), PAY("JOD", 3),
	PAY("JPY", 0), PAY("KES", 2), PAY("KGS", 2), PAY("KHR", 2),
	PAY("KMF", 0), PAY("KPW", 2), PAY("KRW", 0), PAY("KWD", 3),
	PAY("KYD", 2), PAY("KZT", 2), PAY("LAK", 2), PAY("LBP", 2),
	PAY("LKR", 2), PAY("LRD", 2), PAY("LSL", 2), PAY("LYD", 3),
	PAY("MAD", 2), PAY("MDL", 2), PAY("MGA", 2), PAY("MKD", 2),
	PAY("MMK", 2), PAY("MNT", 2), PAY("MOP", 2), PAY("MRU", 2),
	PAY("MUR", 2), PAY("MVR", 2), PAY("MWK", 2), PAY("MXN", 2),
	PAY("MXV", 2), PAY("MYR", 2), PAY("MZN", 2), PAY("NAD", 2),
	PAY("NGN", 2), PAY("NIO", 2), PAY("NOK", 2), PAY("NPR", 2),
	PAY("NZD", 2), PAY("OMR", 3), PAY("PAB", 2), PAY("PEN", 2),
	PAY("PGK", 2), PAY("PHP", 2), PAY("PKR", 2), PAY("PLN", 2),
	PAY("PYG", 0), PAY("QAR", 2), PAY("RON", 2), PAY("RSD", 2),
	PAY("RUB", 2), PAY("RWF", 0), PAY("SAR", 2), PAY("SBD", 2),
	PAY("SCR", 2), PAY("SDG", 2), PAY("SEK", 2), PAY("SGD", 2),
	PAY("SHP", 2), PAY("SLE", 2), PAY("SOS", 2), PAY("SRD", 2),
	PAY("SSP", 2), PAY("STN", 2), PAY("SVC", 2), PAY("SYP", 2),
	PAY("SZL", 2), PAY("THB", 2), PAY("TJS", 2), PAY("TMT", 2),
	PAY("TND", 3), PAY("TOP", 2), PAY("TRY", 2), PAY("TTD", 2),
	PAY("TWD", 2), PAY("TZS", 2), PAY("UAH", 2), PAY("UGX", 0),
	PAY("USD", 2), PAY("USN", 2), PAY("UYI", 0), PAY("UYU", 2),
	PAY("UYW", 4), PAY("UZS", 2), PAY("VED", 2), PAY("VES", 2),
	PAY("VND", 0), PAY("VUV", 0), PAY("WST", 2), NONE("XAD"),
	PAY("XAF", 0), NONE("XAG"), NONE("XAU"), NONE("XBA"), NONE("XBB"),
	NONE("XBC"), NONE("XBD"), PAY("XCD", 2), PAY("XCG", 2), NONE("XDR"),
	PAY("XOF", 0), NONE("XPD"), PAY("XPF", 0), NONE("XPT"), NONE("XSU"),
	NONE("XTS"), NONE("XUA"), NONE("XXX"), PAY("YER", 2), PAY("ZAR", 2),
	PAY("ZMW", 2), PAY("ZWG", 2),
};
/* clang-format on */

#undef PAY
#undef NONE

static int
compare(const void *key, const void *row)
{
	const struct str *code = key;
	const struct currency *currency = row;

	return str_cmp(*code, str_from(currency->code));
}

const struct currency *
currency_find(struct str code)
{
	return bsearch(&code, currencies,
	    sizeof currencies / sizeof currencies[0], sizeof currencies[0],
	    compare);
}
