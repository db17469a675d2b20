import { createRefusal, PlainError } from '../plain-error.js';

export type PictureType = 'image/png' | 'image/svg+xml';

/**
 * A picture as stored and served. Browsers show it in <img>, where it cannot run scripts or load anything
 * (docs/decisions/0032-whose-page.md).
 */
export interface Picture {
  readonly mediaType: PictureType;
  readonly bytes: Uint8Array;
}

/** Thrown if a picture is refused. The message says why. */
export class PictureRefused extends PlainError {}

export const MAX_PICTURE_BYTES = 65_536;
const MAX_PNG_SIDE = 1024;
const MAX_SVG_SIDE = 10_000;

/** Checks the type, size and dimensions of a picture. Detects the type from the bytes only. */
export function checkPicture(bytes: Uint8Array): Picture {
  requirePictureSize(bytes);
  if (PNG_SIGNATURE.equals(bytes.subarray(0, PNG_SIGNATURE.length))) {
    checkPng(Buffer.from(bytes));
    return { mediaType: 'image/png', bytes };
  }
  const scalable = checkSvg(readText(bytes));
  const svg = scalable === undefined ? bytes : Buffer.from(scalable);
  requirePictureSize(svg);
  return { mediaType: 'image/svg+xml', bytes: svg };
}

function requirePictureSize({ length }: Uint8Array): void {
  if (length <= MAX_PICTURE_BYTES) return;
  throw createRefusal(
    PictureRefused,
    'picture-too-large',
  )`a picture may have at most ${MAX_PICTURE_BYTES} bytes, not ${length}`;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const refusePng = (why: string) => createRefusal(PictureRefused, 'png-unusable')`the PNG cannot be used: ${why}`;

/** A PNG has its header chunk after the signature, and its dimensions at bytes 16 and 20. */
function checkPng(bytes: Buffer): void {
  if (!bytes.includes('IEND')) throw refusePng('it ends too early');
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') throw refusePng('its header is missing');
  const sides = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (sides.some((side) => side < 1 || side > MAX_PNG_SIDE)) {
    throw refusePng('it may have at most 1024 pixels on each side');
  }
}

/** Throws if the bytes are not text that begins like XML. A NUL character reveals UTF-16 that decodes as UTF-8. */
function readText(bytes: Uint8Array): string {
  const text = decode(bytes);
  if (text?.trimStart().startsWith('<') && !text.includes('\0')) return text;
  throw createRefusal(PictureRefused, 'picture-unknown')`the file is neither a PNG nor an SVG in UTF-8`;
}

/** Decodes UTF-8 without the byte order mark. Returns undefined if the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const refuseSvg = (why: string) => createRefusal(PictureRefused, 'svg-unusable')`the SVG cannot be used: ${why}`;

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
/** One part of an SVG's prolog. Parts are matched one by one: a combined pattern could backtrack exponentially. */
const PROLOG = /\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^[>]*>/sy;
const ROOT = /(<(?:[\w-]+:)?svg)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/y;
const ATTRIBUTE = /\s([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * If the SVG lacks a view box, returns the SVG with a view box, because browsers would crop the picture instead of
 * scaling it. Otherwise returns undefined. Reads only the root element. Refuses a DOCTYPE with declarations, because
 * entities could expand to many times the file's size.
 */
function checkSvg(text: string): string | undefined {
  let start = 0;
  for (PROLOG.lastIndex = 0; PROLOG.test(text); PROLOG.lastIndex = start) start = PROLOG.lastIndex;
  if (text.startsWith('<!DOCTYPE', start)) throw refuseSvg('its DOCTYPE has declarations; save it without');
  ROOT.lastIndex = start;
  const [, name = '', written = ''] = ROOT.exec(text) ?? [];
  const attributes = new Map(
    [...written.matchAll(ATTRIBUTE)].map(([, key = '', double, single]) => [key, double ?? single ?? '']),
  );
  if (![...attributes.values()].includes(SVG_NAMESPACE)) throw refuseSvg('it does not begin with svg');
  const [width, height] = ['width', 'height'].map((side) => readLength(attributes.get(side)));
  if ([width, height].some((side) => side !== undefined && side > MAX_SVG_SIDE)) {
    throw refuseSvg('it may have at most 10000 pixels on each side');
  }
  const viewBox = attributes.get('viewBox');
  if (viewBox === undefined) {
    if (!width || !height) throw refuseSvg('it has neither a viewBox nor a size');
    const end = start + name.length;
    return `${text.slice(0, end)} viewBox="0 0 ${width} ${height}"${text.slice(end)}`;
  }
  const box = viewBox
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const isBox = box.length === 4 && box.every(Number.isFinite) && (box[2] ?? 0) > 0 && (box[3] ?? 0) > 0;
  if (!isBox) throw refuseSvg('its viewBox is wrong');
  return undefined;
}

const LENGTH = /^\s*(\d+(?:\.\d*)?|\.\d+)(px|pt|pc|mm|cm|in)?\s*$/;
const PIXELS: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, mm: 96 / 25.4, cm: 96 / 2.54, in: 96 };

/** Returns a length in pixels, or undefined if the text is not an absolute length. */
function readLength(text = ''): number | undefined {
  const [, digits, unit = 'px'] = LENGTH.exec(text) ?? [];
  return digits === undefined ? undefined : Math.round(Number(digits) * (PIXELS[unit] ?? 1) * 1000) / 1000;
}
