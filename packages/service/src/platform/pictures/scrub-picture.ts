import { createRefusal } from '../plain-error.js';
import { type Picture, PictureRefused, requirePictureSize } from './picture.js';
import { isPng, scrubPng } from './scrub-png.js';
import { scrubSvg } from './scrub-svg.js';

/** Makes a picture from bytes of which nothing is believed. What they are is read from them alone. */
export function scrubPicture(bytes: Uint8Array): Picture {
  requirePictureSize(bytes);
  const picture = isPng(bytes)
    ? { mediaType: 'image/png' as const, bytes: scrubPng(bytes), leftOut: [] }
    : { mediaType: 'image/svg+xml' as const, ...scrubSvg(readText(bytes)) };
  requirePictureSize(picture.bytes);
  return picture;
}

/** Throws unless it is text that begins as XML does. UTF-16 may also be read as UTF-8, with zeros in it. */
function readText(bytes: Uint8Array): string {
  const text = decode(bytes);
  if (text?.trimStart().startsWith('<') && !text.includes('\0')) return text;
  throw createRefusal(PictureRefused, 'picture-unknown')`the file is neither a PNG nor an SVG in UTF-8`;
}

/** Without a byte order mark. Undefined when it is not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
