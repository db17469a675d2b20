import { type Html, html } from '../html.js';

interface State {
  readonly name: string;
  /** The centre of the box. */
  readonly x: number;
  readonly y: number;
  readonly isFinal?: true;
}

interface Edge {
  /** Undefined for the creation of the order. */
  readonly from: string | undefined;
  readonly to: string;
  readonly label?: string;
  /** Where a creation begins, relative to its state. */
  readonly start?: readonly [x: number, y: number];
}

export interface Diagram {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly states: readonly State[];
  readonly edges: readonly Edge[];
}

export const ORDER_DIAGRAM: Diagram = {
  label: 'States of an order',
  width: 720,
  height: 250,
  states: [
    { name: 'INITIALIZING', x: 150, y: 110 },
    { name: 'ACTIVE', x: 390, y: 110 },
    { name: 'COMPLETED', x: 630, y: 50, isFinal: true },
    { name: 'UNSUBSCRIBED', x: 630, y: 170, isFinal: true },
    { name: 'TERMINATED', x: 390, y: 215, isFinal: true },
  ],
  edges: [
    { from: undefined, to: 'INITIALIZING', label: 'create, A', start: [0, -80] },
    { from: undefined, to: 'ACTIVE', label: 'create, B', start: [0, -80] },
    { from: 'INITIALIZING', to: 'ACTIVE', label: 'first debit' },
    { from: 'INITIALIZING', to: 'TERMINATED', label: 'it fails' },
    { from: 'ACTIVE', to: 'COMPLETED', label: 'last period' },
    { from: 'ACTIVE', to: 'UNSUBSCRIBED', label: 'unsubscribe' },
  ],
};

export const PERIOD_DIAGRAM: Diagram = {
  label: 'States of a period',
  width: 768,
  height: 350,
  states: [
    { name: 'BILLED', x: 284, y: 40, isFinal: true },
    { name: 'WAIT', x: 68, y: 145 },
    { name: 'PROCESSING', x: 284, y: 145 },
    { name: 'SUCCESS', x: 500, y: 105 },
    { name: 'FAIL', x: 500, y: 215, isFinal: true },
    { name: 'REFUND_PART', x: 702, y: 50 },
    { name: 'REFUND_FULL', x: 702, y: 165, isFinal: true },
    { name: 'FAIL_RETRY', x: 284, y: 310 },
    { name: 'CANCELED', x: 68, y: 310, isFinal: true },
  ],
  edges: [
    { from: undefined, to: 'PROCESSING', label: 'create, A', start: [130, -85] },
    { from: undefined, to: 'BILLED', label: 'create, B', start: [-180, 0] },
    { from: 'WAIT', to: 'BILLED', label: 'due, B' },
    { from: 'WAIT', to: 'PROCESSING', label: 'due, A' },
    { from: 'WAIT', to: 'CANCELED', label: 'unsubscribe' },
    { from: 'PROCESSING', to: 'SUCCESS', label: 'debited' },
    { from: 'PROCESSING', to: 'FAIL', label: 'declined' },
    { from: 'PROCESSING', to: 'FAIL_RETRY', label: 'not now' },
    { from: 'FAIL_RETRY', to: 'PROCESSING', label: 'retry' },
    { from: 'FAIL_RETRY', to: 'FAIL', label: 'too late' },
    { from: 'FAIL_RETRY', to: 'SUCCESS' },
    { from: 'FAIL_RETRY', to: 'CANCELED', label: 'unsubscribe' },
    { from: 'SUCCESS', to: 'REFUND_PART', label: 'refund' },
    { from: 'SUCCESS', to: 'REFUND_FULL', label: 'refund' },
    { from: 'REFUND_PART', to: 'REFUND_FULL', label: 'the rest' },
  ],
};

const BOX = { width: 124, height: 40 };
/** The distance between the two edges that connect the same states in both directions. */
const APART = 26;

/** Renders a diagram as SVG. Its tables and texts have the same content, so a screen reader gets only its name. */
export function renderDiagram({ label, width, height, states, edges }: Diagram): Html {
  const id = label.toLowerCase().replaceAll(' ', '-');
  const find = (name: string) => states.find((state) => state.name === name) ?? { x: 0, y: 0 };
  const lines = edges.map((edge) => {
    const to = find(edge.to);
    const [dx, dy] = edge.start ?? [0, 0];
    const from = edge.from === undefined ? { x: to.x + dx, y: to.y + dy } : find(edge.from);
    const isBack = edges.some((other) => other.from === edge.to && other.to === edge.from);
    const shift = isBack ? (to.y > from.y ? -APART : APART) : 0;
    const begin = edge.from === undefined ? from : leave(from, to);
    const end = leave(to, from);
    return { ...edge, x1: begin.x + shift, y1: begin.y, x2: end.x + shift, y2: end.y };
  });
  return html`<figure class="diagram" tabindex="0"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<defs><marker id="${id}-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
${lines.map(({ x1, y1, x2, y2 }) => html`<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" marker-end="url(#${id}-arrow)"/>`)}
${lines.map(({ label: text, x1, y1, x2, y2 }) => (text === undefined ? '' : html`<text class="edge" x="${(x1 + x2) / 2}" y="${(y1 + y2) / 2 + 4}">${text}</text>`))}
${states.map(({ name, x, y, isFinal }) => html`<rect class="${isFinal ? 'final' : 'state'}" x="${x - BOX.width / 2}" y="${y - BOX.height / 2}" width="${BOX.width}" height="${BOX.height}" rx="8"/><text x="${x}" y="${y + 5}">${name}</text>`)}
</svg></figure>`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns where the line from the centre of a box to another point leaves the box. */
function leave(box: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y];
  const scale = Math.min(BOX.width / 2 / Math.abs(dx), BOX.height / 2 / Math.abs(dy));
  return { x: Math.round(box.x + dx * scale), y: Math.round(box.y + dy * scale) };
}
