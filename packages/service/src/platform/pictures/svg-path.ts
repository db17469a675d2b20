/** How far an outline goes, in its own units. Neither is exact: a curve is taken for the lines between its points. */
export interface Outline {
  readonly length: number;
  /** The largest distance from zero along an axis. */
  readonly reach: number;
}

type Point = readonly [x: number, y: number];

const NUMBER = /[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/iy;
const FLAG = /[\s,]*([01])/y;
const COMMAND = /[\s,]*([a-z])/iy;

/** How many numbers a command takes; it may be followed by as many again. */
const COUNTS: Readonly<Record<string, number>> = { m: 2, l: 2, h: 1, v: 1, c: 6, s: 4, q: 4, t: 2, a: 7, z: 0 };

/** Measures the text of a path, up to where it cannot be read: browsers draw no further either. */
export function measurePath(text: string): Outline {
  const pen = createPen();
  let at = 0;
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[1];
  };
  const readNumbers = (kind: string, count: number): number[] | undefined => {
    const numbers: number[] = [];
    while (numbers.length < count) {
      const isFlag = kind === 'a' && (numbers.length === 3 || numbers.length === 4);
      const found = read(isFlag ? FLAG : NUMBER);
      if (found === undefined) return undefined;
      numbers.push(Number(found));
    }
    return numbers;
  };
  for (let command = read(COMMAND); command !== undefined; command = read(COMMAND)) {
    const kind = command.toLowerCase();
    const count = COUNTS[kind];
    if (count === undefined) break;
    if (count === 0) pen.close();
    let next = kind;
    for (let numbers = count > 0 && readNumbers(kind, count); numbers; numbers = readNumbers(kind, count)) {
      pen.draw(next, command === kind, numbers);
      // What follows a move without a letter of its own is a line.
      if (kind === 'm') next = 'l';
    }
  }
  return pen.measured;
}

/** Follows a path from point to point. */
function createPen() {
  const measured = { length: 0, reach: 0 };
  let [start, here, control]: [Point, Point, Point] = [
    [0, 0],
    [0, 0],
    [0, 0],
  ];
  const goTo = (point: Point) => {
    measured.length += distance(here, point);
    measured.reach = Math.max(measured.reach, Math.abs(point[0]), Math.abs(point[1]));
    here = point;
  };
  return {
    measured,
    close: () => goTo(start),
    draw(kind: string, isRelative: boolean, numbers: readonly number[]) {
      const from = here;
      const points = listPoints(kind, isRelative ? from : [0, 0], from, numbers);
      const end = points.at(-1) ?? from;
      if (kind === 'm') {
        here = end;
        start = end;
      }
      // The point that is not written: the last one mirrored.
      control = kind === 't' || kind === 's' ? [2 * from[0] - control[0], 2 * from[1] - control[1]] : end;
      if (kind === 't' || kind === 's') goTo(control);
      if (kind === 'a') bulge(measured, from, end, numbers);
      for (const point of points) goTo(point);
      if (kind !== 't') control = points.at(-2) ?? end;
    },
  };
}

/** Where a command leads, by way of the points that bend it. */
function listPoints(kind: string, [x, y]: Point, from: Point, numbers: readonly number[]): Point[] {
  const [first = 0] = numbers;
  if (kind === 'h') return [[x + first, from[1]]];
  if (kind === 'v') return [[from[0], y + first]];
  const pairs = kind === 'a' ? numbers.slice(5) : numbers;
  return Array.from(
    { length: pairs.length / 2 },
    (_, place): Point => [x + (pairs[2 * place] ?? 0), y + (pairs[2 * place + 1] ?? 0)],
  );
}

/** An arc goes beside the line between its ends: of a circle, the smaller part no further than that line is long. */
function bulge(measured: { length: number; reach: number }, from: Point, to: Point, numbers: readonly number[]): void {
  const [rx = 0, ry = 0, , isLarge] = numbers.map(Math.abs);
  const chord = distance(from, to);
  const size = rx === ry && isLarge === 0 ? chord : 2 * Math.max(rx, ry, chord);
  measured.length += 3 * size;
  measured.reach = Math.max(measured.reach, Math.abs(from[0]) + size, Math.abs(from[1]) + size);
}

const distance = (one: Point, other: Point): number => Math.hypot(one[0] - other[0], one[1] - other[1]);
