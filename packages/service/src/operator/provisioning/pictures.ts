import { deleteUnusedImage, findImage, lockImages, type StoredImage, storeImage } from '../../catalog/images-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { checkPicture, type Picture } from '../../platform/pictures/picture.js';
import type { Operator } from '../operator.js';
import { createNotFound } from '../rules.js';

/** The bytes of a new picture, undefined to keep the picture, or null to remove it. */
export type GivenPicture = Uint8Array | null | undefined;

/**
 * Always empty, because nothing is removed from pictures. Earlier versions listed the elements that they had removed.
 */
export const LEFT_OUT: readonly string[] = [];

export function readGivenPicture(given: GivenPicture): Picture | null | undefined {
  return given ? checkPicture(given) : (given as null | undefined);
}

/**
 * Replaces a picture. `store` receives the hash of the picture to show, or null. The former picture is deleted if it is
 * unused.
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

/** Returns a picture by its file name. Throws if there is none. */
export async function requirePicture(
  { database }: Operator,
  { file }: { readonly file: string },
): Promise<StoredImage> {
  const found = await findImage(database, file.replace(/\.(png|svg)$/, ''));
  if (!found) throw createNotFound('picture', file);
  return found;
}
