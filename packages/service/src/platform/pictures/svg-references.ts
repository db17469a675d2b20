import { readLocalUrl } from './svg-lists.js';
import { listElements, type SvgElement } from './svg-tree.js';

/** What each element refers to, by the attribute; `href` for the whole. Parts that are referred to have a name of our own. */
export interface References {
  readonly targets: ReadonlyMap<SvgElement, ReadonlyMap<string, SvgElement>>;
  readonly names: ReadonlyMap<SvgElement, string>;
}

/** Finds what refers to what. */
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
