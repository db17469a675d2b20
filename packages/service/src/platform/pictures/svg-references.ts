import { readLocalUrl } from './svg-lists.js';
import { listElements, refuseSvg, type SvgElement } from './svg-tree.js';

/** Elements that are drawn in all, each counted as often as it is used: a few lines could otherwise ask for billions. */
const MAX_DRAWN = 50_000;
const MAX_CHAIN = 200;
/** A filter goes over every pixel. */
const FILTER_COST = 500;

/** What each element refers to, by the attribute; `href` for the whole. Parts that are referred to have a name of our own. */
export interface References {
  readonly targets: ReadonlyMap<SvgElement, ReadonlyMap<string, SvgElement>>;
  readonly names: ReadonlyMap<SvgElement, string>;
}

/** Finds what refers to what. Throws for circles, and for what would be drawn too often. */
export function resolveReferences(root: SvgElement): References {
  const parts = new Map<string, SvgElement>();
  const all = listElements(root);
  for (const element of all) {
    if (element.id !== undefined && !parts.has(element.id)) parts.set(element.id, element);
  }
  const targets = new Map(all.map((element) => [element, targetsOf(element, parts)]));
  const names = new Map<SvgElement, string>();
  for (const target of [...targets.values()].flatMap((some) => [...some.values()])) {
    if (!names.has(target)) names.set(target, `p${names.size + 1}`);
  }
  checkCost(root, targets);
  return { targets, names };
}

function targetsOf(element: SvgElement, parts: ReadonlyMap<string, SvgElement>): Map<string, SvgElement> {
  const asked = [...element.attributes].map(([name, value]) => [name, readLocalUrl(value)?.id] as const);
  const found = [...asked, ['href', element.refersTo] as const].flatMap(([name, id]) => {
    const target = id === undefined ? undefined : parts.get(id);
    return target ? [[name, target] as const] : [];
  });
  return new Map(found);
}

function checkCost(root: SvgElement, targets: References['targets']): void {
  const known = new Map<SvgElement, number>();
  const above = new Set<SvgElement>();

  function costOf(element: SvgElement): number {
    const before = known.get(element);
    if (before !== undefined) return before;
    if (above.has(element)) throw refuseSvg('a part of it refers to itself');
    if (above.size > MAX_CHAIN) throw refuseSvg('its elements are nested too deep');
    above.add(element);
    const inside = element.children.reduce((sum, child) => sum + (typeof child === 'object' ? costOf(child) : 0), 1);
    let cost = inside;
    for (const target of targets.get(element)?.values() ?? []) {
      const once = costOf(target);
      // What is filled with a pattern may be everything inside.
      if (target.name === 'pattern') cost += inside * once;
      else cost += target.name === 'filter' ? FILTER_COST + once : once;
    }
    above.delete(element);
    if (cost > MAX_DRAWN) throw refuseSvg('it would be drawn from too many parts');
    known.set(element, cost);
    return cost;
  }
  costOf(root);
}
