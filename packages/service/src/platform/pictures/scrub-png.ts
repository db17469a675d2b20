import { crc32, inflateSync } from 'node:zlib';
import { createRefusal } from '../plain-error.js';
import { PictureRefused } from './picture.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_SIDE = 1024;

const refusePng = (why: string) => createRefusal(PictureRefused, 'png-unusable')`the PNG cannot be used: ${why}`;

export const isPng = (bytes: Uint8Array): boolean => SIGNATURE.equals(bytes.subarray(0, SIGNATURE.length));

/** The chunks that draw, and no other; also nothing behind the end, of the file as of the drawn data. */
export function scrubPng(bytes: Uint8Array): Buffer {
  const chunks = readChunks(Buffer.from(bytes));
  const [first] = chunks;
  if (first?.type !== 'IHDR') throw refusePng('its header is missing');
  const header = readHeader(first.data);
  const drawn = chunks.filter(({ type }) => type === 'IDAT');
  const besides = BESIDES.flatMap((type) => chunks.filter((chunk) => chunk.type === type));
  checkOrder(chunks);
  checkPalette(header, besides);
  const data = checkData(header, Buffer.concat(drawn.map((chunk) => chunk.data)));
  const kept = [first, ...besides, { type: 'IDAT', data }, { type: 'IEND', data: Buffer.alloc(0) }];
  return Buffer.concat([SIGNATURE, ...kept.map(writeChunk)]);
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** In the order in which they must stand. */
const BESIDES = ['gAMA', 'sRGB', 'PLTE', 'tRNS'];
const CRITICAL = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);

function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = SIGNATURE.length;
  while (chunks.at(-1)?.type !== 'IEND') {
    if (at + 12 > bytes.length) throw refusePng('it ends too early');
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) throw refusePng('it ends too early');
    const typeAndData = bytes.subarray(at + 4, end - 4);
    const type = typeAndData.toString('latin1', 0, 4);
    if (crc32(typeAndData) !== bytes.readUInt32BE(end - 4)) throw refusePng('a checksum in it is wrong');
    // A capital means that nobody can draw it without knowing the chunk.
    if (/^[^a-z]/.test(type) && !CRITICAL.has(type)) throw refusePng('it has a part that is not known');
    chunks.push({ type, data: typeAndData.subarray(4) });
    at = end;
  }
  return chunks;
}

function checkOrder(chunks: readonly Chunk[]): void {
  const types = chunks.map(({ type }) => type);
  for (const type of ['IHDR', ...BESIDES]) {
    if (types.indexOf(type) !== types.lastIndexOf(type)) throw refusePng('it has a part twice');
  }
  const first = types.indexOf('IDAT');
  const isWhole = first > 0 && types.slice(first, types.lastIndexOf('IDAT')).every((type) => type === 'IDAT');
  const isBefore = (one: string, other: number) => types.indexOf(one) < other;
  if (!isWhole || !['PLTE', 'tRNS'].every((type) => isBefore(type, first))) {
    throw refusePng('its parts are in the wrong order');
  }
  if (types.includes('tRNS') && !isBefore('PLTE', types.indexOf('tRNS'))) {
    throw refusePng('its parts are in the wrong order');
  }
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colourType: number;
  readonly isInterlaced: boolean;
}

/** Of each colour type: how many samples a pixel has, and how many bits a sample may have. */
const COLOUR_TYPES: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

function readHeader(data: Buffer): Header {
  if (data.length !== 13) throw refusePng('its header is missing');
  const [depth = 0, colourType = -1, compression, filter, interlace] = data.subarray(8);
  const width = data.readUInt32BE(0);
  const height = data.readUInt32BE(4);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    throw refusePng('it may have at most 1024 pixels on each side');
  }
  const known = COLOUR_TYPES[colourType]?.depths.includes(depth) && compression === 0 && filter === 0;
  if (!known || (interlace !== 0 && interlace !== 1)) throw refusePng('its kind is not known');
  return { width, height, depth, colourType, isInterlaced: interlace === 1 };
}

function checkPalette({ colourType, depth }: Header, besides: readonly Chunk[]): void {
  const lengthOf = (type: string) => besides.find((chunk) => chunk.type === type)?.data.length;
  const palette = lengthOf('PLTE');
  const colours = (palette ?? 0) / 3;
  if (palette !== undefined) {
    const most = colourType === 3 ? 2 ** depth : 256;
    if (colourType === 0 || colourType === 4 || !Number.isInteger(colours) || colours < 1 || colours > most) {
      throw refusePng('its palette is wrong');
    }
  } else if (colourType === 3) throw refusePng('its palette is wrong');
  const transparent = lengthOf('tRNS');
  const fits = (length: number) =>
    colourType === 3 ? length >= 1 && length <= colours : length === { 0: 2, 2: 6 }[colourType];
  if (transparent !== undefined && !fits(transparent)) throw refusePng('its transparency is wrong');
  if (![undefined, 4].includes(lengthOf('gAMA')) || ![undefined, 1].includes(lengthOf('sRGB'))) {
    throw refusePng('its colour space is wrong');
  }
}

/** The compressed data, up to its end: it must be exactly the lines of the picture. */
function checkData(header: Header, compressed: Buffer): Buffer {
  const lines = listLines(header);
  const size = lines.reduce((sum, length) => sum + length, 0);
  const { bytes, used } = inflate(compressed, size);
  if (bytes.length !== size) throw refusePng('its data is not as long as its size says');
  let at = 0;
  for (const length of lines) {
    // The first byte of a line is one of five filters.
    if ((bytes[at] ?? 5) > 4) throw refusePng('its data cannot be read');
    at += length;
  }
  return compressed.subarray(0, used);
}

function inflate(compressed: Buffer, size: number): { bytes: Buffer; used: number } {
  try {
    // The types do not know what `info` answers.
    const answer = inflateSync(compressed, { maxOutputLength: size, info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return { bytes: answer.buffer, used: answer.engine.bytesWritten };
  } catch (error) {
    const isTooLong = (error as { readonly code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
    throw refusePng(isTooLong ? 'its data is not as long as its size says' : 'its data cannot be read');
  }
}

/** Where the pixels of each pass begin, and how far apart they are, when lines are interlaced. */
const PASSES = [
  { x: 0, y: 0, across: 8, down: 8 },
  { x: 4, y: 0, across: 8, down: 8 },
  { x: 0, y: 4, across: 4, down: 8 },
  { x: 2, y: 0, across: 4, down: 4 },
  { x: 0, y: 2, across: 2, down: 4 },
  { x: 1, y: 0, across: 2, down: 2 },
  { x: 0, y: 1, across: 1, down: 2 },
];
const ONE_PASS = [{ x: 0, y: 0, across: 1, down: 1 }];

/** The length of each line of the data, with the byte of its filter. */
function listLines({ width, height, depth, colourType, isInterlaced }: Header): number[] {
  const bits = depth * (COLOUR_TYPES[colourType]?.samples ?? 0);
  return (isInterlaced ? PASSES : ONE_PASS).flatMap(({ x, y, across, down }) => {
    const pixels = Math.max(0, Math.ceil((width - x) / across));
    const lines = pixels === 0 ? 0 : Math.max(0, Math.ceil((height - y) / down));
    return Array.from({ length: lines }, () => 1 + Math.ceil((pixels * bits) / 8));
  });
}

function writeChunk({ type, data }: Chunk): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, checksum]);
}
