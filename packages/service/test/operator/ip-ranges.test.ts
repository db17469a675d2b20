import { describe, expect, it } from 'vitest';
import { createAddressCheck } from '../../src/catalog/channels/channel.js';
import { OperatorError } from '../../src/operator/operator.js';
import { requireIpRanges } from '../../src/operator/provisioning/addresses/ip-ranges.js';

const ACCEPTED: readonly [text: string, stored: string, inside: string, outside: string | undefined][] = [
  ['203.0.113.7', '203.0.113.7/32', '203.0.113.7', '203.0.113.8'],
  ['203.0.113.0/24', '203.0.113.0/24', '203.0.113.255', '203.0.114.0'],
  ['203.0.113.128/25', '203.0.113.128/25', '203.0.113.128', '203.0.113.127'],
  ['0.0.0.0/0', '0.0.0.0/0', '9.9.9.9', undefined],
  ['2001:DB8::/32', '2001:db8::/32', '2001:db8:1::1', '2001:db9::1'],
  ['2001:db8::1', '2001:db8::1/128', '2001:db8::1', '2001:db8::2'],
  ['2001:db8:0:0:0:0:0:8/125', '2001:db8:0:0:0:0:0:8/125', '2001:db8::f', '2001:db8::7'],
  ['::/0', '::/0', '2001:db8::1', undefined],
];

const REFUSED: readonly [text: string, reason: RegExp][] = [
  ['', /neither/],
  ['partner.example', /neither/],
  ['203.0.113', /neither/],
  ['203.0.113.256', /neither/],
  ['010.0.0.1', /neither/],
  ['203.0.113.0-203.0.113.9', /neither/],
  ['203.0.113.0/24/24', /neither/],
  [' 203.0.113.7', /neither/],
  ['fe80::1%eth0', /neither/],
  ['203.0.113.0/33', /0 to 32/],
  ['203.0.113.0/', /0 to 32/],
  ['203.0.113.0/-1', /0 to 32/],
  ['203.0.113.0/255.255.255.0', /0 to 32/],
  ['2001:db8::/129', /0 to 128/],
  ['203.0.113.7/24', /Did you mean 203\.0\.113\.0\/24\?/],
  ['128.0.0.0/0', /Did you mean 0\.0\.0\.0\/0\?/],
  ['2001:db8::1/64', /Did you mean 2001:db8::\/64\?/],
  ['::ffff:203.0.113.7', /as an IPv4 address/],
  ['::ffff:203.0.113.0/120', /as an IPv4 address/],
];

describe('an IP list', () => {
  it.each(ACCEPTED)('accepts %s', (text, stored, inside, outside) => {
    expect(requireIpRanges([text])).toEqual([stored]);
    const allows = createAddressCheck([stored]);
    expect(allows(inside)).toBe(true);
    if (outside !== undefined) expect(allows(outside)).toBe(false);
  });

  it.each(REFUSED)('refuses %j', (text, reason) => {
    expect(() => requireIpRanges([text])).toThrow(OperatorError);
    expect(() => requireIpRanges([text])).toThrow(reason);
  });

  it('refuses an address given twice', () => {
    expect(() => requireIpRanges(['203.0.113.7', '203.0.113.7/32'])).toThrow(/given twice/);
  });
});
