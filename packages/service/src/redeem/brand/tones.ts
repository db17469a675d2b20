import { BLACK, type Colour, contrast, formatColour, mix, parseColour, WHITE } from './colour.js';

/** The colours of a page that follow from its accent, by their names in the style sheet. */
export const TONES = ['accent', 'accent-strong', 'on-accent', 'hero-from', 'hero-to', 'soft'] as const;
export type Tone = (typeof TONES)[number];
export type Theme = 'light' | 'dark';
/** Each as `#rrggbb`. */
export type Tones = Readonly<Record<Tone, string>>;

/** What normal text needs, by WCAG 2 AA. */
export const MIN_CONTRAST = 4.5;

/** The grounds of assets/redeem/page.css on which the accent is text. */
const GROUNDS: Readonly<Record<Theme, { readonly panel: Colour; readonly ground: Colour }>> = {
  light: { panel: WHITE, ground: parseColour('f3f5f4') },
  dark: { panel: parseColour('171e1b'), ground: parseColour('0e1311') },
};

/** The tones of an accent of six hexadecimal digits, each readable on its ground. */
export function makeTones(accent: string): Readonly<Record<Theme, Tones>> {
  const colour = parseColour(accent);
  return { light: format(makeLight(colour)), dark: format(makeDark(colour)) };
}

type Made = Readonly<Record<Tone, Colour>>;

function makeLight(colour: Colour): Made {
  const { panel, ground } = GROUNDS.light;
  // Of a colour that is readable, so that what is soft differs from the panel even when the accent is white.
  const soft = mix(mixUntilReadable(colour, BLACK, [panel]), panel, 0.91);
  const accent = mixUntilReadable(colour, BLACK, [panel, ground, soft]);
  return {
    accent,
    'accent-strong': mix(accent, BLACK, 0.2),
    'on-accent': WHITE,
    'hero-from': mixUntilReadable(mix(colour, BLACK, 0.16), BLACK, [WHITE]),
    'hero-to': mixUntilReadable(mix(colour, WHITE, 0.06), BLACK, [WHITE]),
    soft,
  };
}

function makeDark(colour: Colour): Made {
  const { panel, ground } = GROUNDS.dark;
  const soft = mix(panel, colour, 0.1);
  const accent = mixUntilReadable(colour, WHITE, [panel, ground, soft]);
  return {
    accent,
    'accent-strong': mix(accent, WHITE, 0.25),
    'on-accent': mixUntilReadable(mix(colour, BLACK, 0.67), BLACK, [accent]),
    'hero-from': mixUntilReadable(mix(colour, BLACK, 0.41), BLACK, [WHITE]),
    'hero-to': mixUntilReadable(mix(colour, BLACK, 0.21), BLACK, [WHITE]),
    soft,
  };
}

const STEPS = 255;

/** Mixed no further than needed. */
function mixUntilReadable(colour: Colour, towards: Colour, against: readonly Colour[]): Colour {
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(colour, towards, step / STEPS);
    if (against.every((other) => contrast(mixed, other) >= MIN_CONTRAST)) return mixed;
  }
  return towards;
}

const format = (made: Made): Tones =>
  Object.fromEntries(TONES.map((tone) => [tone, formatColour(made[tone])])) as Record<Tone, string>;

/** A tone and the least contrast that text has with it, or that it has as text. */
export interface MeasuredTone {
  readonly theme: Theme;
  readonly tone: Tone;
  readonly colour: string;
  /** One decimal, cut off. */
  readonly contrast: number;
}

/** The tones of an accent with their contrast, for those who choose it. */
export function measureTones(accent: string): MeasuredTone[] {
  const made = makeTones(accent);
  return (['light', 'dark'] as const).flatMap((theme) =>
    TONES.map((tone) => {
      const colour = made[theme][tone];
      const others = textsOn(theme, made[theme])[tone].map((other) => contrast(parseColour(colour), other));
      return { theme, tone, colour, contrast: Math.floor(Math.min(...others) * 10) / 10 };
    }),
  );
}

/** For each tone what is written on it, or what it is written on. */
function textsOn(theme: Theme, tones: Tones): Readonly<Record<Tone, readonly Colour[]>> {
  const { panel, ground } = GROUNDS[theme];
  const of = (tone: Tone) => parseColour(tones[tone]);
  return {
    accent: [panel, ground, of('soft'), of('on-accent')],
    'accent-strong': [of('on-accent')],
    'on-accent': [of('accent'), of('accent-strong')],
    'hero-from': [WHITE],
    'hero-to': [WHITE],
    soft: [of('accent')],
  };
}

/** A style sheet that comes after the page's own. */
export function renderAccentCss(accent: string): string {
  const { light, dark } = makeTones(accent);
  const block = (tones: Tones) => `:root{${TONES.map((tone) => `--${tone}:${tones[tone]}`).join(';')}}`;
  return `${block(light)}\n@media (prefers-color-scheme:dark){${block(dark)}}\n`;
}

/** Where the style sheet of an accent is, below the root of the page. */
export const accentPath = (accent: string): string => `/redeem/accent-${accent}.css`;
