import { createHash } from 'node:crypto';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../platform/db/database.js';
import type { Picture, PictureType } from '../platform/pictures/picture.js';

export type StoredImage = RowOf<typeof FIND_IMAGE>;

const LOCK_IMAGES = statement({
  text: `select pg_advisory_xact_lock(hashtextextended('images', 0))`,
  parameters: [],
});

const INSERT_IMAGE = statement({
  text: `insert into images (image_hash, media_type, bytes) values ($1, $2, $3) on conflict (image_hash) do nothing`,
  parameters: ['text', 'text', 'bytea'],
});

/**
 * Changes of pictures wait for each other until the transaction ends. Otherwise one could delete a picture while another is
 * about to refer to it.
 */
export async function lockImages(tx: Queryable): Promise<void> {
  await tx.query(LOCK_IMAGES);
}

/** Answers its hash. For those who hold the lock. */
export async function storeImage(tx: Queryable, { mediaType, bytes }: Picture): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  await tx.query(INSERT_IMAGE, [hash, mediaType, bytes]);
  return hash;
}

const DELETE_UNUSED_IMAGE = statement({
  text: `delete from images where image_hash = $1
       and not exists (select from channel_brandings where logo_hash = $1)
       and not exists (select from benefit_presentations where icon_hash = $1)`,
  parameters: ['text'],
});

/** Deletes a picture that nothing refers to any more. For those who hold the lock. */
export async function deleteUnusedImage(tx: Queryable, hash: string): Promise<void> {
  await tx.query(DELETE_UNUSED_IMAGE, [hash]);
}

const FIND_IMAGE = statement({
  text: 'select media_type as "mediaType", bytes from images where image_hash = $1',
  parameters: ['text'],
  columns: columns({ mediaType: column<PictureType>('text'), bytes: 'bytea' }),
});

export async function findImage(db: Queryable, hash: string): Promise<StoredImage | undefined> {
  return queryOne(db, FIND_IMAGE, [hash]);
}
