import { encode } from 'uqr';
import { type Html, html } from '../../html.js';

/**
 * Renders a QR code as an SVG path with one stroke for each run of dark modules: about 1 KB for 16 characters. The
 * elements with the given ids label the drawing.
 */
export function renderQrCode(text: string, labelIds: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data.map((row, y) => rowPath(row, y)).join('');
  return html`<svg class="qr" role="img" aria-labelledby="${labelIds}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path stroke="#000" d="${path}"/></svg>`;
}

function rowPath(row: readonly boolean[], y: number): string {
  let path = '';
  let at = 0;
  while (at < row.length) {
    const start = row.indexOf(true, at);
    if (start < 0) break;
    const end = row.indexOf(false, start);
    const stop = end < 0 ? row.length : end;
    // The first run has absolute coordinates. The coordinates of each further run are relative to the run before it.
    path += path === '' ? `M${start} ${y}.5h${stop - start}` : `m${start - at} 0h${stop - start}`;
    at = stop;
  }
  return path;
}
