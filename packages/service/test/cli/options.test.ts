import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  benefit,
  collect,
  duration,
  durations,
  hours,
  onOff,
  wholeNumber,
  wholeNumberOrNone,
} from '../../src/cli/frame/options.js';

describe('an option value', () => {
  it.each([
    [wholeNumber, '0012', 12],
    [wholeNumberOrNone, 'none', 'none'],
    [wholeNumberOrNone, '5', 5],
    [collect, 'a, b', ['a', 'b']],
    [durations, '1h,3h,1d,90s,2m', [3600, 10_800, 86_400, 90, 120]],
    [durations, 'none', []],
    [hours, '8-22', { from: 8, to: 22 }],
    [hours, 'none', 'none'],
    [benefit, 'VIP:1500', [{ benefitCode: 'VIP', faceValueCent: 1500, name: 'VIP' }]],
    [benefit, 'VIP:0:a: b', [{ benefitCode: 'VIP', faceValueCent: 0, name: 'a: b' }]],
    [onOff, 'off', false],
  ] as const)('%o reads %j', (read, text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each([
    [wholeNumber, ['', '-1', '1.5', '1e3', '0x10', ' 1', 'none']],
    [durations, ['', '1', 'h', '1w', '1h,', '1h 3h', '-1h']],
    [hours, ['', '8', '8-', '8:00-22:00', '8-222', '-8']],
    [benefit, ['', 'VIP', 'VIP:', 'VIP:x', 'VIP:1.5', ':100', 'VIP:100:']],
    [onOff, ['', 'yes', 'true', 'ON']],
  ] as const)('%o refuses what is not its shape', (read, texts) => {
    for (const text of texts) expect(() => read(text), text).toThrow(InvalidArgumentError);
  });

  it('that may be repeated is collected', () => {
    expect(collect('c', collect('a,b'))).toEqual(['a', 'b', 'c']);
    expect(benefit('B:2', benefit('A:1')).map(({ benefitCode }) => benefitCode)).toEqual(['A', 'B']);
  });

  it('of a duration is shown as people write it', () => {
    expect([60, 3600, 86_400, 90, 5400, 172_800].map(duration)).toEqual(['1m', '1h', '1d', '90s', '90m', '2d']);
  });
});
