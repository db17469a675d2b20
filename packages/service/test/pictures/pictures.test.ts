import { describe, expect, it } from 'vitest';
import { checkPicture } from '../../src/platform/pictures/picture.js';
import { data, END, GOOD_PNG, header, png, SQUARE, svg } from './samples.js';

const NS = 'xmlns="http://www.w3.org/2000/svg"';

describe('a PNG', () => {
  it('is stored as it was sent', () => {
    expect(checkPicture(GOOD_PNG)).toEqual({ mediaType: 'image/png', bytes: GOOD_PNG });
    const largest = png(header({ width: 1024, height: 1024 }), data(), END);
    expect(checkPicture(largest).bytes).toBe(largest);
  });

  it.each([
    ['nothing but its signature', png(), 'it ends too early'],
    ['cut off', GOOD_PNG.subarray(0, 40), 'it ends too early'],
    ['no header', png(data(), END), 'its header is missing'],
    ['no width', png(header({ width: 0 }), data(), END), 'at most 1024 pixels'],
    ['too wide', png(header({ width: 1025 }), data(), END), 'at most 1024 pixels'],
    ['far too high', png(header({ height: 0xffffffff }), data(), END), 'at most 1024 pixels'],
  ])('with %s is refused', (_what, bytes, why) => {
    expect(() => checkPicture(bytes)).toThrow(new RegExp(`^the PNG cannot be used: .*${why}`));
  });
});

describe('an SVG', () => {
  it.each([
    ['Figma', `<svg width="160" height="80" viewBox="0 0 160 80" fill="none" ${NS}>${SQUARE}</svg>`],
    [
      'Illustrator',
      `\ufeff<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: Adobe Illustrator 27.0.0, SVG Export Plug-In . SVG Version: 6.00 Build 0)  -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg version="1.1" id="图层_1" ${NS} width="20mm" height="10mm" viewBox="0 0 200 100" xml:space="preserve">${SQUARE}</svg>`,
    ],
    ['a prefix', `<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox='0,0,9,9'><s:path d="M0 0h9v9H0z"/></s:svg>`],
    ['a size in per cent', `<svg ${NS} width="100%" height="100%" viewBox="0 0 9 9">${SQUARE}</svg>`],
  ])('of %s is stored as it was sent', (_program, text) => {
    const bytes = Buffer.from(text);
    expect(checkPicture(bytes)).toEqual({ mediaType: 'image/svg+xml', bytes });
  });

  it('with a size and no view box gets one, so that it scales', () => {
    const { bytes } = checkPicture(Buffer.from(`<svg ${NS} width="1in" height="48px">${SQUARE}</svg>`));
    expect(bytes.toString()).toBe(`<svg viewBox="0 0 96 48" ${NS} width="1in" height="48px">${SQUARE}</svg>`);
  });

  it.each([
    ['no size', svg(SQUARE, ''), 'neither a viewBox nor a size'],
    ['a size in per cent', svg(SQUARE, 'width="100%" height="100%"'), 'neither a viewBox nor a size'],
    ['a viewBox of three', svg(SQUARE, 'viewBox="0 0 9"'), 'its viewBox is wrong'],
    ['an empty viewBox', svg(SQUARE, 'viewBox="0 0 0 9"'), 'its viewBox is wrong'],
    ['a huge size', svg(SQUARE, 'viewBox="0 0 9 9" width="10001"'), 'at most 10000 pixels'],
    ['another root', Buffer.from(`<html ${NS}>${SQUARE}</html>`), 'does not begin with svg'],
    ['another namespace', Buffer.from(`<svg viewBox="0 0 9 9">${SQUARE}</svg>`), 'does not begin with svg'],
    [
      'entities',
      Buffer.from(`<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg ${NS} viewBox="0 0 9 9"/>`),
      'its DOCTYPE has declarations',
    ],
    ['nothing but comments', Buffer.from('<!---->'.repeat(9_000)), 'does not begin with svg'],
    ['a root without an end', Buffer.from(`<svg ${' a="b'.repeat(10_000)}`), 'does not begin with svg'],
  ])('with %s is refused', (_what, bytes, why) => {
    expect(() => checkPicture(bytes)).toThrow(new RegExp(`^the SVG cannot be used: .*${why}`));
  });
});

it.each([
  ['a GIF', Buffer.from('GIF89a')],
  ['nothing', Buffer.alloc(0)],
  ['UTF-16', Buffer.from(svg(SQUARE).toString(), 'utf16le')],
  ['other bytes', Buffer.from([0x3c, 0xff, 0xfe])],
])('%s is neither', (_what, bytes) => {
  expect(() => checkPicture(bytes)).toThrow('the file is neither a PNG nor an SVG in UTF-8');
});

it('a picture has at most 65536 bytes', () => {
  const most = svg(SQUARE + ' '.repeat(65_536 - svg(SQUARE).length));
  expect(checkPicture(most).bytes).toHaveLength(65_536);
  expect(() => checkPicture(Buffer.concat([most, Buffer.from(' ')]))).toThrow('at most 65536 bytes, not 65537');
});
