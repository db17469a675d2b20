import { largest, readLengths, readView, transformReach } from './svg-numbers.js';
import { measurePath } from './svg-path.js';
import type { References } from './svg-references.js';
import { refuseSvg, type SvgElement } from './svg-tree.js';

/** How many times as far as what is seen a picture may go: browsers take seconds for curves that are millions of pixels long. */
const MAX_REACH = 1_000;
/** Parts of what is seen that a pattern may be repeated in: nobody sees smaller ones. */
const MAX_TILES = 2_000;

const PLACES = ['x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'dx', 'dy'];
const SIZES = ['width', 'height', 'r', 'rx', 'ry', 'stroke-width', 'font-size', 'letter-spacing', 'word-spacing'];
/** What draws nothing by itself; however large its numbers are, they are a colour of what is drawn. */
const COLOURS = /^(?:linearGradient|radialGradient|stop)$/;
/** A quarter of what is seen is the most that may be blurred into one another: all of it is drawn, however far it lies outside. */
const BLUR = 4 * MAX_REACH;

/** Throws for what would be drawn far outside of what is seen, or many times larger. It is known that no part has itself in it. */
export function checkReach(root: SvgElement, targets: References['targets']): void {
  const view = readView(root.attributes.get('viewBox'));
  const known = new Map<SvgElement, number>();

  function reachOf(element: SvgElement): number {
    const before = known.get(element);
    if (before !== undefined) return before;
    if (element.name === 'pattern') checkTile(element, view);
    const inside = element.children.map((child) => (typeof child === 'object' ? reachOf(child) : 0));
    const own = largest([measureOwn(element, view), largest(inside) * scaleInto(element, view)]);
    const used = [...(targets.get(element)?.values() ?? [])].map(
      (target) => reachOf(target) * boxOf(element, target, own, view),
    );
    const transform = element.attributes.get('transform') ?? element.attributes.get('patternTransform');
    const reach = COLOURS.test(element.name) ? 0 : transformReach(transform, largest([own, ...used]));
    known.set(element, reach);
    return reach;
  }
  const inside = root.children.map((child) => (typeof child === 'object' ? reachOf(child) : 0));
  const reach = transformReach(root.attributes.get('transform'), largest(inside));
  // Not a number: so large that nothing can be known of it.
  if (!(reach <= MAX_REACH * view))
    throw refuseSvg('a part of it is too large, too blurred, or too far outside of its viewBox');
}

function measureOwn({ name, attributes }: SvgElement, view: number): number {
  if (name === 'filter' || /^fe[A-Z]/.test(name))
    return BLUR * largest(readLengths(attributes.get('stdDeviation'), view));
  const of = (names: readonly string[]) => largest(names.flatMap((one) => readLengths(attributes.get(one), view)));
  const outline = attributes.get('d') ?? (attributes.has('points') ? `M${attributes.get('points')}` : '');
  return of(PLACES) + of(SIZES) + measurePath(outline).reach;
}

const sizeOf = ({ attributes }: SvgElement, view: number): number =>
  largest(['width', 'height'].flatMap((side) => readLengths(attributes.get(side), view)));

/** How much larger a part is drawn than it is: in units of what refers to it, or as large as it says. */
function boxOf(element: SvgElement, target: SvgElement, own: number, view: number): number {
  const isBox = ['clipPathUnits', 'maskContentUnits', 'patternContentUnits', 'primitiveUnits'].some(
    (units) => target.attributes.get(units) === 'objectBoundingBox',
  );
  if (isBox) return 2 * own;
  return element.name === 'use' && target.attributes.has('viewBox') ? Math.max(1, sizeOf(element, view) / view) : 1;
}

/** What is in a view box is made as large as its element. */
function scaleInto(element: SvgElement, view: number): number {
  const [, , width = 0, height = 0] = readLengths(element.attributes.get('viewBox'), view);
  return width > 0 && height > 0 ? Math.max(view, sizeOf(element, view)) / Math.min(width, height) : 1;
}

function checkTile({ attributes }: SvgElement, view: number): void {
  const isOwn = attributes.get('patternUnits') === 'userSpaceOnUse';
  const least = (isOwn ? view : 1) / MAX_TILES;
  const scale = transformReach(attributes.get('patternTransform')?.replaceAll(/translate\([^()]*\)/gi, ''), 1);
  const sides = ['width', 'height'].flatMap((side) => readLengths(attributes.get(side), isOwn ? view : 1));
  if (sides.some((side) => side > 0 && side * scale < least)) throw refuseSvg('a pattern in it repeats too closely');
}
