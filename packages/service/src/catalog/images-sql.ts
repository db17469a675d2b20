import { createHash } from 'node:crypto';
import {
  column,
  columns,
  declareFind,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../platform/db/database.js';
import type { Picture, PictureType } from '../platform/pictures/picture.js';

export type StoredImage = RowOf<typeof findImage>;

/** Serializes changes of pictures, so that no picture is deleted while another transaction is about to refer to it. */
export const lockImages = declareWrite({
  text: `select pg_advisory_xact_lock(hashtextextended('images', 0))`,
  parameters: [],
});

const INSERT_IMAGE = statement({
  text: `insert into images (image_hash, media_type, bytes) values ($1, $2, $3) on conflict (image_hash) do nothing`,
  parameters: ['text', 'text', 'bytea'],
});

/** Stores a picture and returns its hash. The caller must hold the lock of `lockImages`. */
export async function storeImage(tx: Queryable, { mediaType, bytes }: Picture): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  await tx.query(INSERT_IMAGE, [hash, mediaType, bytes]);
  return hash;
}

/** Deletes a picture that nothing refers to. The caller must hold the lock of `lockImages`. */
export const deleteUnusedImage = declareWrite({
  text: `delete from images where image_hash = $1
       and not exists (select from channel_brandings where logo_hash = $1)
       and not exists (select from benefit_presentations where icon_hash = $1)`,
  parameters: ['text'],
});

export const findImage = declareFind({
  text: 'select media_type as "mediaType", bytes from images where image_hash = $1',
  parameters: ['text'],
  columns: columns({ mediaType: column<PictureType>('text'), bytes: 'bytea' }),
});
