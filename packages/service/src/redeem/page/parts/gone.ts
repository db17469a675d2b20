import { type Html, html } from '../../html.js';
import type { Gone } from '../../page-view.js';
import type { Frame } from '../layout.js';
import { benefitAnchor, renderBenefitHead } from './benefit-item.js';

/** Returns why a benefit is no longer available. */
export const goneText = ({ texts }: Frame, { state, expiresAt }: Gone): string | Html =>
  state === 'EXPIRED' ? texts.expiredOn(texts.dateTime(expiresAt)) : texts.revoked;

export function renderGoneItem(frame: Frame, one: Gone): Html {
  const about = html`${frame.texts.periodShort(one.cycleNo)} · ${goneText(frame, one)}`;
  return html`<li class="benefit gone" id="${benefitAnchor(one)}">
${renderBenefitHead(frame, one, about, 'h3')}
</li>
`;
}
