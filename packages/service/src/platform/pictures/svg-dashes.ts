import { readLengths, readView } from './svg-numbers.js';
import { measurePath } from './svg-path.js';
import type { References } from './svg-references.js';
import { listElements, refuseSvg, type SvgElement } from './svg-tree.js';

/** Of one line. Each dash is drawn by itself. */
const MAX_DASHES = 20_000;

/** How many dashes each element is drawn with. Throws for a line that has more than anybody can see. */
export function countDashes(root: SvgElement, targets: References['targets']): ReadonlyMap<SvgElement, number> {
  const view = readView(root.attributes.get('viewBox'));
  const dashed = listElements(root).flatMap((element) => {
    const period = readPeriod(element.attributes.get('stroke-dasharray'), view);
    return period === undefined ? [] : [{ element, period }];
  });
  const counts = new Map<SvgElement, number>();
  // The closest first: whatever else reaches an element, it has no more of them.
  for (const { element, period } of dashed.toSorted((one, other) => one.period - other.period)) {
    for (const reached of listReached(element, targets, counts)) {
      const count = lengthOf(reached, view) / period;
      if (count > MAX_DASHES) throw refuseSvg('a line in it has more than 20000 dashes; make them longer');
      counts.set(reached, count);
    }
  }
  return counts;
}

/** The length of what is repeated. Undefined when the line is drawn through. */
function readPeriod(text: string | undefined, view: number): number | undefined {
  // An em may be as small as its letters. Other units are longer than a pixel, and are taken for one.
  if (/(?:em|ex|ch|ic|cap|lh|v\w+)\b/i.test(text ?? '')) throw refuseSvg('its dashes are not in pixels');
  const lengths = readLengths(text?.replaceAll(/[a-z]{2,}/gi, ''), view);
  if (lengths.length === 0 || lengths.some((length) => length < 0)) return undefined;
  const sum = lengths.reduce((whole, length) => whole + length, 0);
  return sum > 0 ? sum : undefined;
}

/** Whatever an element hands its dashes down to, also by use, and was not reached before. */
function listReached(
  first: SvgElement,
  targets: References['targets'],
  before: ReadonlyMap<SvgElement, number>,
): Set<SvgElement> {
  const reached = new Set<SvgElement>();
  const open = [first];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    if (reached.has(element) || before.has(element)) continue;
    reached.add(element);
    const used = targets.get(element)?.get('href');
    open.push(...element.children.filter((child) => typeof child === 'object'), ...(used ? [used] : []));
  }
  return reached;
}

/** A letter has several strokes, each about as long as it is high. */
const LETTER = 10;

function lengthOf({ name, attributes, children }: SvgElement, view: number): number {
  const of = (...names: readonly string[]) =>
    names.reduce((sum, one) => sum + Math.abs(readLengths(attributes.get(one), view)[0] ?? 0), 0);
  const own = of('pathLength');
  if (own > 0) return own;
  if (name === 'path') return measurePath(attributes.get('d') ?? '').length;
  if (name === 'polyline' || name === 'polygon') return 2 * measurePath(`M${attributes.get('points') ?? ''}`).length;
  if (name === 'circle' || name === 'ellipse') return 2 * Math.PI * of('r', 'rx', 'ry');
  if (name === 'rect') return 2 * of('width', 'height');
  if (name === 'line') return of('x1', 'x2', 'y1', 'y2');
  const letters = children.reduce((sum, child) => sum + (typeof child === 'string' ? child.length : 0), 0);
  return letters * LETTER * (of('font-size') || view);
}
