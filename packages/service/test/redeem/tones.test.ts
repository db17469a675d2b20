import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTones, type Theme } from '../../src/redeem/brand/tones.js';

/** Returns the luminance of a six-digit colour by the formula of WCAG 2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
const contrast = (one: string, other: string) => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

const PAGE = readFileSync(new URL('../../assets/redeem/page.css', import.meta.url), 'utf8');
/** Returns a colour that page.css defines. The tones must have enough contrast with it. */
function pageColour(theme: Theme, name: string): string {
  const [light = '', dark = ''] = PAGE.split('prefers-color-scheme: dark');
  const [, colour = ''] = new RegExp(`--${name}: (#[0-9a-f]{3,6});`).exec(theme === 'light' ? light : dark) ?? [];
  return colour.length === 4 ? colour.replaceAll(/[0-9a-f]/g, '$&$&') : colour;
}

/**
 * Returns every pair of adjacent colours that involves the accent (text and background, or line and neighbour), with
 * its minimum contrast.
 */
function pairs(accent: string): { readonly name: string; readonly ratio: number; readonly needed: number }[] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const tones = makeTones(accent)[theme];
    const of = (name: string) => pageColour(theme, name);
    const grounds = { panel: of('panel'), ground: of('ground'), soft: tones.soft };
    const texts: [string, string, string][] = [
      ...Object.entries(grounds).map(([name, ground]): [string, string, string] => [
        `a link on ${name}`,
        tones['accent-ink'],
        ground,
      ]),
      ['ink on soft', of('ink'), tones.soft],
      ['quiet on soft', of('quiet'), tones.soft],
      ['a button', tones['on-accent'], tones.accent],
      ['a button under the pointer', tones['on-accent'], tones['accent-strong']],
      ['the head, where it begins', tones['on-hero'], tones['hero-from']],
      ['the head, where it ends', tones['on-hero'], tones['hero-to']],
    ];
    const lines: [string, string, string][] = [
      ...Object.entries(grounds).map(([name, ground]): [string, string, string] => [
        `an edge on ${name}`,
        tones['accent-edge'],
        ground,
      ]),
      ...Object.entries(grounds).map(([name, ground]): [string, string, string] => [
        `a quiet button on ${name}`,
        of('edge'),
        ground,
      ]),
      ['progress', tones['on-hero'], tones['hero-line']],
    ];
    const measure = (found: readonly [string, string, string][], needed: number) =>
      found.map(([name, one, other]) => ({ name: `${accent} ${theme}: ${name}`, ratio: contrast(one, other), needed }));
    return [...measure(texts, 4.5), ...measure(lines, 3)];
  });
}

const unreadable = (accent: string) => pairs(accent).filter(({ ratio, needed }) => !(ratio >= needed));

describe('the tones of an accent', () => {
  it('are readable, whatever the accent is', () => {
    expect(pageColour('dark', 'panel')).toBe('#171e1b');
    const named = [
      '000000',
      'ffffff',
      'ffff00',
      '000001',
      'fffffe',
      'ff0000',
      '00ff00',
      '0000ff',
      '808080',
      '767676',
      '777777',
      '0a6b4b',
      'f5b301',
      '00c853',
      'ffd600',
      '101820',
      'fdf6e3',
    ];
    expect(named.flatMap(unreadable)).toEqual([]);
    const steps = [0, 51, 102, 153, 204, 255].map((part) => part.toString(16).padStart(2, '0'));
    const grid = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => red + green + blue)));
    expect(grid.flatMap(unreadable)).toEqual([]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
        expect(unreadable(number.toString(16).padStart(6, '0'))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('keep a bright accent on buttons and the head, with dark text', () => {
    for (const accent of ['f5b301', '00c853', 'ffd600', 'ffff00', 'fdf6e3']) {
      const { light, dark } = makeTones(accent);
      expect([light.accent, dark.accent]).toEqual([`#${accent}`, `#${accent}`]);
      expect(contrast(light['hero-from'], `#${accent}`), accent).toBeLessThan(1.2);
      for (const { 'on-accent': onAccent, 'on-hero': onHero } of [light, dark]) {
        expect([onAccent, onHero].every((text) => contrast(text, '#000000') < 2)).toBe(true);
      }
    }
  });
});
