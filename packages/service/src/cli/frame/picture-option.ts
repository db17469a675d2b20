import { open } from 'node:fs/promises';
import { OperatorError } from '../../operator/operator.js';
import { MAX_PICTURE_BYTES } from '../../platform/pictures/picture.js';
import { type SafeText, safeText } from './safe-text.js';

/** The bytes of a file; one more than a picture may have if there are more. `none` stays. */
export async function readPictureOption(file: string | undefined): Promise<Buffer | 'none' | undefined> {
  if (file === undefined || file === 'none') return file;
  try {
    const handle = await open(file);
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_PICTURE_BYTES + 1));
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new OperatorError(`the picture cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A field of an input: left out when the option is not given, null when it is `none`. */
export function toGiven<Name extends string, T>(
  name: Name,
  value: T | 'none' | undefined,
): { readonly [Field in Name]?: Exclude<T, 'none'> | null } {
  return value === undefined ? {} : ({ [name]: value === 'none' ? null : value } as Record<Name, Exclude<T, 'none'>>);
}

export function toLeftOutText(what: string, names: readonly string[]): SafeText[] {
  return names.length === 0
    ? []
    : [safeText`Left out of the ${what}, as it draws nothing that is taken: ${names.join(', ')}.`];
}

export function toUnchangedText(changed: boolean): SafeText[] {
  return changed ? [] : [safeText`It was so already.`];
}
