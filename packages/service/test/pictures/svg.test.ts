import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { PictureRefused } from '../../src/platform/pictures/picture.js';
import { scrubPicture } from '../../src/platform/pictures/scrub-picture.js';
import { EXPORTS } from './exports.js';
import { LOGO, SQUARE, svg } from './samples.js';
import { STALLING } from './stalling.js';

const scrubbed = (bytes: Uint8Array) => {
  const { mediaType, bytes: written, leftOut } = scrubPicture(bytes);
  return { mediaType, text: written.toString(), leftOut };
};
const inside = (drawing: string, attributes?: string) => scrubbed(svg(drawing, attributes)).text;

function parseStrictly(text: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', ({ message }) => expect.fail(message));
  parser.write(text).close();
}

/** Whatever a picture could do beyond drawing itself. */
const ACTIVE =
  /script|onload|onclick|javascript|http:\/\/(?!www\.w3\.org\/2000\/svg")|https:|data:|import|foreign|<a\b|<image|animate|<!|<\?|\bset\b/i;

describe('what an SVG could do', () => {
  it.each([
    ['a script', '<script>alert(1)</script>', ['script']],
    ['a script in CDATA', '<script><![CDATA[alert(1)]]></script>', ['script']],
    ['a script with an address', '<script xlink:href="https://evil.example/x.js"/>', ['script']],
    ['a script under another prefix', '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>', ['script']],
    ['a script of HTML', '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>', []],
    ['a drawing of another namespace', '<rect xmlns="https://evil.example" onclick="alert(1)"/>', []],
    ['an event handler', '<rect width="1" height="1" onclick="alert(1)" onload="alert(2)"/>', []],
    [
      'foreign content',
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="alert(1)"/></foreignObject>',
      ['foreignObject'],
    ],
    ['a drawing in what is left out', '<script><rect onload="alert(1)" width="1" height="1"/></script>', ['script']],
    ['a picture from elsewhere', '<image href="https://evil.example/x.png"/>', ['image']],
    ['a picture in the address', '<image xlink:href="data:image/png;base64,AAAA"/>', ['image']],
    ['a part of another file', '<use href="https://evil.example/x.svg#a"/>', []],
    ['a part of another file, by xlink', '<use xlink:href="other.svg#a"/><use xlink:href=" javascript:alert(1)"/>', []],
    ['a part in the address', '<use href="data:image/svg+xml,&lt;svg id=\'a\'/&gt;#a"/>', []],
    ['a link', '<a href="javascript:alert(1)"><circle r="1"/></a>', []],
    [
      'an animation that sets a link',
      '<use><animate attributeName="href" to="https://evil.example"/></use>',
      ['animate'],
    ],
    ['a set', '<rect width="1" height="1"><set attributeName="onclick" to="alert(1)"/></rect>', ['set']],
    ['a fill from elsewhere', '<rect width="1" height="1" fill="url(https://evil.example/x.svg#a)"/>', []],
    ['a fill in the address', '<rect width="1" height="1" style="fill:url(data:image/svg+xml,x)"/>', []],
    ['an escape in a style', '<rect width="1" height="1" style="fill:\\75rl(https://evil.example)"/>', []],
    ['a comment in a style', '<rect width="1" height="1" style="fill:u/**/rl(https://evil.example)"/>', []],
    [
      'another function',
      '<rect width="1" height="1" style="fill:image-set(&quot;https://evil.example&quot; 1x)"/>',
      [],
    ],
    ['an expression', '<rect width="1" height="1" style="width:expression(alert(1));behavior:url(#x)"/>', []],
    ['a background', '<rect width="1" height="1" style="background:url(https://evil.example)"/>', []],
    ['another property', '<rect width="1" height="1" style="-moz-binding:url(https://evil.example#x)"/>', []],
    [
      'a filter that asks for a picture',
      '<filter id="f"><feImage href="https://evil.example"/></filter><rect filter="url(#f)"/>',
      ['feImage'],
    ],
    ['a cursor', '<rect width="1" height="1" cursor="url(https://evil.example/c.cur)"/>', []],
    ['a base', '<rect width="1" height="1" xml:base="https://evil.example/"/>', []],
    ['a processing instruction', '<?xml-stylesheet href="https://evil.example/x.css"?>', []],
    ['a comment', '<!-- --><!-- <script>alert(1)</script> -->', []],
    ['an entity that hides a tag', '<text>&lt;b&gt;&#60;b></text>', []],
    ['a handler in a title', '<title onload="alert(1)">hello</title>', []],
  ])('%s has no way through', (_what, hostile, leftOut) => {
    const found = scrubbed(svg(hostile + SQUARE));
    expect(found.text).not.toMatch(ACTIVE);
    expect(found.text).toContain(SQUARE);
    expect(found).toMatchObject({ leftOut, mediaType: 'image/svg+xml' });
    // And a strict parser reads what was written.
    parseStrictly(found.text);
  });

  it.each([
    ['a DOCTYPE with an empty subset', `<!DOCTYPE svg []>${svg(SQUARE)}`, 'DOCTYPE'],
    [
      'an entity from a file',
      `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`,
      'DOCTYPE',
    ],
    ['a billion laughs', `<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>${svg('<text>&b;</text>')}`, 'DOCTYPE'],
    ['an unknown entity', svg('<text>&nbsp;</text>'), 'undefined entity'],
    ['an unclosed element', svg('<g>'), 'unclosed|unexpected'],
    ['an attribute twice', svg('<g id="a" id="b"/>'), 'duplicate'],
    ['an unbound prefix', svg('<x:g/>'), 'unbound'],
    ['another root', '<html xmlns="http://www.w3.org/1999/xhtml"/>', 'does not begin with svg'],
    ['no namespace', `<svg viewBox="0 0 1 1">${SQUARE}</svg>`, 'does not begin with svg'],
    ['two roots', `${svg(SQUARE)}${svg(SQUARE)}`, 'only one|documents may contain'],
    ['another encoding', `<?xml version="1.0" encoding="ISO-8859-1"?>${svg(SQUARE)}`, 'not in UTF-8'],
    ['@import', svg(`<style>@import "https://evil.example/x.css";</style>${SQUARE}`), '@ rule'],
    ['@font-face in CDATA', svg(`<style><![CDATA[@font-face{src:url(x)}]]></style>${SQUARE}`), '@ rule'],
    ['an escape in a style sheet', svg(`<style>.a{fill:\\75rl(x)}</style>${SQUARE}`), 'an escape'],
    ['a selector that nobody knows', svg(`<style>g > path:hover{fill:red}</style>${SQUARE}`), 'a selector other than'],
    ['a block that does not end', svg(`<style>.a{fill:red</style>${SQUARE}`), 'cannot be read'],
    ['too many rules', svg(`<style>${'a,'.repeat(200)}a{fill:red}</style>${'<g/>'.repeat(4_000)}`), 'too many rules'],
    [
      'few rules of many words for many elements',
      svg(`<style>g{font-family:${'a '.repeat(20_000)}}</style>${'<g/>'.repeat(4_000)}${SQUARE}`),
      'too much of too many elements',
    ],
    [
      'a rule of many classes',
      svg(`<style>${'.a'.repeat(9_000)}{fill:red}</style>${'<g/>'.repeat(100)}`),
      'too many rules',
    ],
    ['nothing to draw', svg('<defs/><image href="x.png"/>'), 'draws nothing'],
    ['no size', svg(SQUARE, ''), 'neither a viewBox nor a size'],
    ['a size in per cent', svg(SQUARE, 'width="100%" height="100%"'), 'neither a viewBox nor a size'],
    ['an empty view box', svg(SQUARE, 'viewBox="0 0 0 10"'), 'viewBox is wrong'],
    ['a view box that is none', svg(SQUARE, 'viewBox="0 0 10"'), 'viewBox is wrong'],
    ['depth', svg(`${'<g>'.repeat(100)}${SQUARE}${'</g>'.repeat(100)}`), 'nested too deep'],
    ['width', svg('<g/>'.repeat(5_001)), 'too many elements'],
    ['a part that uses itself', svg('<g id="a"><use href="#a"/></g>'), 'refers to itself'],
    [
      'parts that use each other',
      svg('<g id="a"><use href="#b"/></g><g id="b"><use xlink:href="#a"/></g>'),
      'refers to itself',
    ],
    [
      'a mask of itself, by a class',
      svg(`<style>.m{mask:url(#m)}</style><mask id="m"><g class="m">${SQUARE}</g></mask>`),
      'refers to itself',
    ],
    [
      'laughs by use',
      svg(
        `<defs><g id="l0">${SQUARE}</g>${Array.from({ length: 9 }, (_, n) => `<g id="l${n + 1}">${`<use href="#l${n}"/>`.repeat(10)}</g>`).join('')}</defs><use href="#l9"/>`,
      ),
      'too many parts',
    ],
    [
      'a long chain',
      svg(Array.from({ length: 400 }, (_, n) => `<g id="c${n}"><use href="#c${n + 1}"/></g>`).join('')),
      'too deep',
    ],
    [
      'a pattern within patterns',
      svg(
        `<defs>${Array.from({ length: 9 }, (_, n) => `<pattern id="q${n}"><g fill="url(#q${n + 1})">${SQUARE.repeat(9)}</g></pattern>`).join('')}</defs><rect fill="url(#q0)"/>`,
      ),
      'too many parts',
    ],
  ])('%s is refused', (_what, hostile, why) => {
    expect(() => scrubPicture(Buffer.from(hostile))).toThrow(new RegExp(`^the SVG cannot be used: .*(${why})`));
  });

  it.each(STALLING)('%s would make a browser stand still: it is refused', (_what, hostile, why) => {
    expect(() => scrubPicture(hostile)).toThrow(new RegExp(`^the SVG cannot be used: .*(${why})`));
  });

  it.each([
    ['UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(svg(SQUARE).toString(), 'utf16le')])],
    ['UTF-16 without a mark', Buffer.from(svg(SQUARE).toString(), 'utf16le')],
    ['not UTF-8', Buffer.concat([svg(SQUARE), Buffer.from([0xff])])],
    ['compressed', Buffer.from('H4sIAAAAAAAAA7Mp', 'base64')],
    ['a GIF', Buffer.from('GIF89a')],
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('logo')],
  ])('%s is no picture', (_what, bytes) => {
    expect(() => scrubPicture(bytes)).toThrow('the file is neither a PNG nor an SVG in UTF-8');
  });

  it.each([
    ['a path of one word', `<path d="${'m1'.repeat(30_000)}"/>`],
    ['a name of a function', `<path d="${'m'.repeat(30_000)}(" fill="${'('.repeat(20_000)}"/>`],
    ['a transformation', `<path transform="${'m'.repeat(60_000)}"/>`],
    ['dashes', `<path stroke-dasharray="${'1m'.repeat(30_000)}"/>`],
    [
      'a filter for many',
      `<filter id="f">${'<feFlood/>'.repeat(2_000)}</filter>${'<g filter="url(#f)"/>'.repeat(1_500)}`,
    ],
    ['a reference of spaces', `<use href="#a${' '.repeat(60_000)}b"/>`],
    ['a number', `<svg width="${'1'.repeat(60_000)}x"/>`],
    ['comments that do not end', `<style>${'/*'.repeat(30_000)}</style>`],
    ['blocks that do not begin', `<style>${'}'.repeat(60_000)}</style>`],
    ['many selectors', `<style>${'g,'.repeat(99)}g{fill:red}</style>${'<g/>'.repeat(4_000)}`],
  ])('%s takes no longer than others', (_what, long) => {
    // Those who wait for it would fail.
    expect(() => {
      try {
        scrubPicture(svg(long + SQUARE, `viewBox="0 0 1 1" width="${'1'.repeat(1_000)}"`));
      } catch (error) {
        if (!(error instanceof PictureRefused)) throw error;
      }
    }).not.toThrow();
  });

  it('is judged by its size before and after', () => {
    const most = svg(SQUARE + ' '.repeat(65_536 - svg(SQUARE).length));
    expect(scrubbed(most).text.length).toBeLessThan(200);
    expect(() => scrubPicture(Buffer.concat([most, Buffer.from(' ')]))).toThrow('at most 65536 bytes, not 65537');
    // A style sheet of one line, for a thousand elements.
    const grows = svg(`<style>.a{font-family:${'x'.repeat(200)}}</style>${'<g class="a"/>'.repeat(1_000)}${SQUARE}`);
    expect(() => scrubPicture(grows)).toThrow(/a picture may have at most 65536 bytes, not \d{6}/);
  });
});

describe('how an SVG looks', () => {
  it('stays, and nothing else of it', () => {
    expect(scrubbed(Buffer.from(LOGO))).toEqual({
      mediaType: 'image/svg+xml',
      leftOut: ['foreignObject'],
      text: [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" width="75.591" height="37.795"><g><g>',
        '<title>Sunny &amp; Shop</title>',
        '<linearGradient id="p2" gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="1" y2="1"><stop offset="0" ',
        'stop-color="#0A6B4B"/><stop offset="1" stop-color="rgb(10, 20, 30)" stop-opacity="0.5"/></linearGradient>',
        '<defs><rect id="p1" width="5" height="5"/></defs>',
        '<clipPath id="p3"><use href="#p1" overflow="visible"/></clipPath>',
        '<path d="M1,2c3,4-5-6,7e-1,8z" transform="matrix(1 0 0 1 10 20)" fill="url(#p2)"/>',
        '<path fill="#FFFFFF" d="M1 2" stroke="#0A6B4B" stroke-width="2"/>',
        '<path d="M3 4" fill="#FFFFFF" stroke="blue" stroke-width="2" style="mix-blend-mode:multiply"/>',
        '<circle fill="red" r="3" clip-path="url(#p3)" opacity=".5"/>',
        '<rect fill="#abc" stroke="none" width="1" height="1"/>',
        `<text font-family="'Noto Sans', &quot;Arial&quot;" font-size="12">阳光<tspan x="3">店</tspan></text>`,
        '</g></g></svg>',
      ].join(''),
    });
  });

  it('a view box is made of a size; elements under a prefix are drawn without it', () => {
    expect(inside(SQUARE, 'width="1in" height="48px"')).toBe(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 48" width="96" height="48">${SQUARE}</svg>`,
    );
    const prefixed = `<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><s:circle r="1"/></s:svg>`;
    expect(scrubbed(Buffer.from(prefixed)).text).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><circle r="1"/></svg>',
    );
  });

  it('what was written is written the same again', () => {
    for (const text of [
      LOGO,
      ...Object.values(EXPORTS),
      svg('<g style="isolation:isolate"><use href="#x"/><path id="x" d="M0 0"/></g>').toString(),
    ]) {
      const once = scrubPicture(Buffer.from(text)).bytes;
      expect(scrubPicture(once).bytes.toString()).toBe(once.toString());
    }
  });
});
