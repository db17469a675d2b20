import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rememberRecent } from '../src/remember-recent.js';

it('gives what the function gives, in whatever order values come', () => {
  const remembered = rememberRecent((value) => `<${value}>`);
  const value = fc.oneof(fc.integer({ min: -800, max: 800 }), fc.maxSafeInteger(), fc.double());
  fc.assert(
    fc.property(fc.array(value), (values) => {
      expect(values.map(remembered)).toEqual(values.map((one) => `<${one}>`));
    }),
  );
});

it('makes the text of a time once, also when those of all other days of its year come between', () => {
  let made = 0;
  const remembered = rememberRecent((value) => {
    made += 1;
    return String(value);
  });
  const days = Array.from({ length: 366 }, (_, day) => Date.UTC(2028, 0, 1 + day, 8, 30) / 1000);
  for (let turn = 0; turn < 3; turn += 1) for (const day of days) remembered(day);
  expect(made).toBe(366);
});

it('what the function throws for a value is thrown each time', () => {
  const remembered = rememberRecent((value) => {
    throw new RangeError(String(value));
  });
  for (const value of [1, 1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => remembered(value)).toThrow(RangeError);
});
