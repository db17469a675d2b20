import { BLACK, type Colour, contrast, formatColour, mix, parseColour, WHITE } from './colour.js';

/** The colours derived from the accent of a page, by their names in the style sheet. */
export const TONES = [
  'accent',
  'accent-strong',
  'accent-edge',
  'on-accent',
  'accent-ink',
  'hero-from',
  'hero-to',
  'hero-line',
  'on-hero',
  'soft',
] as const;
export type Tone = (typeof TONES)[number];
export type Theme = 'light' | 'dark';
/** Tones as `#rrggbb`. */
export type Tones = Readonly<Record<Tone, string>>;

/** Minimum contrasts of WCAG 2 AA: for normal text, and for lines that users must see. */
const TEXT_CONTRAST = 4.5;
const LINE_CONTRAST = 3;
/** Higher than WCAG's minimum, because text with that minimum looks dim on a dark background. */
const TEXT_ON_DARK_CONTRAST = 6;
/** Distinguishes adjacent backgrounds. */
const GROUND_CONTRAST = 1.12;

/** The backgrounds in assets/redeem/page.css on which text has the accent's colour. */
const GROUNDS: Readonly<Record<Theme, { readonly panel: Colour; readonly ground: Colour }>> = {
  light: { panel: WHITE, ground: parseColour('f3f5f4') },
  dark: { panel: parseColour('171e1b'), ground: parseColour('0e1311') },
};

/**
 * Derives the tones of an accent of six hexadecimal digits. Text is readable both in the tones for text and on the
 * tones for backgrounds.
 */
export function makeTones(accent: string): Readonly<Record<Theme, Tones>> {
  const colour = parseColour(accent);
  return { light: format(makeLight(colour)), dark: format(makeDark(colour)) };
}

type Made = Readonly<Record<Tone, Colour>>;

function makeLight(colour: Colour): Made {
  const { panel, ground } = GROUNDS.light;
  const accent = makeFilled(colour);
  const pale = mixUntil(mix(colour, panel, 0.9), colour, [panel], GROUND_CONTRAST);
  const soft = mixUntil(pale, BLACK, [panel], GROUND_CONTRAST);
  const grounds = [panel, ground, soft];
  const strong = mix(accent, BLACK, takesWhite(colour) ? 0.2 : 0.08);
  const bright = mixUntil(colour, BLACK, [ground], GROUND_CONTRAST);
  const hero = takesWhite(colour)
    ? { from: mix(accent, BLACK, 0.22), to: mixUntil(mix(accent, WHITE, 0.1), BLACK, [WHITE], TEXT_CONTRAST) }
    : { from: bright, to: mix(bright, WHITE, 0.35) };
  return {
    accent,
    'accent-strong': strong,
    'accent-edge': mixUntil(accent, BLACK, grounds, LINE_CONTRAST),
    'on-accent': chooseText(colour, [accent, strong]),
    'accent-ink': mixUntil(colour, BLACK, grounds, TEXT_CONTRAST),
    ...nameHero(colour, hero),
    soft,
  };
}

function makeDark(colour: Colour): Made {
  const { panel, ground } = GROUNDS.dark;
  const accent = lightenUntil(makeFilled(colour), [panel, ground], LINE_CONTRAST);
  const soft = mixUntil(mix(panel, colour, 0.12), WHITE, [panel], GROUND_CONTRAST);
  const grounds = [panel, ground, soft];
  const strong = takesWhite(colour) ? mix(accent, BLACK, 0.15) : mix(accent, WHITE, 0.25);
  const shade = (share: number) => mixUntil(mix(accent, BLACK, share), WHITE, [ground], GROUND_CONTRAST);
  const hero = takesWhite(colour)
    ? { from: shade(0.45), to: shade(0.15) }
    : { from: mix(colour, BLACK, 0.06), to: mix(colour, WHITE, 0.15) };
  return {
    accent,
    'accent-strong': strong,
    'accent-edge': lightenUntil(accent, grounds, LINE_CONTRAST),
    'on-accent': chooseText(colour, [accent, strong]),
    'accent-ink': lightenUntil(colour, grounds, TEXT_ON_DARK_CONTRAST),
    ...nameHero(colour, hero),
    soft,
  };
}

/** True if text on the accent is white. If the contrast is slightly too low, the accent is darkened a little. */
const takesWhite = (colour: Colour): boolean => contrast(colour, WHITE) >= LINE_CONTRAST;

/**
 * Returns the accent as a background. A bright accent is not darkened and gets dark text, because dark yellow looks
 * brown.
 */
const makeFilled = (colour: Colour): Colour =>
  takesWhite(colour) ? mixUntil(colour, BLACK, [WHITE], TEXT_CONTRAST) : colour;

const chooseText = (colour: Colour, grounds: readonly Colour[]): Colour =>
  takesWhite(colour) ? WHITE : mixUntil(mix(colour, BLACK, 0.82), BLACK, grounds, TEXT_CONTRAST);

/** Returns the tones of the page head: both ends of its gradient, its text, and the track of its progress bar. */
function nameHero(colour: Colour, { from, to }: { readonly from: Colour; readonly to: Colour }) {
  const text = chooseText(colour, [from, to]);
  const line = mixUntil(mix(from, text, 0.35), from, [text], LINE_CONTRAST);
  return { 'hero-from': from, 'hero-to': to, 'hero-line': line, 'on-hero': text };
}

const STEPS = 255;

/** Mixes a colour with `towards`, no further than is needed for the contrast `ratio` with all colours in `against`. */
function mixUntil(colour: Colour, towards: Colour, against: readonly Colour[], ratio: number): Colour {
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(colour, towards, step / STEPS);
    if (against.every((other) => contrast(mixed, other) >= ratio)) return mixed;
  }
  return towards;
}

/**
 * Brightens the colour first towards its own brightest shade, because white makes a colour pale. A nearly black colour
 * has hardly any shade, so it is brightened towards white.
 */
function lightenUntil(colour: Colour, against: readonly Colour[], ratio: number): Colour {
  const brightest = Math.max(...colour, 1);
  const vivid = mix(BLACK, colour, 255 / brightest);
  const shade = mixUntil(colour, mix(WHITE, vivid, Math.min(1, brightest / NEARLY_BLACK)), against, ratio);
  return mixUntil(shade, WHITE, against, ratio);
}

/** A colour whose brightest component is below this looks black, whatever its shade. */
const NEARLY_BLACK = 96;

const format = (made: Made): Tones =>
  Object.fromEntries(TONES.map((tone) => [tone, formatColour(made[tone])])) as Record<Tone, string>;

/**
 * A tone and its lowest contrast. For a background, this is the contrast with the texts on it. For a text or a line, it
 * is the contrast with its backgrounds.
 */
export interface MeasuredTone {
  readonly theme: Theme;
  readonly tone: Tone;
  readonly colour: string;
  /** One decimal, truncated. */
  readonly contrast: number;
}

/** Returns the tones of an accent with their contrast, for the operator who chooses it. */
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

/** Returns for each tone the colours against which it must have contrast. */
function textsOn(theme: Theme, tones: Tones): Readonly<Record<Tone, readonly Colour[]>> {
  const { panel, ground } = GROUNDS[theme];
  const of = (tone: Tone) => parseColour(tones[tone]);
  return {
    accent: [of('on-accent')],
    'accent-strong': [of('on-accent')],
    'accent-edge': [panel, ground, of('soft')],
    'on-accent': [of('accent'), of('accent-strong')],
    'accent-ink': [panel, ground, of('soft')],
    'hero-from': [of('on-hero')],
    'hero-to': [of('on-hero')],
    'hero-line': [of('on-hero')],
    'on-hero': [of('hero-from'), of('hero-to')],
    soft: [of('accent-ink')],
  };
}

/** Renders a style sheet that is loaded after the page's own style sheet. */
export function renderAccentCss(accent: string): string {
  const { light, dark } = makeTones(accent);
  const block = (tones: Tones) => `:root{${TONES.map((tone) => `--${tone}:${tones[tone]}`).join(';')}}`;
  return `${block(light)}\n@media (prefers-color-scheme:dark){${block(dark)}}\n`;
}

/** The path of an accent's style sheet below the root path. */
export const accentPath = (accent: string): string => `/redeem/accent-${accent}.css`;
