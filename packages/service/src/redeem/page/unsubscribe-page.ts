import { nextPayAt, type Order } from '../../subscriptions/domain/orders/order.js';
import { createFormToken } from '../form-token.js';
import { type Html, html } from '../html.js';
import { formatYuan, type Texts } from '../texts/texts.js';
import type { UnsubscribeOutcome } from '../unsubscribe.js';
import type { Visit } from '../visit.js';
import { type Frame, renderDocument } from './layout.js';
import { linkEndText, pageAddress, renderLinkInputs, renderNotice } from './redeem-page.js';

/** The action that a token for unsubscribing is valid for. */
export const UNSUBSCRIBE_ACTION = 'unsubscribe';

/** The result of a try. A text that is not four digits does not count as a try. */
export type UnsubscribeTry = UnsubscribeOutcome | { readonly kind: 'not-digits' };

/** Asks for the digits of the mobile, or says why the subscription cannot be ended here. */
export function renderUnsubscribePage(frame: Frame, visit: Visit, tried?: UnsubscribeTry): string {
  const { title, content, leave } = chooseContent(frame, visit, tried);
  const body = html`<main class="page page-narrow"><section class="panel">
<h1>${title}</h1>
${content}
<p class="keep"><a class="button button-quiet" href="${pageAddress(frame, visit.link)}">${leave}</a></p>
</section></main>`;
  return renderDocument(frame, title, body);
}

interface PageContent {
  readonly title: string;
  readonly content: Html;
  /** The text of the link back. */
  readonly leave: string;
}

function chooseContent(frame: Frame, visit: Visit, tried: UnsubscribeTry | undefined): PageContent {
  const { texts } = frame;
  const { order, hasMobile } = visit.read;
  const leave = texts.back;
  const cannot = order.status !== 'ACTIVE' ? texts.cannotEnd[order.status] : hasMobile ? undefined : texts.noMobile;
  if (cannot !== undefined) return { title: texts.end, content: html`<p>${cannot}</p>`, leave };
  if (tried?.kind === 'locked') {
    return { title: texts.lockedTitle, content: renderNotice(texts.locked(Math.ceil(tried.seconds / 60))), leave };
  }
  return { title: texts.endTitle, content: renderQuestion(frame, visit, tried), leave: texts.keep };
}

/** First what unsubscribing means, then what was wrong with the last answer, then the question. */
function renderQuestion(frame: Frame, { channel, link, read }: Visit, tried: UnsubscribeTry | undefined): Html {
  const { texts } = frame;
  const wrong = tried && tryText(texts, tried);
  const told = wrong === undefined ? undefined : html`<div id="told">${renderNotice(wrong)}</div>`;
  const token = createFormToken(channel.callbackSecret, link, UNSUBSCRIBE_ACTION);
  return html`<ul class="means"><li>${texts.endWhatStays(linkEndText(texts, link))}</li><li>${noMoreText(texts, read.order)}</li><li>${texts.endForGood}</li></ul>
${told}<form class="ask" method="post" action="${frame.root}/redeem/unsubscribe">${renderLinkInputs(link)}
<input type="hidden" name="token" value="${token}">
<label for="digits">${texts.digits}</label>
<p class="meta" id="hint">${texts.digitsHint}</p>
<input id="digits" name="digits" type="text" inputmode="numeric" autocomplete="off" required minlength="4" maxlength="4" pattern="[0-9０-９]{4}" aria-describedby="${told ? 'told hint' : 'hint'}"${told ? html` aria-invalid="true"` : undefined}>
<button class="button button-danger">${texts.endConfirm}</button>
</form>`;
}

/** In mode B the provider takes the payments, so this page can promise nothing about them. */
function noMoreText(texts: Texts, order: Order): string {
  if (order.settlementMode === 'CHANNEL_COLLECT') return texts.endNoMorePeriods;
  const next = nextPayAt(order);
  return next === null
    ? texts.endNoMorePayments
    : texts.endNoMore(formatYuan(order.amountCent), texts.date.format(next));
}

function tryText(texts: Texts, tried: UnsubscribeTry): string | undefined {
  if (tried.kind === 'not-digits') return texts.digitsForm;
  return tried.kind === 'wrong' ? texts.digitsWrong(tried.triesLeft) : undefined;
}
