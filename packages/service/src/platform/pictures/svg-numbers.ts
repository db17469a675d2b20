/** The longer side of what is seen of a picture, in its own units: what numbers are compared with. */
export function readView(viewBox: string | undefined): number {
  const [, , width = 0, height = 0] = (viewBox ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  return Math.max(width, height);
}

const LENGTH = /([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%|[a-z]+)?/gi;
/** No unit is longer, but for those of letters. */
const INCH = 96;

/** The lengths in a text, in units of the picture; of a unit that depends on letters it is a guess. */
export function readLengths(text: string | undefined, view: number): number[] {
  return [...(text ?? '').matchAll(LENGTH)].map(([, digits, unit = 'px']) => {
    if (unit === '%') return (Number(digits) / 100) * view;
    return Number(digits) * (unit.toLowerCase() === 'px' ? 1 : INCH);
  });
}

/** The largest of the lengths, whatever their signs. Not by Math.max of all: there may be many. */
export const largest = (lengths: readonly number[]): number =>
  lengths.reduce((most, length) => Math.max(most, Math.abs(length)), 0);

/** How a point moves: at most so many times as far from zero, and so far besides. */
interface Move {
  readonly scale: number;
  readonly shift: number;
}

const FUNCTION = /\b([a-z]+)\s*\(([^()]*)\)/gi;

/** What a list of transformations makes of a distance from zero, at most. */
export function transformReach(text: string | undefined, reach: number): number {
  const moves = [...(text ?? '').matchAll(FUNCTION)].map(([, name = '', inside]) =>
    toMove(name, readLengths(inside, 0)),
  );
  return moves.reduceRight((far, { scale, shift }) => scale * far + shift, reach);
}

function toMove(name: string, numbers: readonly number[]): Move {
  const [a = 0, b, c = 0, d = 0, e = 0, f = 0] = numbers;
  switch (name.toLowerCase()) {
    case 'matrix':
      return { scale: stretch(a, b ?? 0, c, d), shift: largest([e, f]) };
    case 'translate':
      return { scale: 1, shift: largest([a, b ?? 0]) };
    case 'scale':
      return { scale: largest([a, b ?? a]), shift: 0 };
    case 'rotate':
      return { scale: 1, shift: 2 * largest([b ?? 0, c]) };
    case 'skewx':
    case 'skewy':
      return { scale: stretch(1, 0, Math.tan((a * Math.PI) / 180), 1), shift: 0 };
    default:
      return { scale: 1, shift: 0 };
  }
}

/** By how much a matrix makes the longest line longer. */
function stretch(a: number, b: number, c: number, d: number): number {
  const squares = a * a + b * b + c * c + d * d;
  const area = 2 * (a * d - b * c);
  return Math.sqrt((squares + Math.sqrt(Math.max(0, squares * squares - area * area))) / 2);
}
