import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTime, parseTime } from '../src/time.js';
import vectors from '../vectors/time.json' with { type: 'json' };

describe('formatTime', () => {
  it.each(vectors.format)('$name: $text', ({ epochMs, text }) => {
    expect(formatTime(epochMs)).toBe(text);
  });

  it('agrees with the calendar of the runtime for any moment in four-digit years', () => {
    const from = Date.UTC(100, 0, 1);
    const to = Date.UTC(9999, 11, 31);
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (epochMs) => {
        const expected = new Date(epochMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
        expect(formatTime(epochMs)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Date.UTC(9999, 11, 31, 16), -6e14])(
    'has no text for %d',
    (epochMs) => {
      expect(() => formatTime(epochMs)).toThrow(RangeError);
    },
  );
});

describe('parseTime', () => {
  it.each(vectors.parse)('$name: $text', ({ text, epochMs, formatted }) => {
    expect(parseTime(text)).toBe(epochMs);
    expect(formatTime(epochMs)).toBe(formatted);
  });

  it.each(vectors.rejected)('refuses "$text": $why', ({ text }) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it('reads back what formatTime wrote, to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_248_000, max: 253_402_271_999 }), fc.nat(999), (second, millis) => {
        expect(parseTime(formatTime(second * 1000 + millis))).toBe(second * 1000);
      }),
      { numRuns: 2000 },
    );
  });

  it('returns only what formatTime can write', () => {
    const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
    const year = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0'));
    const offset = fc.oneof(
      fc.constantFrom('', 'Z'),
      fc.tuple(fc.constantFrom('+', '-'), two(24)).map(([s, h]) => `${s}${h}:00`),
    );
    fc.assert(
      fc.property(year, two(13), two(32), two(24), offset, (yyyy, mm, dd, hh, zone) => {
        const parsed = parseTime(`${yyyy}-${mm}-${dd}T${hh}:00:00${zone}`);
        if (parsed !== undefined) expect(parseTime(formatTime(parsed))).toBe(parsed);
      }),
    );
  });
});
