import { describe, expect, it } from 'vitest';
import {
  appendBenefit,
  appendList,
  appendListOrNone,
  formatDuration,
  InvalidValue,
  parseDurations,
  parseHours,
  parseOnOff,
  parseWholeNumber,
  parseWholeNumberOrOff,
} from '../../src/operations/command/parse.js';

describe('an option value', () => {
  it.each([
    [parseWholeNumber, '0012', 12],
    [parseWholeNumberOrOff, 'off', 'none'],
    [parseWholeNumberOrOff, '5', 5],
    [appendList, 'a, b', ['a', 'b']],
    [parseDurations, '1h,3h,1d,90s,2m', [3600, 10_800, 86_400, 90, 120]],
    [parseDurations, 'none', []],
    [parseHours, '8-22', { from: 8, to: 22 }],
    [appendListOrNone, 'none', []],
    [appendBenefit, 'VIP:1500', [{ benefitCode: 'VIP', faceValueCent: 1500, name: 'VIP' }]],
    [appendBenefit, 'VIP:0:a: b', [{ benefitCode: 'VIP', faceValueCent: 0, name: 'a: b' }]],
    [parseOnOff, 'off', false],
  ] as const)('%o reads %j', (read, text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each([
    [parseWholeNumber, ['', '-1', '1.5', '1e3', '0x10', ' 1', 'none']],
    [parseDurations, ['', '1', 'h', '1w', '1h,', '1h 3h', '-1h']],
    [parseHours, ['', '8', '8-', '8:00-22:00', '8-222', '-8']],
    [appendBenefit, ['', 'VIP', 'VIP:', 'VIP:x', 'VIP:1.5', ':100', 'VIP:100:']],
    [parseOnOff, ['', 'yes', 'true', 'ON']],
  ] as const)('%o refuses what is not its shape', (read, texts) => {
    for (const text of texts) expect(() => read(text), text).toThrow(InvalidValue);
  });

  it('that may be repeated is collected', () => {
    expect(appendList('c', appendList('a,b'))).toEqual(['a', 'b', 'c']);
    expect(appendBenefit('B:2', appendBenefit('A:1')).map(({ benefitCode }) => benefitCode)).toEqual(['A', 'B']);
  });

  it('of a duration is shown as people write it', () => {
    expect([60, 3600, 86_400, 90, 5400, 172_800].map(formatDuration)).toEqual(['1m', '1h', '1d', '90s', '90m', '2d']);
  });
});
