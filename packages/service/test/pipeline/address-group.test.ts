import { expect, it } from 'vitest';
import { addressGroup } from '../../src/http/answers/minute-limit.js';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:0001:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0'],
  ['fe80::1%br-lan.7', 'fe80:0:0:0'],
  ['', ''],
])('callers are counted by subscriber: %s as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
