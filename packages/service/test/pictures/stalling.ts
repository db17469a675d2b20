import { svg } from './samples.js';

const times = (count: number, part: (place: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join('');
const curves = (count: number) =>
  `M0 0${times(count, (n) => `C${(n * 37) % 9} ${(n * 61) % 9} ${(n * 17) % 9} ${(n * 7) % 9} ${(n * 29) % 9} ${(n * 53) % 9}`)}`;
const filtered = (steps: string, attributes = '') =>
  `<filter id="f" ${attributes}>${steps}</filter><rect width="5" height="5" filter="url(#f)"/>`;
const FAR = 'x="-1000" y="-1000" width="3000" height="3000"';
const inOf = (place: number) => (place === 0 ? 'SourceGraphic' : `r${place - 1}`);

const DASHES = 'more than 20000 dashes';
const COST = 'a browser would take too long to draw it';
const STEPS = 'a filter in it has too many steps';
const REACH = 'too large, too blurred, or too far outside';
const TILES = 'a pattern in it repeats too closely';

/** Small files that a browser draws for many seconds, or would if somebody looked closer: what they are, and why they are refused. */
export const STALLING: readonly (readonly [what: string, picture: Buffer, why: string])[] = [
  ['fine dashes', svg('<path d="M0 0H9" stroke="red" stroke-dasharray="0.00001 0.00001"/>'), DASHES],
  ['dashes in per cent', svg('<path d="M0 0H9" stroke="red" stroke-dasharray="1e-4%"/>'), DASHES],
  ['dashes in em', svg('<path d="M0 0H9" stroke="red" font-size="1e-6" stroke-dasharray="1em"/>'), 'not in pixels'],
  ['dashes of a group', svg('<g stroke-dasharray="1e-5"><circle r="3" stroke="red"/></g>'), DASHES],
  ['dashes of a style', svg('<style>.a{stroke-dasharray:1e-5}</style><rect class="a" width="9" height="9"/>'), DASHES],
  ['dashes by use', svg('<defs><line id="l" x2="9"/></defs><use href="#l" stroke-dasharray="1e-5"/>'), DASHES],
  ['dashes of a length that is only said', svg('<path d="M0 0H9" pathLength="1e9" stroke-dasharray="1"/>'), DASHES],
  [
    'dashes of lines without a letter',
    svg(`<path d="M0 0${' 9 9 0 0'.repeat(5_000)}" stroke-dasharray=".5"/>`),
    DASHES,
  ],
  ['dashes of a polygon', svg(`<polygon points="${'9 9 0 0 '.repeat(5_000)}" stroke-dasharray=".5"/>`), DASHES],
  ['dashes of arcs', svg(`<path d="M0 0${'a99 99 0 1110 9'.repeat(500)}" stroke-dasharray=".5"/>`), DASHES],
  ['dashes of letters', svg(`<text stroke-dasharray=".01">${'abc'.repeat(99)}</text>`), DASHES],
  ['dashes of many lines', svg(times(900, () => '<path d="M0 0H9" stroke-dasharray=".1"/>')), COST],
  ['a curve that is used often', svg(`<path id="c" d="${curves(999)}"/>${times(99, () => '<use href="#c"/>')}`), COST],
  [
    'a line of points that is used often',
    svg(`<polyline id="c" points="${'1 2 '.repeat(5_000)}"/>${times(99, () => '<use href="#c"/>')}`),
    COST,
  ],
  [
    'outlines that are cut out together',
    svg(`<clipPath id="c"><path d="${curves(200)}"/><path d="${curves(200)}"/></clipPath><rect clip-path="url(#c)"/>`),
    COST,
  ],
  [
    'outlines that are cut out of each other',
    svg(
      `<clipPath id="a"><path d="${curves(200)}"/></clipPath><clipPath id="b" clip-path="url(#a)"><path d="${curves(200)}"/></clipPath><rect clip-path="url(#b)"/>`,
    ),
    COST,
  ],
  [
    'many layers',
    svg(
      `<g id="l">${times(99, () => '<g opacity=".9" style="mix-blend-mode:multiply"/>')}</g>${times(99, () => '<use href="#l"/>')}<path d="M0 0"/>`,
    ),
    COST,
  ],
  ['many masks', svg(`<mask id="m"/>${times(999, () => '<rect mask="url(#m)"/>')}`), COST],
  ['many letters along a path', svg(`<text><textPath>${'a'.repeat(30_000)}</textPath></text>`), COST],
  [
    'many stops',
    svg(
      `<linearGradient id="g">${times(999, () => '<stop/>')}</linearGradient>${times(99, () => '<rect fill="url(#g)"/>')}`,
    ),
    COST,
  ],
  [
    'large tiles of many shapes',
    svg(
      `<pattern id="p" width="300" height="300"><path/></pattern><g fill="url(#p)">${times(999, () => '<rect/>')}</g>`,
    ),
    COST,
  ],
  [
    'steps that take each result twice',
    svg(filtered(times(30, (n) => `<feBlend result="r${n}" in="${inOf(n)}" in2="${inOf(n)}"/>`))),
    STEPS,
  ],
  [
    'merged with itself',
    svg(filtered(times(30, (n) => `<feMerge result="r${n}">${`<feMergeNode in="${inOf(n)}"/>`.repeat(2)}</feMerge>`))),
    STEPS,
  ],
  ['shadows of shadows', svg(filtered('<feDropShadow dx="1" dy="1" stdDeviation="1"/>'.repeat(30))), STEPS],
  ['a wide blur', svg(filtered('<feGaussianBlur stdDeviation="1e6"/>')), REACH],
  ['a wide blur, many times', svg(filtered('<feGaussianBlur stdDeviation="50"/>', FAR).repeat(40)), REACH],
  [
    'a blur that is made wide',
    svg(`<g transform="scale(99)">${filtered('<feGaussianBlur stdDeviation="1"/>')}</g>`),
    REACH,
  ],
  [
    'a blur of its own size',
    svg(filtered('<feGaussianBlur stdDeviation="9"/>', `primitiveUnits="objectBoundingBox" ${FAR}`)),
    REACH,
  ],
  ['a scale', svg(`<g transform="scale(1e9)"><path d="${curves(99)}" stroke="red"/></g>`), REACH],
  [
    'scales within each other',
    svg(`${'<g transform="scale(9)">'.repeat(9)}<path d="M0 0h9"/>${'</g>'.repeat(9)}`),
    REACH,
  ],
  ['a matrix', svg('<path d="M0 0h9" transform="matrix(0 1e5 -1e5 0 0 0)"/>'), REACH],
  ['a slant', svg('<path d="M0 9h9" transform="skewX(89.9999)"/>'), REACH],
  ['a shift', svg('<path d="M0 0h9" transform="translate(1e6 0)"/>'), REACH],
  ['places', svg('<path d="M0 0C1e30 1e30 -1e30 1e30 0 0"/>'), REACH],
  ['a number without end', svg('<path d="M0 0h1e999l-1e999 0" stroke-dasharray="1"/>'), 'dashes|too large'],
  ['steps that add up', svg(`<path d="M0 0${'h900'.repeat(99)}"/>`), REACH],
  ['curves that swing', svg(`<path d="M0 0q9 9 9 0${'T0 0 9 0'.repeat(999)}"/>`), REACH],
  ['an arc', svg('<path d="M0 0A1e6 1 0 01 0 1"/>'), REACH],
  ['a wide line', svg('<path d="M0 0h9" stroke="red" stroke-width="1e6"/>'), REACH],
  ['letters', svg('<text font-size="1e6">a</text>'), REACH],
  ['per cent', svg('<circle r="1e7%"/>'), REACH],
  ['a small view', svg('<path d="M0 0h9v9"/>', 'viewBox="0 0 1e-9 1e-9"'), REACH],
  ['a small view inside', svg('<svg viewBox="0 0 1e-6 1e-6"><path d="M0 0h9"/></svg>'), REACH],
  [
    'a part that is used large',
    svg('<symbol id="s" viewBox="0 0 10 10"><path d="M0 0h99"/></symbol><use href="#s" width="9000" height="9"/>'),
    REACH,
  ],
  [
    'parts of a size',
    svg(
      '<clipPath id="c" clipPathUnits="objectBoundingBox"><circle r="999"/></clipPath><rect width="99" clip-path="url(#c)"/>',
    ),
    REACH,
  ],
  [
    'small tiles',
    svg('<pattern id="p" width="1e-9" height="1e-9" patternUnits="userSpaceOnUse"/><rect fill="url(#p)"/>'),
    TILES,
  ],
  ['small tiles of a box', svg('<pattern id="p" width="1e-9" height="1"/><rect fill="url(#p)"/>'), TILES],
  [
    'tiles that are made small',
    svg('<pattern id="p" width=".5" height=".5" patternTransform="scale(1e-6)"/><rect fill="url(#p)"/>'),
    TILES,
  ],
];
