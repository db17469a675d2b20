import { refusal } from '../operator/operator.js';

/** Reads a picture sent in base64. Omits the field if it is not given, and sets it to null if it is removed. */
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
