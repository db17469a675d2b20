import { countDashes } from './svg-dashes.js';
import type { References } from './svg-references.js';
import { listElements, refuseSvg, type SvgElement } from './svg-tree.js';

/**
 * What is drawn in all, each as often as it is used: a few lines could otherwise ask for billions, and the browser of whoever looks
 * at them would stand still. One is about what a browser needs for a small shape.
 */
const MAX_COST = 20_000;
const MAX_CHAIN = 200;
/** Characters of a path, a dashed line and letters that cost as much as one shape. */
const PATH_CHARACTERS = 10;
const DASHES = 3;
const LETTERS = 3;
/** A step goes over every pixel, and is done again for each that takes its result. */
const MAX_FILTER_STEPS = 500;
/** Of a reference, beside what it refers to: each is drawn into a picture of its own first. */
const REFERENCE_COSTS: Readonly<Record<string, number>> = { filter: 400, pattern: 200, mask: 50, clipPath: 10 };
/** Several outlines that cut something out are first made one: each piece of one is held against each of the others. */
const JOINING = 1 / 5;
const LAYER_COSTS: Readonly<Record<string, number>> = { opacity: 5, 'mix-blend-mode': 10, isolation: 5 };

/** What it takes to draw an element with all that is in it, and how many elements that are. */
interface Cost {
  readonly cost: number;
  readonly parts: number;
}

/** Throws for circles, and for what would take a browser too long. */
export function checkCost(root: SvgElement, targets: References['targets']): void {
  const dashes = countDashes(root, targets);
  const known = new Map<SvgElement, Cost>();
  const above = new Set<SvgElement>();

  function measure(element: SvgElement): Cost {
    const before = known.get(element);
    if (before !== undefined) return before;
    if (above.has(element)) throw refuseSvg('a part of it refers to itself');
    if (above.size > MAX_CHAIN) throw refuseSvg('its elements are nested too deep');
    above.add(element);
    let cost = ownCost(element) + (dashes.get(element) ?? 0) / DASHES;
    let parts = 1;
    const used = targets.get(element)?.get('href');
    for (const inside of [...element.children, ...(used ? [used] : [])]) {
      if (typeof inside === 'string') continue;
      const one = measure(inside);
      cost += one.cost;
      parts += one.parts;
    }
    for (const [attribute, target] of targets.get(element) ?? []) {
      if (attribute === 'href') continue;
      const { cost: whole } = measure(target);
      const drawn = isJoined(target) ? JOINING * whole ** 2 : whole;
      const once = drawn + (REFERENCE_COSTS[target.name] ?? 0) + countSteps(target);
      // What is filled with a pattern may be everything inside.
      cost += target.name === 'pattern' ? parts * once : once;
    }
    above.delete(element);
    if (cost > MAX_COST)
      throw refuseSvg('a browser would take too long to draw it: it has too many parts, or too fine ones');
    known.set(element, { cost, parts });
    return { cost, parts };
  }
  measure(root);
}

const isJoined = (element: SvgElement): boolean =>
  element.name === 'clipPath' &&
  (element.children.length > 1 || listElements(element).some(({ attributes }) => attributes.has('clip-path')));

function ownCost({ name, attributes, children }: SvgElement): number {
  const outline = (attributes.get('d')?.length ?? 0) + (attributes.get('points')?.length ?? 0);
  const isDrawn = name !== 'title' && name !== 'desc';
  const letters = children.reduce((sum, child) => sum + (typeof child === 'string' && isDrawn ? child.length : 0), 0);
  const layers = Object.entries(LAYER_COSTS).filter(([property]) => attributes.has(property));
  return (
    1 +
    outline / PATH_CHARACTERS +
    // On a path each letter is turned by itself.
    letters / (name === 'textPath' ? 1 : LETTERS) +
    layers.reduce((sum, [, cost]) => sum + cost, 0)
  );
}

/** The steps of a filter, each as often as another takes its result. Throws when that are too many. */
function countSteps(filter: SvgElement): number {
  if (filter.name !== 'filter') return 0;
  const results = new Map<string, number>();
  let last = 0;
  for (const step of filter.children) {
    if (typeof step === 'string') continue;
    const stepsOf = (name: string | undefined) => (name === undefined ? last : (results.get(name) ?? 0));
    const nodes = step.children.filter((child) => typeof child === 'object');
    const inputs = (step.name === 'feMerge' ? nodes : [step]).map(({ attributes }) => stepsOf(attributes.get('in')));
    if (step.attributes.has('in2')) inputs.push(stepsOf(step.attributes.get('in2')));
    // The shadow, and what throws it.
    if (step.name === 'feDropShadow') inputs.push(...inputs);
    last = inputs.reduce((sum, steps) => sum + steps, 1);
    if (last > MAX_FILTER_STEPS) throw refuseSvg('a filter in it has too many steps');
    results.set(step.attributes.get('result') ?? '', last);
  }
  return last;
}
