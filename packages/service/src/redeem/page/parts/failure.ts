import type { DeclineKind } from '@perennial/wire';
import { declineKindOf, deriveDeclineKind } from '@perennial/wire/bridge';
import { nextPayAt, type Order } from '../../../subscriptions/domain/orders/order.js';
import { type Html, html } from '../../html.js';
import type { PageView } from '../../page-view.js';
import type { Seller } from '../../seller.js';
import type { PaymentRow } from '../../store/payments-sql.js';
import type { Frame } from '../layout.js';

/** An order, and whether its product grants benefits. */
export type ShownOrder = Pick<PageView, 'order' | 'hasBenefits'>;

type Failed = Pick<PaymentRow, 'failure'>;

/** Returns the kind of a failed debit. Undefined if the payment has not failed, or the service did not debit it. */
const kindOf = ({ failure }: Failed): DeclineKind | undefined =>
  failure ? (declineKindOf(failure.declineKind) ?? deriveDeclineKind(failure.reason ?? '')) : undefined;

/** Returns why a payment failed, in plain words. The institution's own words are for operators. */
export function whyFailed({ texts }: Frame, payment: Failed): string | undefined {
  const kind = kindOf(payment);
  return kind && texts.declined[kind];
}

/** The remedy of a user for each kind of decline, besides waiting. */
const REMEDIES: Readonly<Record<DeclineKind, 'money' | 'card' | 'none'>> = {
  INSUFFICIENT_FUNDS: 'money',
  LIMIT_EXCEEDED: 'money',
  CARD_EXPIRED: 'card',
  CARD_LOST: 'card',
  ACCOUNT_CLOSED: 'card',
  AGREEMENT_ENDED: 'card',
  WRONG_DETAILS: 'card',
  SUSPECTED_FRAUD: 'card',
  NOT_PERMITTED: 'card',
  INSTITUTION_UNAVAILABLE: 'none',
  TECHNICAL: 'none',
  OTHER: 'card',
};

/** Renders why the latest payment failed, what happens next, and what the user can do. */
export function renderFailure(
  frame: Frame,
  { order, hasBenefits }: ShownOrder,
  latest: PaymentRow,
  seller: Seller,
): Html | undefined {
  if (latest.status !== 'FAIL' && latest.status !== 'FAIL_RETRY') return undefined;
  const { texts } = frame;
  const mode = texts.mode[order.settlementMode];
  const next = nextPayAt(order);
  const isRetried = latest.status === 'FAIL_RETRY' && next !== null;
  const sentences = [
    whyFailed(frame, latest),
    ...(isRetried
      ? [mode.triedAgain(texts.date(next), hasBenefits)]
      : consequences(frame, { order, hasBenefits }, next)),
    adviceOf(frame, order, latest, seller, isRetried),
  ].filter((one) => one !== undefined);
  return html`<section class="notice" aria-labelledby="failed"><h2 id="failed">${mode.failed(latest.cycleNo)}</h2>
<p>${sentences.map((one) => html`${one}${texts.gap}`)}</p>
${renderWays(frame, order, seller)}</section>
`;
}

function consequences({ texts }: Frame, { order, hasBenefits }: ShownOrder, next: number | null): (string | Html)[] {
  const { status, settlementMode } = order;
  const mode = texts.mode[settlementMode];
  if (status === 'TERMINATED') return [mode.neverBegan];
  if (status === 'UNSUBSCRIBED') return [mode.noBenefits(hasBenefits), texts.subscriptionEnded];
  return [mode.noBenefits(hasBenefits), ...(next === null ? [] : [mode.nextPeriod(texts.date(next))])];
}

/** The channel can replace only agreements that it shares. */
const canChangeCard = ({ shared, status }: Order, { shopUrl }: Seller): boolean =>
  shared && status === 'ACTIVE' && shopUrl !== undefined;

function adviceOf(
  { texts }: Frame,
  order: Order,
  latest: PaymentRow,
  seller: Seller,
  isRetried: boolean,
): string | Html | undefined {
  const kind = kindOf(latest);
  if (!kind) return undefined;
  if (order.status !== 'ACTIVE') return texts.advice.again(seller.nameHtml);
  const remedy = REMEDIES[kind];
  if (remedy === 'none') return isRetried ? texts.advice.nothing : undefined;
  if (remedy === 'money') return isRetried ? texts.advice.money : undefined;
  if (!order.shared) return texts.advice.resubscribe(seller.nameHtml);
  // The link to change the card says the same.
  return canChangeCard(order, seller) ? undefined : texts.advice.ask(seller.nameHtml);
}

/** Renders the links with which a user can do something about a failed payment. */
function renderWays({ texts }: Frame, order: Order, seller: Seller): Html | undefined {
  const { support, shopUrl } = seller;
  const shopText = canChangeCard(order, seller) ? texts.changeCard(seller.nameHtml) : texts.backTo(seller.nameHtml);
  const links = [
    shopUrl &&
      order.settlementMode === 'SVC_DEDUCT' &&
      html`<a class="link" href="${shopUrl}" rel="noopener noreferrer"><span>${shopText}</span></a>`,
    support &&
      html`<a class="link" href="${support.href}" rel="noopener noreferrer"><span>${texts.support[support.kind]} <bdi>${support.text}</bdi></span></a>`,
  ].flatMap((link) => (link ? [link] : []));
  return links.length === 0 ? undefined : html`<p class="ways-on">${links}</p>\n`;
}
