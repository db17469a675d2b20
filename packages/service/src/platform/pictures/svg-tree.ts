import { SaxesParser, type SaxesTagNS } from 'saxes';
import { createRefusal } from '../plain-error.js';
import { PictureRefused } from './picture.js';
import { ATTRIBUTES, ELEMENTS, GROUPS, isHarmless, PROPERTIES, REFERRING, TEXTS } from './svg-lists.js';

const SVG = 'http://www.w3.org/2000/svg';
const XLINK = 'http://www.w3.org/1999/xlink';
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 5_000;

export const refuseSvg = (why: string) => createRefusal(PictureRefused, 'svg-unusable')`the SVG cannot be used: ${why}`;

/** An element that is drawn or helps to draw, with what of it may be kept. */
export interface SvgElement {
  readonly name: string;
  readonly attributes: Map<string, string>;
  readonly children: (SvgElement | string)[];
  /** As they were sent: they are for finding it, and are not written. */
  readonly id: string | undefined;
  readonly classes: readonly string[];
  readonly style: string;
  /** The part of the picture that it refers to. */
  readonly refersTo: string | undefined;
}

export interface SvgDocument {
  readonly root: SvgElement;
  readonly styleSheets: readonly string[];
  readonly leftOut: readonly string[];
}

/** Reads a picture by a strict parser. Of what it does not know, nothing is in the tree. */
export function readSvg(text: string): SvgDocument {
  // Not its types for events: they ask for the options as a constant.
  const parser = new SaxesParser<{ xmlns: true }>({ xmlns: true });
  const open: (SvgElement | 'left out' | 'style')[] = [];
  const styleSheets: string[] = [];
  const leftOut = new Set<string>();
  let root: SvgElement | undefined;
  let elements = 0;

  parser.on('error', ({ message }) => {
    throw refuseSvg(message);
  });
  parser.on('doctype', (doctype) => {
    // One that only names a standard declares nothing, and is not written.
    if (doctype.includes('[')) throw refuseSvg('its DOCTYPE has declarations; save it without');
  });
  parser.on('xmldecl', ({ encoding = 'UTF-8' }) => {
    if (!/^utf-?8$/i.test(encoding)) throw refuseSvg('it is not in UTF-8');
  });
  parser.on('opentag', (tag) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw refuseSvg('it has too many elements');
    if (open.length >= MAX_DEPTH) throw refuseSvg('its elements are nested too deep');
    const parent = open.at(-1);
    if (parent === undefined && (tag.uri !== SVG || tag.local !== 'svg')) throw refuseSvg('it does not begin with svg');
    if (parent === 'left out' || parent === 'style') return void open.push('left out');
    if (tag.uri === SVG && tag.local === 'style') {
      styleSheets.push('');
      return void open.push('style');
    }
    const element = toElement(tag);
    open.push(element ?? 'left out');
    if (!element) {
      if (tag.uri === SVG && tag.local !== 'metadata') leftOut.add(tag.local);
    } else if (parent) parent.children.push(element);
    else root = element;
  });
  parser.on('closetag', () => void open.pop());
  const addText = (some: string) => {
    const parent = open.at(-1);
    if (parent === 'style') styleSheets.push(some);
    else if (typeof parent === 'object' && TEXTS.has(parent.name)) parent.children.push(some);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.write(text).close();
  if (!root) throw refuseSvg('it does not begin with svg');
  return { root, styleSheets, leftOut: [...leftOut].toSorted() };
}

function toElement({ uri, local, attributes }: SaxesTagNS): SvgElement | undefined {
  const name = GROUPS.has(local) ? 'g' : local;
  if (uri !== SVG || !ELEMENTS.has(name)) return undefined;
  const given = Object.values(attributes);
  const find = (wanted: string, of = '') => given.find((one) => one.uri === of && one.local === wanted)?.value;
  const href = REFERRING.has(name) ? (find('href') ?? find('href', XLINK)) : undefined;
  const kept = given.filter(
    (one) => one.uri === '' && (ATTRIBUTES.has(one.local) || PROPERTIES.has(one.local)) && isHarmless(one.value.trim()),
  );
  return {
    name,
    attributes: new Map(kept.map((one) => [one.local, one.value.trim()])),
    children: [],
    id: find('id'),
    classes: (find('class') ?? '').split(/\s+/).filter((one) => one !== ''),
    style: find('style') ?? '',
    refersTo: href?.trim().startsWith('#') ? href.trim().slice(1) : undefined,
  };
}

/** An element and all that are in it. */
export function listElements(element: SvgElement): SvgElement[] {
  return [element, ...element.children.flatMap((child) => (typeof child === 'object' ? listElements(child) : []))];
}
