import { countBytes, type Html, html } from '../html.js';
import type { PageBenefit } from '../page-view.js';
import { formatYuan } from '../texts/texts.js';
import type { Frame } from './layout.js';
import { renderQrCode } from './qr.js';

type BenefitIn<State extends PageBenefit['state']> = Extract<PageBenefit, { readonly state: State }>;
type Claimable = BenefitIn<'CLAIMABLE'>;
type Claimed = BenefitIn<'CLAIMED'>;

/** The id of a benefit's element on the page. */
export const benefitAnchor = ({ cycleNo, position }: Pick<PageBenefit, 'cycleNo' | 'position'>): string =>
  `b-${cycleNo}-${position}`;

/** The id of the element with its name. Labels refer to it, so that a long name is not sent twice. */
const nameAnchor = (one: Pick<PageBenefit, 'cycleNo' | 'position'>): string => `${benefitAnchor(one)}-name`;

export function renderClaimable(
  { texts }: Frame,
  benefits: readonly Claimable[],
  tokenOf: (one: Claimable) => string,
): Html {
  const items = benefits.map(
    (one) => html`<li class="benefit" id="${benefitAnchor(one)}">
<div class="benefit-text"><h3 id="${nameAnchor(one)}">${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)}${one.faceValueCent === 0 ? '' : ` · ${texts.worth(formatYuan(one.faceValueCent))}`}</p>
<p class="meta">${texts.claimBy(texts.dateTime.format(one.expiresAt))}</p></div>
<button class="button" id="${benefitAnchor(one)}-claim" form="claim" name="claim" value="${one.cycleNo}-${one.position}-${tokenOf(one)}" aria-labelledby="${benefitAnchor(one)}-claim ${nameAnchor(one)}">${texts.claim}</button>
</li>
`,
  );
  return html`<ul class="list">
${items}</ul>`;
}

/**
 * All codes as text, and as QR pictures as far as `mostBytes` allow. The others have a link to a page that begins with them.
 */
export function renderClaimed(
  frame: Frame,
  benefits: readonly Claimed[],
  pageFrom: (one: Claimed) => string,
  mostBytes: number,
): Html {
  const { texts } = frame;
  const withLinks = benefits.map((one) =>
    renderClaimedItem(frame, one, html`<a class="link" href="${pageFrom(one)}">${texts.qr}</a>`),
  );
  let room = mostBytes - countBytes(html`${withLinks}`);
  const items = withLinks.map((withLink, index) => {
    const one = benefits[index];
    if (room <= 0 || !one || one.code === null) return withLink;
    const withPicture = renderClaimedItem(frame, one, renderQrBox(frame, one, one.code, index === 0));
    room -= countBytes(withPicture) - countBytes(withLink);
    return room < 0 ? withLink : withPicture;
  });
  return html`<ul class="list">
${items}</ul>`;
}

function renderClaimedItem(frame: Frame, one: Claimed, picture: Html): Html {
  const { texts } = frame;
  return html`<li class="benefit benefit-claimed" id="${benefitAnchor(one)}">
<div class="benefit-text"><h3 id="${nameAnchor(one)}">${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)}${one.claimedAt === null ? '' : ` · ${texts.claimedOn(texts.dateTime.format(one.claimedAt))}`}</p></div>
${one.code === null ? renderWaiting(frame) : html`${renderCode(frame, one.code)}${picture}`}
</li>
`;
}

function renderCode({ texts }: Frame, code: string): Html {
  return html`<p class="code"><code>${code}</code><button class="button button-quiet" type="button" data-copy="${texts.copied}" hidden>${texts.copy}</button></p>`;
}

function renderQrBox({ texts }: Frame, one: Claimed, code: string, open: boolean): Html {
  const label = `${benefitAnchor(one)}-qr`;
  return html`<details class="qr-box"${open ? html` open` : undefined}><summary id="${label}">${texts.qr}</summary>${renderQrCode(code, `${label} ${nameAnchor(one)}`)}</details>`;
}

function renderWaiting({ texts }: Frame): Html {
  return html`<div class="waiting"><p><strong>${texts.pending}</strong></p><p>${texts.pendingDetail}</p></div>`;
}

/** Expired and revoked benefits, folded. */
export function renderGone({ texts }: Frame, benefits: readonly PageBenefit[]): Html {
  const items = benefits.map(
    (one) => html`<li id="${benefitAnchor(one)}"><h3>${one.name}</h3>
<p class="meta">${texts.periodShort(one.cycleNo)} · ${one.state === 'EXPIRED' ? texts.expiredOn(texts.dateTime.format(one.expiresAt)) : texts.revoked}</p></li>
`,
  );
  return html`<details class="panel gone"><summary><h2>${texts.noLonger}</h2><span class="count">${benefits.length}</span></summary><ul>
${items}</ul></details>`;
}
