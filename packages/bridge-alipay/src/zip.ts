import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
/** The largest size of a zip's end record with its comment, in bytes. */
const LONGEST_TAIL = 65_557;

/** Returns the files of a zip without their names, which are not UTF-8. Throws if the zip is incomplete. */
export function unzip(zip: Buffer, maxBytes: number): Buffer[] {
  const end = findEnd(zip);
  const files: Buffer[] = [];
  let at = zip.readUInt32LE(end + 16);
  let left = maxBytes;
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('the zip has no central directory');
    const size = zip.readUInt32LE(at + 24);
    left -= size;
    if (left < 0) throw new Error('the zip is too large');
    files.push(readFile(zip, at, size));
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}

function findEnd(zip: Buffer): number {
  for (let at = zip.length - 22; at >= Math.max(0, zip.length - LONGEST_TAIL); at -= 1) {
    if (zip.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new Error('not a zip file, or incomplete');
}

function readFile(zip: Buffer, entry: number, size: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const packed = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  if (zip.readUInt32LE(local) !== LOCAL_ENTRY) throw new Error('a file in the zip is missing');
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(start, start + packed);
  if (method !== 0 && method !== 8) throw new Error('the zip uses an unknown compression method');
  const file = method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
  if (file.length !== size) throw new Error('a file in the zip is truncated');
  return file;
}
