import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTones, measureTones, renderAccentCss, type Theme, TONES } from '../../src/redeem/brand/tones.js';

/** Of a colour of six digits, by the formula of WCAG 2. */
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
/** A colour of the page itself, which the tones must fit. */
function pageColour(theme: Theme, name: string): string {
  const [light = '', dark = ''] = PAGE.split('prefers-color-scheme: dark');
  const [, colour = ''] = new RegExp(`--${name}: (#[0-9a-f]{3,6});`).exec(theme === 'light' ? light : dark) ?? [];
  return colour.length === 4 ? colour.replaceAll(/[0-9a-f]/g, '$&$&') : colour;
}

/** Every pair of a text and its ground that has to do with the accent. */
function pairs(accent: string): [string, number][] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const tones = makeTones(accent)[theme];
    const of = (name: string) => pageColour(theme, name);
    const found: [string, string, string][] = [
      ...['panel', 'ground'].map((ground): [string, string, string] => [
        `accent on ${ground}`,
        tones.accent,
        of(ground),
      ]),
      ['accent on soft', tones.accent, tones.soft],
      ['ink on soft', of('ink'), tones.soft],
      ['quiet on soft', of('quiet'), tones.soft],
      ['a button', tones['on-accent'], tones.accent],
      ['a button under the pointer', tones['on-accent'], tones['accent-strong']],
      ['the head, where it begins', '#ffffff', tones['hero-from']],
      ['the head, where it ends', '#ffffff', tones['hero-to']],
    ];
    return found.map(([name, one, other]): [string, number] => [`${accent} ${theme}: ${name}`, contrast(one, other)]);
  });
}

const unreadable = (accent: string) => pairs(accent).filter(([, ratio]) => !(ratio >= 4.5));

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

  it('are the accent itself where it is readable, and else no further from it than needed', () => {
    expect(makeTones('0a6b4b').light).toMatchObject({ accent: '#0a6b4b', 'on-accent': '#ffffff' });
    expect(makeTones('ffff00').dark.accent).toBe('#ffff00');
    const { dark } = makeTones('ffff00');
    // A step less of black or white would be too little.
    const least = (accent: string, theme: Theme) =>
      Math.min(...pairs(accent).flatMap(([name, ratio]) => (name.includes(`${theme}: accent on`) ? [ratio] : [])));
    expect(least('ffff00', 'light')).toBeLessThan(4.6);
    expect(least('000080', 'dark')).toBeLessThan(4.6);
    expect(dark['hero-from']).not.toBe('#000000');
  });

  it('are told with their contrast, and rendered for both themes', () => {
    const told = measureTones('ffff00');
    expect(told).toHaveLength(2 * TONES.length);
    expect(told.every((one) => one.contrast >= 4.5)).toBe(true);
    expect(told[0]).toEqual({
      theme: 'light',
      tone: 'accent',
      colour: makeTones('ffff00').light.accent,
      contrast: 4.5,
    });
    expect(renderAccentCss('0a6b4b')).toMatch(
      /^:root\{--accent:#0a6b4b;(--[a-z-]+:#[0-9a-f]{6};?)+\}\n@media \(prefers-color-scheme:dark\)\{:root\{(--[a-z-]+:#[0-9a-f]{6};?)+\}\}\n$/,
    );
  });
});
