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

/** Two lines of two pixels, each with its filter. */
export const PIXELS = Buffer.from([0, 255, 0, 0, 255, 0, 255, 0, 255, 1, 0, 0, 255, 255, 9, 9, 9, 9]);
export const data = (lines: Uint8Array = PIXELS): Buffer => chunk('IDAT', deflateSync(lines));
export const END = chunk('IEND');

export const png = (...parts: Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...parts]);
export const GOOD_PNG = png(header(), data(), END);

/** As a drawing program saves it. */
export const LOGO = `\ufeff<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: Adobe Illustrator 27.0.0, SVG Export Plug-In . SVG Version: 6.00 Build 0)  -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg version="1.1" id="图层_1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" x="0px" y="0px"
  width="20mm" height="10mm" viewBox="0 0 200 100" style="enable-background:new 0 0 200 100;" xml:space="preserve"
  xmlns:i="http://ns.adobe.com/AdobeIllustrator/10.0/">
<style type="text/css">
  .st0{fill:url(#SVGID_1_);}
  .st1, .st2{fill:#FFFFFF;stroke:#0A6B4B;stroke-width:2;}
  .st2{stroke:none;mix-blend-mode:multiply;}
  #special{opacity:.5}
  circle{fill:red !important}
</style>
<switch><foreignObject requiredExtensions="http://ns.adobe.com/AdobeIllustrator/10.0/"/>
<g i:extraneous="self">
  <metadata><i:aipgf id="x">AAAA</i:aipgf></metadata>
  <title>Sunny &amp; Shop</title>
  <linearGradient id="SVGID_1_" gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="1" y2="1">
    <stop offset="0" style="stop-color:#0A6B4B"/><stop offset="1" style="stop-color:rgb(10, 20, 30);stop-opacity:0.5"/>
  </linearGradient>
  <defs><rect id="箱" width="5" height="5"/></defs>
  <clipPath id="cut"><use xlink:href="#箱" style="overflow:visible;"/></clipPath>
  <path class="st0" d="M1,2c3,4-5-6,7e-1,8z" transform="matrix(1 0 0 1 10 20)"/>
  <path fill="blue" class="st1" d="M1 2"/>
  <path class="st2" style="stroke: blue" d="M3 4"/>
  <circle id="special" fill="green" r="3" clip-path="url(#cut)" data-name="a"/>
  <rect fill="url(#gone) #abc" stroke="url(#gone)" mask="url(#gone)" width="1" height="1"/>
  <text font-family="'Noto Sans', &quot;Arial&quot;" font-size="12">阳光<tspan x="3">店</tspan></text>
</g></switch>
</svg>`;
