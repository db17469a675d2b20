import { type Html, html } from './html.js';
import type { Frame } from './layout.js';
import { qrCode } from './qr.js';
import { money } from './texts.js';
import type { BenefitView } from './view.js';

type In<State extends BenefitView['state']> = Extract<BenefitView, { readonly state: State }>;
type Claimable = In<'CLAIMABLE'>;
type Claimed = In<'CLAIMED'>;

/** Of one page's QR codes together. What is over it gets a link to a page that begins with it. */
const MOST_QR_CHARACTERS = 26_000;

/** Where a benefit stands on the page. */
export const anchorOf = ({ cycleNo, position }: Pick<BenefitView, 'cycleNo' | 'position'>): string =>
  `b-${cycleNo}-${position}`;

export function claimableList(
  { texts }: Frame,
  benefits: readonly Claimable[],
  tokenOf: (one: Claimable) => string,
): Html {
  const items = benefits.map(
    (one) => html`<li class="benefit" id="${anchorOf(one)}">
<div class="benefit-text"><h3>${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)} · ${texts.worth(money(one.faceValueCent))}</p>
<p class="meta">${texts.claimBy(texts.dateTime.format(one.expiresAt))}</p></div>
<button class="button" form="claim" name="claim" value="${one.cycleNo}-${one.position}-${tokenOf(one)}" aria-label="${texts.claimNamed(one.name)}">${texts.claim}</button>
</li>
`,
  );
  return html`<ul class="list">
${items}</ul>`;
}

export function claimedList(frame: Frame, benefits: readonly Claimed[], pageFrom: (one: Claimed) => string): Html {
  const { texts } = frame;
  let room = MOST_QR_CHARACTERS;
  const items = benefits.map((one, index) => {
    const qr = one.code === null ? undefined : qrCode(one.code, texts.qrOf(one.name));
    room -= qr?.text.length ?? 0;
    const drawn = qr && room >= 0 ? qrBox(frame, qr, index === 0) : undefined;
    const elsewhere = qr && html`<a class="link" href="${pageFrom(one)}">${texts.qr}</a>`;
    return html`<li class="benefit benefit-claimed" id="${anchorOf(one)}">
<div class="benefit-text"><h3>${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)}${one.claimedAt === null ? '' : ` · ${texts.claimedOn(texts.dateTime.format(one.claimedAt))}`}</p></div>
${one.code === null ? waiting(frame) : codeBox(frame, one.code)}${drawn ?? elsewhere}
</li>
`;
  });
  return html`<ul class="list">
${items}</ul>`;
}

function codeBox({ texts }: Frame, code: string): Html {
  return html`<p class="code"><code>${code}</code><button class="button button-quiet" type="button" data-copy="${texts.copied}" hidden>${texts.copy}</button></p>`;
}

function qrBox({ texts }: Frame, qr: Html, open: boolean): Html {
  return html`<details class="qr-box"${open ? html` open` : undefined}><summary>${texts.qr}</summary>${qr}</details>`;
}

function waiting({ texts }: Frame): Html {
  return html`<div class="waiting"><p><strong>${texts.pending}</strong></p><p>${texts.pendingDetail}</p></div>`;
}

/** What is over, out of the way. */
export function goneList({ texts }: Frame, benefits: readonly BenefitView[]): Html {
  const items = benefits.map(
    (one) => html`<li id="${anchorOf(one)}"><h3>${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)} · ${one.state === 'EXPIRED' ? texts.expiredOn(texts.dateTime.format(one.expiresAt)) : texts.revoked}</p></li>
`,
  );
  return html`<details class="panel gone"><summary><h2>${texts.noLonger}</h2><span class="count">${benefits.length}</span></summary><ul>
${items}</ul></details>`;
}
