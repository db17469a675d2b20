/** Red, green and blue, 0 to 255. */
export type Colour = readonly [number, number, number];

export const BLACK: Colour = [0, 0, 0];
export const WHITE: Colour = [255, 255, 255];

/** Parses six hexadecimal digits, with or without a leading #. */
export function parseColour(text: string): Colour {
  const number = Number.parseInt(text.replace('#', ''), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

export const formatColour = (colour: Colour): string =>
  `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Mixes two colours. A share of 0 returns the first colour, a share of 1 the second. */
export function mix(colour: Colour, other: Colour, share: number): Colour {
  const part = (place: 0 | 1 | 2) => Math.round(colour[place] + (other[place] - colour[place]) * share);
  return [part(0), part(1), part(2)];
}

/** Returns the contrast ratio of WCAG 2, from 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
