import { nextPayAt } from '../../subscriptions/domain/orders/order.js';
import { createFormToken } from '../form-token.js';
import { type Html, html, isolated } from '../html.js';
import type { RedeemEnding } from '../page-sql.js';
import { type Seller, sellerOf } from '../seller.js';
import { toShownText } from '../shown-text.js';
import type { Texts } from '../texts/en.js';
import type { UnsubscribeOutcome } from '../unsubscribe.js';
import type { Visit } from '../visit.js';
import { pageAddress, renderLinkInputs } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { type Illustration, renderIllustration } from './parts/illustrations.js';
import { renderNotice } from './parts/notice.js';
import { renderSmallPrint } from './parts/subscription-panel.js';

/** The action for which the form's token is issued. */
export const UNSUBSCRIBE_ACTION = 'unsubscribe';

/** The result of an attempt to unsubscribe. A text that is not four digits does not count as an attempt. */
export type UnsubscribeTry = UnsubscribeOutcome | { readonly kind: 'not-digits' };

/** Renders the form for the last four digits of the mobile, or the reason why the subscription cannot be ended here. */
export function renderUnsubscribePage(frame: Frame, visit: Visit<RedeemEnding>, tried?: UnsubscribeTry): string {
  const seller = sellerOf(visit.channel);
  const { title, heading, drawing, content, leave } = chooseContent(frame, visit, seller, tried);
  const main = html`<main class="page page-narrow"><section class="panel${drawing ? ' message' : ''}">
${drawing && renderIllustration(drawing)}<h1 class="name">${heading}</h1>
${content}
<p class="keep"><a class="button button-quiet" href="${pageAddress(frame, visit.link)}">${leave}</a></p>
</section></main>`;
  const smallPrint = renderSmallPrint(frame, visit.read.order);
  return renderDocument(frame, { title: `${title} · ${seller.name}`, seller, main, hasWayBack: true, smallPrint });
}

interface PageContent {
  readonly title: string;
  readonly heading: string | Html;
  readonly drawing?: Illustration;
  readonly content: Html;
  /** The text of the link back. */
  readonly leave: string;
}

function chooseContent(
  frame: Frame,
  visit: Visit<RedeemEnding>,
  seller: Seller,
  tried: UnsubscribeTry | undefined,
): PageContent {
  const { texts } = frame;
  const { order, hasMobile, productName } = visit.read;
  const leave = texts.back;
  const cannot =
    order.status === 'ACTIVE'
      ? hasMobile
        ? undefined
        : texts.noMobile(seller.nameHtml)
      : texts.cannotEnd[order.status];
  if (cannot !== undefined) {
    const content = html`<p class="says">${cannot}</p>`;
    return { title: texts.end, heading: texts.end, drawing: 'ended', content, leave };
  }
  if (tried?.kind === 'locked') {
    const content = html`<p role="alert">${texts.locked(Math.ceil(tried.seconds / 60), seller.nameHtml)}</p>`;
    return { title: texts.lockedTitle, heading: texts.lockedTitle, drawing: 'locked', content, leave };
  }
  return {
    title: texts.endTitlePlain,
    heading: texts.endTitle(isolated(toShownText(productName))),
    content: renderQuestion(frame, visit, seller, tried),
    leave: texts.keep,
  };
}

/** Renders the consequences of unsubscribing, then the error of the last attempt, then the form. */
function renderQuestion(
  frame: Frame,
  { channel, link, read }: Visit<RedeemEnding>,
  seller: Seller,
  tried: UnsubscribeTry | undefined,
): Html {
  const { texts } = frame;
  const wrong = tried && tryText(texts, tried);
  const told = wrong === undefined ? undefined : html`<div id="told">${renderNotice(wrong)}</div>`;
  const token = createFormToken(channel.callbackSecret, link, UNSUBSCRIBE_ACTION);
  return html`<ul class="means">${meaningOf(frame, link.exp, read, seller).map((line) => html`<li>${line}</li>`)}</ul>
${told}<form class="ask" method="post" action="${frame.root}/redeem/unsubscribe">${renderLinkInputs(link)}
<input type="hidden" name="token" value="${token}">
<label for="digits">${texts.digits}</label>
<p class="meta" id="hint">${texts.digitsHint(seller.nameHtml)}</p>
<input id="digits" name="digits" type="text" inputmode="numeric" autocomplete="off" required minlength="4" maxlength="4" pattern="[0-9０-９]{4}" aria-describedby="${told ? 'told hint' : 'hint'}"${told ? html` aria-invalid="true"` : undefined}>
<button class="button button-danger">${texts.endConfirm}</button>
</form>`;
}

/** Returns the consequences: what the user keeps and until when, what ends, and that ending is final. */
function meaningOf({ texts, money }: Frame, exp: number, read: RedeemEnding, seller: Seller): (string | Html)[] {
  const { order, toClaim, lastDeadline, codes, lastExpiresAt } = read;
  const next = nextPayAt(order);
  const planned = next === null ? undefined : { amount: money(order.amountCent), date: texts.date(next) };
  const present = exp * 1000;
  const isShort = lastExpiresAt !== null && lastExpiresAt > present;
  return [
    ...(lastDeadline === null ? [] : [texts.endKeepsUnclaimed(toClaim, texts.dateTime(lastDeadline))]),
    ...(codes === 0 ? [] : [texts.endKeepsCodes(isShort ? undefined : texts.dateTime(present))]),
    ...(isShort ? [texts.endLink(texts.dateTime(lastExpiresAt), texts.dateTime(present))] : []),
    texts.mode[order.settlementMode].endNoMore(planned, seller.nameHtml),
    texts.endForGood,
  ];
}

function tryText(texts: Texts, tried: UnsubscribeTry): string | undefined {
  if (tried.kind === 'not-digits') return texts.digitsForm;
  return tried.kind === 'wrong' ? texts.digitsWrong(tried.triesLeft) : undefined;
}
