import { refusal } from '../operator/operator.js';

/**
 * Decodes a picture sent in base64 into the field `name`. Omits the field if no picture is given. The field is null if
 * the picture is to be removed.
 */
export function readPicture<Name extends string>(
  name: Name,
  base64: string | null | undefined,
): { readonly [Field in Name]?: Uint8Array | null } {
  if (base64 === undefined) return {};
  return { [name]: base64 === null ? null : decode(base64) } as Record<Name, Uint8Array | null>;
}

function decode(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') === base64) return bytes;
  throw refusal('picture-not-base64')`the picture is not in base64`;
}
