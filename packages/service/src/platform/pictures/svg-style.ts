import { isHarmless, PROPERTIES, STYLE_PROPERTIES } from './svg-lists.js';
import { listElements, refuseSvg, type SvgElement } from './svg-tree.js';

interface Rule {
  readonly tag: string | undefined;
  readonly classes: readonly string[];
  readonly id: string | undefined;
  readonly declarations: Declarations;
}

type Declarations = ReadonlyMap<string, string>;

/** Each class of each rule is held against every element. */
const MAX_COMPARED = 500_000;
/** Characters that rules may write into elements, all together: a few rules for many elements would make a small file a huge one. */
const MAX_WRITTEN = 262_144;

/**
 * Writes what style sheets and styles say into the attributes of the elements, so that the picture looks the same without either.
 * Only selectors for which that is possible are taken.
 */
export function applyStyles(root: SvgElement, styleSheets: readonly string[]): void {
  // Stable: of rules that weigh the same, the later one counts.
  const read = readRules(styleSheets.join(''));
  const elements = listElements(root);
  const compared = read.reduce((sum, { classes }) => sum + 1 + classes.length, 0) * elements.length;
  if (compared > MAX_COMPARED) throw refuseSvg('its style sheet has too many rules');
  const rules = read.toSorted((a, b) => weight(a) - weight(b));
  let written = 0;
  for (const element of elements) {
    const classes = new Set(element.classes);
    for (const rule of rules.filter((one) => matches(one, element, classes))) {
      written += lengthOf(rule.declarations);
      if (written > MAX_WRITTEN) throw refuseSvg('its style sheet says too much of too many elements');
      addAll(element, rule.declarations);
    }
    addAll(element, readStyle(element));
  }
}

const lengthOf = (declarations: Declarations): number =>
  [...declarations].reduce((sum, [name, value]) => sum + name.length + value.length, 0);

function addAll({ attributes }: SvgElement, declarations: Declarations): void {
  for (const [name, value] of declarations) attributes.set(name, value);
}

const weight = ({ id, classes, tag }: Rule): number =>
  (id === undefined ? 0 : 10_000) + 10 * classes.length + (tag === undefined ? 0 : 1);

const matches = (rule: Rule, { name, id }: SvgElement, classes: ReadonlySet<string>): boolean =>
  (rule.tag === undefined || rule.tag === name) &&
  (rule.id === undefined || rule.id === id) &&
  rule.classes.every((one) => classes.has(one));

const readStyle = ({ style }: SvgElement): Declarations => readDeclarations(withoutComments(style));

function readRules(text: string): Rule[] {
  const css = withoutComments(text).replaceAll(/<!--|-->/g, '');
  if (/[@\\]/.test(css)) throw refuseSvg('its style sheet has an @ rule or an escape');
  const blocks = css.split('}');
  if (blocks.pop()?.trim() !== '') throw refuseSvg('its style sheet cannot be read');
  return blocks.flatMap((block) => {
    const [selectors = '', inside, ...more] = block.split('{');
    if (inside === undefined || more.length > 0) throw refuseSvg('its style sheet cannot be read');
    const declarations = readDeclarations(inside);
    const rules = selectors.split(',').map((selector) => ({ ...readSelector(selector.trim()), declarations }));
    return declarations.size === 0 ? [] : rules;
  });
}

/** The name of an element, classes and an id, in this order, and each of them only if wanted. */
const SELECTOR = /^(?:\*|([A-Za-z]+))?((?:\.[\p{L}\p{N}_-]+)*)(?:#([\p{L}\p{N}_-]+))?$/u;

function readSelector(selector: string): Omit<Rule, 'declarations'> {
  const found = selector === '' ? null : SELECTOR.exec(selector);
  if (!found) throw refuseSvg('its style sheet has a selector other than names, .classes and #ids');
  const [, tag, classes = '', id] = found;
  return { tag, classes: classes.split('.').slice(1), id };
}

function readDeclarations(text: string): Declarations {
  const pairs = text.split(';').flatMap((part): [string, string][] => {
    const colon = part.indexOf(':');
    const name = part.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = part
      .slice(colon + 1)
      .replace(/!\s*important\s*$/i, '')
      .trim();
    const isKnown = PROPERTIES.has(name) || STYLE_PROPERTIES.has(name);
    return isKnown && value !== '' && isHarmless(value) ? [[name, value]] : [];
  });
  return new Map(pairs);
}

/** One that does not end goes on to the end of the text. */
function withoutComments(css: string): string {
  const [first = '', ...rest] = css.split('/*');
  return rest.reduce((kept, part) => {
    const end = part.indexOf('*/');
    return end < 0 ? kept : kept + part.slice(end + 2);
  }, first);
}
