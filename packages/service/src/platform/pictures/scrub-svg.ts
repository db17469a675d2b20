import { checkCost } from './svg-cost.js';
import { readLocalUrl, SHAPES, STYLE_PROPERTIES } from './svg-lists.js';
import { checkReach } from './svg-reach.js';
import { type References, resolveReferences } from './svg-references.js';
import { applyStyles } from './svg-style.js';
import { listElements, readSvg, refuseSvg, type SvgElement } from './svg-tree.js';

/** A picture that is written anew, from what it draws alone. */
export function scrubSvg(text: string): { bytes: Buffer; leftOut: readonly string[] } {
  const { root, styleSheets, leftOut } = readSvg(text);
  applyStyles(root, styleSheets);
  setViewBox(root);
  const references = resolveReferences(root);
  checkCost(root, references.targets);
  checkReach(root, references.targets);
  if (!listElements(root).some(({ name }) => SHAPES.has(name))) throw refuseSvg('it draws nothing');
  const bytes = Buffer.from(writeElement(root, references, ' xmlns="http://www.w3.org/2000/svg"'));
  return { bytes, leftOut };
}

const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';
const LENGTH = new RegExp(`^(${NUMBER})(px|pt|pc|mm|cm|in)?$`, 'i');
const PIXELS: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, mm: 96 / 25.4, cm: 96 / 2.54, in: 96 };
const MAX_PIXELS = 10_000;
const MAX_DIGITS = 40;

/** Pixels, or undefined when it is no length that can be known. */
function readLength(text: string | undefined): number | undefined {
  const [, digits, unit = 'px'] = LENGTH.exec(text?.slice(0, MAX_DIGITS) ?? '') ?? [];
  const pixels = Number(digits) * (PIXELS[unit.toLowerCase()] ?? 1);
  return pixels > 0 && pixels <= MAX_PIXELS ? Math.round(pixels * 1000) / 1000 : undefined;
}

/** A picture that cannot be made larger or smaller would be cut off: it needs a view box, or a size to make one from. */
function setViewBox({ attributes }: SvgElement): void {
  const width = readLength(attributes.get('width'));
  const height = readLength(attributes.get('height'));
  const box = attributes
    .get('viewBox')
    ?.split(/[\s,]+/)
    .map(Number);
  if (box) {
    const isBox = box.length === 4 && box.every(Number.isFinite) && (box[2] ?? 0) > 0 && (box[3] ?? 0) > 0;
    if (!isBox) throw refuseSvg('its viewBox is wrong');
  } else if (width === undefined || height === undefined) throw refuseSvg('it has neither a viewBox nor a size');
  else attributes.set('viewBox', `0 0 ${width} ${height}`);
  for (const name of ['width', 'height', 'x', 'y']) attributes.delete(name);
  if (width === undefined || height === undefined) return;
  attributes.set('width', `${width}`);
  attributes.set('height', `${height}`);
}

function writeElement(element: SvgElement, references: References, first = ''): string {
  const { name, children } = element;
  const attributes = listAttributes(element, references).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const start = `<${name}${first}${attributes.join('')}`;
  const inside = children.map((child) =>
    typeof child === 'string' ? escapeXml(child) : writeElement(child, references),
  );
  return inside.length === 0 ? `${start}/>` : `${start}>${inside.join('')}</${name}>`;
}

function listAttributes(element: SvgElement, { targets, names }: References): [string, string][] {
  const targetName = (attribute: string) => {
    const target = targets.get(element)?.get(attribute);
    return target && names.get(target);
  };
  const written: [string, string][] = [];
  const style: string[] = [];
  const id = names.get(element);
  const href = targetName('href');
  if (id !== undefined) written.push(['id', id]);
  if (href !== undefined) written.push(['href', `#${href}`]);
  for (const [name, value] of element.attributes) {
    const kept = withOwnName(name, value, targetName(name));
    if (kept === undefined) continue;
    if (STYLE_PROPERTIES.has(name)) style.push(`${name}:${kept}`);
    else written.push([name, kept]);
  }
  return style.length === 0 ? written : [...written, ['style', style.join(';')]];
}

/** A colour that refers to nothing is none, which is also how browsers draw it; anything else is left out. */
function withOwnName(attribute: string, value: string, target: string | undefined): string | undefined {
  const local = readLocalUrl(value);
  if (!local) return value;
  const otherwise = local.otherwise === undefined ? '' : ` ${local.otherwise}`;
  if (target !== undefined) return `url(#${target})${otherwise}`;
  return attribute === 'fill' || attribute === 'stroke' ? (local.otherwise ?? 'none') : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (letter) => ESCAPES[letter] ?? '').replaceAll(/\s+/g, ' ');
