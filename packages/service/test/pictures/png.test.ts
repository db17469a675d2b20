import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { scrubPicture } from '../../src/platform/pictures/scrub-picture.js';
import { chunk, data, END, GOOD_PNG, header, PIXELS, png } from './samples.js';

const refuses = (bytes: Buffer, why: string) =>
  expect(() => scrubPicture(bytes)).toThrow(new RegExp(`^the PNG cannot be used: .*${why}`));
const written = (bytes: Buffer) => scrubPicture(bytes).bytes;

describe('a PNG', () => {
  it('keeps what draws, and nothing else', () => {
    expect(scrubPicture(GOOD_PNG)).toEqual({ mediaType: 'image/png', bytes: GOOD_PNG, leftOut: [] });
    const hidden = [
      chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>')),
      chunk('iTXt', Buffer.from('x')),
      chunk('eXIf', Buffer.from('where it was taken')),
      chunk('iCCP', Buffer.from('x')),
      chunk('acTL', Buffer.alloc(8)),
    ];
    const half = deflateSync(PIXELS);
    const parts = [chunk('IDAT', half.subarray(0, 5)), chunk('IDAT', half.subarray(5))];
    const more = png(header(), ...hidden, ...parts, chunk('fdAT', Buffer.alloc(4)), END, Buffer.from('<?php trailing'));
    expect(written(more).equals(GOOD_PNG)).toBe(true);
    // Also what stands behind the end of the compressed data.
    const behind = chunk('IDAT', Buffer.concat([half, Buffer.from('<script>')]));
    expect(written(png(header(), behind, END)).equals(GOOD_PNG)).toBe(true);
    const gamma = chunk('gAMA', Buffer.alloc(4, 1));
    const space = chunk('sRGB', Buffer.from([0]));
    expect(written(png(header(), space, gamma, data(), END)).equals(png(header(), gamma, space, data(), END))).toBe(
      true,
    );
  });

  it.each([
    ['grey of one bit', { width: 9, height: 1, depth: 1, colourType: 0 }, [], 3],
    ['sixteen bits', { width: 1, height: 1, depth: 16, colourType: 2 }, [], 7],
    [
      'a palette',
      { width: 3, height: 2, depth: 2, colourType: 3 },
      [chunk('PLTE', Buffer.alloc(12)), chunk('tRNS', Buffer.alloc(4))],
      4,
    ],
    ['interlaced', { width: 1, height: 1, interlace: 1 }, [], 5],
    ['interlaced, all passes', { width: 8, height: 8, depth: 8, colourType: 0, interlace: 1 }, [], 64 + 15],
  ])('%s is taken, with exactly its data', (_what, kind, more, length) => {
    const of = (bytes: number) => png(header(kind), ...more, data(Buffer.alloc(bytes)), END);
    expect(written(of(length)).equals(of(length))).toBe(true);
    refuses(of(length + 1), 'not as long as its size says');
    refuses(of(length - 1), 'not as long as its size says');
  });

  it.each([
    ['a wrong checksum', png(header(), chunk('IDAT', deflateSync(PIXELS), 1), END), 'checksum'],
    ['a wrong checksum of what is left out', png(header(), chunk('tEXt', Buffer.alloc(3), 1), data(), END), 'checksum'],
    ['nothing but its signature', png(), 'ends too early'],
    ['cut off', GOOD_PNG.subarray(0, -1), 'ends too early'],
    ['a length beyond its end', png(header(), Buffer.from('ffffffff49444154', 'hex'), END), 'ends too early'],
    ['no header', png(data(), END), 'header is missing'],
    ['two headers', png(header(), header(), data(), END), 'twice'],
    ['no data', png(header(), END), 'wrong order'],
    ['parted data', png(header(), data(), chunk('tEXt'), data(), END), 'wrong order'],
    ['a palette behind the data', png(header(), data(), chunk('PLTE', Buffer.alloc(3)), END), 'wrong order'],
    ['an unknown part that is needed', png(header(), chunk('EVIL'), data(), END), 'not known'],
    ['no width', png(header({ width: 0 }), data(), END), 'at most 1024 pixels'],
    ['too wide', png(header({ width: 1025 }), data(), END), 'at most 1024 pixels'],
    ['far too high', png(header({ height: 0xffffffff }), data(), END), 'at most 1024 pixels'],
    ['an odd depth', png(header({ depth: 4 }), data(), END), 'kind is not known'],
    ['an odd colour type', png(header({ colourType: 5 }), data(), END), 'kind is not known'],
    ['an odd interlacing', png(header({ interlace: 2 }), data(), END), 'kind is not known'],
    ['no palette', png(header({ colourType: 3 }), data(), END), 'palette'],
    ['a palette of grey', png(header({ colourType: 0 }), chunk('PLTE', Buffer.alloc(3)), data(), END), 'palette'],
    [
      'a crowded palette',
      png(header({ colourType: 3, depth: 1 }), chunk('PLTE', Buffer.alloc(9)), data(), END),
      'palette',
    ],
    ['transparency of alpha', png(header(), chunk('tRNS', Buffer.alloc(2)), data(), END), 'transparency'],
    ['a wrong gamma', png(header(), chunk('gAMA', Buffer.alloc(5)), data(), END), 'colour space'],
    ['data that does not inflate', png(header(), chunk('IDAT', Buffer.from('not zlib')), END), 'cannot be read'],
    ['data that is cut off', png(header(), chunk('IDAT', deflateSync(PIXELS).subarray(0, -6)), END), 'cannot be read'],
    ['an unknown filter', png(header(), data(Buffer.from(PIXELS).fill(7, 9, 10)), END), 'cannot be read'],
    ['a bomb', png(header(), data(Buffer.alloc(50_000_000)), END), 'not as long as its size says'],
  ])('%s is refused', (_what, bytes, why) => refuses(bytes, why));

  it('is judged by its size', () => {
    const large = png(header(), chunk('tEXt', Buffer.alloc(70_000)), data(), END);
    expect(() => scrubPicture(large)).toThrow('a picture may have at most 65536 bytes');
  });
});
