import { type Html, html } from '../../html.js';

/** Decorative drawings for pages with little content. The text already says everything. */
const DRAWINGS = {
  /** Two links of a chain that do not meet. */
  broken: html`<path d="M50 58l-9 9a12 12 0 0 1-17-17l14-14a12 12 0 0 1 17 0"/><path d="M72 40l9-9a12 12 0 0 1 17 17L84 62a12 12 0 0 1-17 0"/><path class="d" d="M57 30l-3-9M47 33l-7-6M65 68l3 9M75 65l7 6"/>`,
  /** An hourglass that has run out. */
  late: html`<path d="M44 18h32M44 80h32M47 18c0 18 13 22 13 31S47 62 47 80M73 18c0 18-13 22-13 31s13 13 13 31"/><path class="f" d="M50 78c1-8 6-12 10-12s9 4 10 12z"/>`,
  locked: html`<rect x="38" y="44" width="44" height="34" rx="7"/><path d="M47 44v-8a13 13 0 0 1 26 0v8"/><circle class="f" cx="60" cy="59" r="4"/><path d="M60 62v7"/>`,
  /** A phone with a message. */
  message: html`<rect x="40" y="16" width="40" height="68" rx="8"/><path d="M55 76h10"/><path class="d" d="M49 34h22M49 44h22M49 54h12"/>`,
  /** A cup, for waiting. */
  busy: html`<path d="M36 46h40v16a16 16 0 0 1-16 16h-8a16 16 0 0 1-16-16zM76 50h5a8 8 0 0 1 0 16h-6M32 84h48"/><path class="d" d="M48 37c-4-5 4-7 0-13M60 37c-4-5 4-7 0-13"/>`,
  /** A plug out of its socket. */
  away: html`<path d="M18 49h18M36 37v24h10a12 12 0 0 0 0-24zM102 49H90M90 37v24h-8a12 12 0 0 1 0-24z"/><path class="d" d="M58 43h7M58 55h7"/>`,
  /** A plaster. */
  fault: html`<rect x="24" y="38" width="72" height="24" rx="12" transform="rotate(-28 60 50)"/><path d="M47 43l9 17M64 34l9 17"/><path class="d" d="M58 46l.1.1M64 53l.1.1M62 44l.1.1M57 54l.1.1"/>`,
  /** A shield. */
  foreign: html`<path d="M60 18l28 9v21c0 17-12 28-28 34-16-6-28-17-28-34V27z"/><path d="M51 41l18 18M69 41L51 59"/>`,
  /** An empty box. */
  empty: html`<path d="M34 48l26 11 26-11v24L60 83 34 72zM60 59v24M34 48l-8 12 26 11 8-12 8 12 26-11-8-12M34 48l26-10 26 10"/><path class="d" d="M60 29v-9M46 32l-5-8M74 32l5-8"/>`,
  /** The sun, half below the horizon. */
  ended: html`<path d="M38 64a22 22 0 0 1 44 0M22 64h76M36 74h48M48 83h24"/><path class="d" d="M60 34v-9M38 43l-6-6M82 43l6-6M31 56l-8-3M89 56l8-3"/>`,
} as const;

export type Illustration = keyof typeof DRAWINGS;

export const renderIllustration = (which: Illustration): Html =>
  html`<svg class="drawing" viewBox="0 0 120 98" aria-hidden="true"><circle class="s" cx="60" cy="49" r="46"/>${DRAWINGS[which]}</svg>`;
