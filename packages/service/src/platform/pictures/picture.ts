import { createRefusal, PlainError } from '../plain-error.js';

export type PictureType = 'image/png' | 'image/svg+xml';

/** A picture as it is stored and served: written anew from what was sent. */
export interface Picture {
  readonly mediaType: PictureType;
  readonly bytes: Buffer;
  /** Elements that were sent and are not drawn, by their names. */
  readonly leftOut: readonly string[];
}

/** The picture cannot be used, and nothing of it was stored. The message says why. */
export class PictureRefused extends PlainError {}

export const MAX_PICTURE_BYTES = 65_536;

export function requirePictureSize({ length }: Uint8Array): void {
  if (length <= MAX_PICTURE_BYTES) return;
  throw createRefusal(
    PictureRefused,
    'picture-too-large',
  )`a picture may have at most ${MAX_PICTURE_BYTES} bytes, not ${length}`;
}
