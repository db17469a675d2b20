import { deleteUnusedImage, findImage, lockImages, type StoredImage, storeImage } from '../../catalog/images-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { checkPicture, type Picture } from '../../platform/pictures/picture.js';
import type { Operator } from '../operator.js';
import { createNotFound } from '../rules.js';

/** A picture that was sent, undefined when it stays as it was, null when it is removed. */
export type GivenPicture = Uint8Array | null | undefined;

/** Pictures are stored as they were sent. Answers keep the field, because earlier versions named what they left out. */
export const LEFT_OUT: readonly string[] = [];

export function readGivenPicture(given: GivenPicture): Picture | null | undefined {
  return given ? checkPicture(given) : (given as null | undefined);
}

/**
 * Stores a picture in the place of another, for which `store` is given its hash. The former one is deleted when nothing else
 * refers to it.
 */
export async function replacePicture<T>(
  tx: Queryable,
  former: string | null,
  picture: Picture | null | undefined,
  store: (hash: string | null) => Promise<T>,
): Promise<T> {
  if (picture === undefined) return store(former);
  await lockImages(tx);
  const hash = picture && (await storeImage(tx, picture));
  const stored = await store(hash);
  if (former !== null && former !== hash) await deleteUnusedImage(tx, former);
  return stored;
}

/** A picture by the name of its file. */
export async function requirePicture(
  { database }: Operator,
  { file }: { readonly file: string },
): Promise<StoredImage> {
  const found = await findImage(database, file.replace(/\.(png|svg)$/, ''));
  if (!found) throw createNotFound('picture', file);
  return found;
}
