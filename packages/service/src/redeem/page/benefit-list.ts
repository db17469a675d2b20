import { bytesOf, type Html, html } from '../html.js';
import { money } from '../texts/texts.js';
import type { BenefitView } from '../view.js';
import type { Frame } from './layout.js';
import { qrCode } from './qr.js';

type In<State extends BenefitView['state']> = Extract<BenefitView, { readonly state: State }>;
type Claimable = In<'CLAIMABLE'>;
type Claimed = In<'CLAIMED'>;

/** Where a benefit stands on the page. */
export const anchorOf = ({ cycleNo, position }: Pick<BenefitView, 'cycleNo' | 'position'>): string =>
  `b-${cycleNo}-${position}`;

/** Where its name stands. What else is called by it refers to that: a name may be long, and a page of them is sent whole. */
const nameOf = (one: Pick<BenefitView, 'cycleNo' | 'position'>): string => `${anchorOf(one)}-name`;

export function claimableList(
  { texts }: Frame,
  benefits: readonly Claimable[],
  tokenOf: (one: Claimable) => string,
): Html {
  const items = benefits.map(
    (one) => html`<li class="benefit" id="${anchorOf(one)}">
<div class="benefit-text"><h3 id="${nameOf(one)}">${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)}${one.faceValueCent === 0 ? '' : ` · ${texts.worth(money(one.faceValueCent))}`}</p>
<p class="meta">${texts.claimBy(texts.dateTime.format(one.expiresAt))}</p></div>
<button class="button" id="${anchorOf(one)}-claim" form="claim" name="claim" value="${one.cycleNo}-${one.position}-${tokenOf(one)}" aria-labelledby="${anchorOf(one)}-claim ${nameOf(one)}">${texts.claim}</button>
</li>
`,
  );
  return html`<ul class="list">
${items}</ul>`;
}

/**
 * Codes as text all of them, and as pictures while all fits into so many bytes. Those for which there is no more room have a
 * link to a page that begins with them.
 */
export function claimedList(
  frame: Frame,
  benefits: readonly Claimed[],
  pageFrom: (one: Claimed) => string,
  mostBytes: number,
): Html {
  const { texts } = frame;
  const withLinks = benefits.map((one) =>
    claimedItem(frame, one, html`<a class="link" href="${pageFrom(one)}">${texts.qr}</a>`),
  );
  let room = mostBytes - bytesOf(html`${withLinks}`);
  const items = withLinks.map((withLink, index) => {
    const one = benefits[index];
    if (room <= 0 || !one || one.code === null) return withLink;
    const withPicture = claimedItem(frame, one, qrBox(frame, one, one.code, index === 0));
    room -= bytesOf(withPicture) - bytesOf(withLink);
    return room < 0 ? withLink : withPicture;
  });
  return html`<ul class="list">
${items}</ul>`;
}

function claimedItem(frame: Frame, one: Claimed, picture: Html): Html {
  const { texts } = frame;
  return html`<li class="benefit benefit-claimed" id="${anchorOf(one)}">
<div class="benefit-text"><h3 id="${nameOf(one)}">${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)}${one.claimedAt === null ? '' : ` · ${texts.claimedOn(texts.dateTime.format(one.claimedAt))}`}</p></div>
${one.code === null ? waiting(frame) : html`${codeBox(frame, one.code)}${picture}`}
</li>
`;
}

function codeBox({ texts }: Frame, code: string): Html {
  return html`<p class="code"><code>${code}</code><button class="button button-quiet" type="button" data-copy="${texts.copied}" hidden>${texts.copy}</button></p>`;
}

function qrBox({ texts }: Frame, one: Claimed, code: string, open: boolean): Html {
  const label = `${anchorOf(one)}-qr`;
  return html`<details class="qr-box"${open ? html` open` : undefined}><summary id="${label}">${texts.qr}</summary>${qrCode(code, `${label} ${nameOf(one)}`)}</details>`;
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
