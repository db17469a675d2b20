import { crc32, deflateSync } from 'node:zlib';

export const svg = (inside: string, attributes = 'viewBox="0 0 10 10"'): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`,
  );

export const SQUARE = '<path d="M0 0h9v9H0z"/>';

export const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function chunk(type: string, data: Uint8Array = Buffer.alloc(0), wrong = 0): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(typeAndData.length + 8);
  whole.writeUInt32BE(data.length);
  typeAndData.copy(whole, 4);
  whole.writeUInt32BE((crc32(typeAndData) ^ wrong) >>> 0, typeAndData.length + 4);
  return whole;
}

export interface PngKind {
  readonly width?: number;
  readonly height?: number;
  readonly depth?: number;
  readonly colourType?: number;
  readonly interlace?: number;
}

export function header({ width = 2, height = 2, depth = 8, colourType = 6, interlace = 0 }: PngKind = {}): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([depth, colourType, 0, 0, interlace], 8);
  return chunk('IHDR', data);
}

/** The raw image data: two lines of two pixels, each line with its filter byte. */
export const PIXELS = Buffer.from([0, 255, 0, 0, 255, 0, 255, 0, 255, 1, 0, 0, 255, 255, 9, 9, 9, 9]);
export const data = (lines: Uint8Array = PIXELS): Buffer => chunk('IDAT', deflateSync(lines));
export const END = chunk('IEND');

export const png = (...parts: Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...parts]);
export const GOOD_PNG = png(header(), data(), END);
