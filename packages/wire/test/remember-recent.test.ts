import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rememberRecent } from '../src/remember-recent.js';

it('returns the function’s results, in any order of values', () => {
  const remembered = rememberRecent((value) => `<${value}>`);
  const value = fc.oneof(fc.integer({ min: -800, max: 800 }), fc.maxSafeInteger(), fc.double());
  fc.assert(
    fc.property(fc.array(value), (values) => {
      expect(values.map(remembered)).toEqual(values.map((one) => `<${one}>`));
    }),
  );
});

it('throws the function’s errors each time', () => {
  const remembered = rememberRecent((value) => {
    throw new RangeError(String(value));
  });
  for (const value of [1, 1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => remembered(value)).toThrow(RangeError);
});
