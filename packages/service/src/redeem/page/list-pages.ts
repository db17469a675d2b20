import { countBytes, type Html, html, isolated, takeFitting } from '../html.js';
import {
  backText,
  groupByPeriod,
  hasBenefits,
  isClaimed,
  isGone,
  keepWholeGroups,
  type PageBenefit,
  productNameOf,
  toDone,
  toPageBenefits,
} from '../page-view.js';
import { sellerOf } from '../seller.js';
import type { JustClaimed } from '../store/benefits-sql.js';
import type { RedeemList } from '../store/list-page-sql.js';
import type { RedeemProduct } from '../store/order-sql.js';
import { PAGE_ENTRIES } from '../store/page-sizes.js';
import type { RedeemPayments } from '../store/payments-sql.js';
import type { BenefitList } from '../store/ranked-benefits-sql.js';
import type { Texts } from '../texts/en.js';
import type { Visit } from '../visit.js';
import { benefitText, type PagePath, pageAddress } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { GIFT } from './parts/benefit-item.js';
import { renderClaimForm, renderGroups } from './parts/claimable-groups.js';
import { codeBytes, type PictureRoom, renderCodes } from './parts/codes.js';
import { renderGoneItem } from './parts/gone.js';
import { renderIllustration } from './parts/illustrations.js';
import { renderJustDone } from './parts/just-done.js';
import { renderNotice } from './parts/notice.js';
import { renderPayment } from './parts/payments.js';
import { renderSmallPrint } from './parts/subscription-panel.js';

/** The path of each list's page. */
export const LIST_PATHS = { TO_CLAIM: '/benefits', CLAIMED: '/codes', PAST: '/past' } as const;

/** Byte limits: of the entries of a list, and of codes without their QR codes. */
const MAX_ENTRY_BYTES = 26_000;
const MAX_CODE_BYTES = 18_000;
/** Byte limit of the benefits just claimed, with QR codes. */
const MAX_DONE_BYTES = 18_000;
/** Byte limit of a page's content, without the surrounding HTML document. */
const MAX_BYTES = 45_000;

interface ListPage {
  /** The result of the user's last action. */
  readonly told?: Html;
  readonly title: string;
  /** True if the list is empty. The page then has no heading above it. */
  readonly isEmpty?: boolean;
  readonly path: PagePath;
  readonly content: Html;
  /** The first entry of the next page. */
  readonly next: string | undefined;
  /** True if the page does not begin with the list's first entry. */
  readonly isLater: boolean;
}

export interface ListOptions {
  readonly list: BenefitList;
  readonly now: number;
  /** The benefits just claimed on this page (`done`), and the message about a refused claim (`notice`). */
  readonly done: JustClaimed | undefined;
  readonly notice: string | undefined;
}

/** Renders one list of benefits, beginning with the requested benefit. */
export function renderListPage(frame: Frame, visit: Visit<RedeemList>, options: ListOptions): string {
  const { list, now, done, notice } = options;
  const benefits = toPageBenefits(visit, now);
  const shown = benefits.slice(0, PAGE_ENTRIES);
  const room: PictureRoom = { bytes: MAX_DONE_BYTES, isOpen: true };
  const justDone = renderJustDone(frame, visit.link, toDone(visit, visit.read.done, done, now), room);
  const told = html`${renderNotice(notice)}${justDone}`;
  const mostBytes = Math.min(MAX_ENTRY_BYTES, MAX_BYTES - countBytes(told));
  const { content, count } = LIST_CONTENTS[list](frame, visit, shown, { now, mostBytes });
  const next = benefits[count];
  return renderList(frame, visit, {
    told,
    title: listTitle(frame.texts, list),
    isEmpty: benefits.length === 0,
    path: LIST_PATHS[list],
    content: benefits.length === 0 ? renderEmpty(frame.texts, list) : content,
    next: next && benefitText(next),
    isLater: (visit.read.benefits[0]?.rank ?? 1) > 1,
  });
}

interface ListRoom {
  readonly now: number;
  /** Byte limit of the entries, without the benefits just claimed. */
  readonly mostBytes: number;
}

interface ListContent {
  readonly content: Html;
  /** The number of entries. */
  readonly count: number;
}

const LIST_CONTENTS: Readonly<
  Record<BenefitList, (frame: Frame, visit: Visit, shown: readonly PageBenefit[], room: ListRoom) => ListContent>
> = {
  TO_CLAIM(frame, visit, shown, room) {
    const { groups, count } = renderGroups(frame, keepWholeGroups(groupByPeriod(shown)), room);
    return { content: html`${renderClaimForm(frame, visit, shown[0])}\n${groups}`, count };
  },
  CLAIMED(frame, { link }, shown) {
    let bytes = MAX_CODE_BYTES;
    const codes = shown.filter(isClaimed).filter((one, index) => {
      bytes -= codeBytes(frame, link, one);
      return index === 0 || bytes >= 0;
    });
    return { content: renderCodes(frame, link, codes, { bytes: MAX_BYTES, isOpen: true }), count: codes.length };
  },
  PAST(frame, _visit, shown, { mostBytes }) {
    const items = takeFitting(shown.filter(isGone), mostBytes, (one) => renderGoneItem(frame, one));
    return { content: html`<ul class="list">\n${items}</ul>`, count: items.length };
  },
};

const listTitle = (texts: Texts, list: BenefitList): string =>
  ({ TO_CLAIM: texts.toClaim, CLAIMED: texts.yourCodes, PAST: texts.noLonger })[list];

function renderEmpty(texts: Texts, list: BenefitList): Html {
  const says = { TO_CLAIM: texts.nothingToClaim, CLAIMED: texts.noCodes, PAST: texts.nothingPast }[list];
  return html`<div class="nothing">${renderIllustration('empty')}<p class="empty">${says}</p></div>`;
}

/** Renders one page of an order's periods, from a given period backwards. */
export function renderPaymentsPage(frame: Frame, visit: Visit<RedeemPayments>): string {
  const { order, payments } = visit.read;
  const mode = frame.texts.mode[order.settlementMode];
  const shown = payments.slice(0, PAGE_ENTRIES);
  const items = takeFitting(shown, MAX_ENTRY_BYTES, (payment) =>
    renderPayment(frame, visit.link, { order, hasBenefits: hasBenefits(visit.read) }, payment),
  );
  const note = mode.historyNote?.(sellerOf(visit.channel).nameHtml);
  const next = payments[items.length];
  return renderList(frame, visit, {
    title: mode.history,
    path: '/payments',
    content: html`${note && html`<p class="meta">${note}</p>\n`}<ul class="list">\n${items}</ul>`,
    next: next && String(next.cycleNo),
    isLater: (payments[0]?.cycleNo ?? order.cycleNo) < order.cycleNo,
  });
}

function renderList(frame: Frame, { channel, link, read }: Visit<RedeemProduct>, page: ListPage): string {
  const { texts } = frame;
  const seller = sellerOf(channel);
  const product = productNameOf(read, texts.language);
  const to = (more: Readonly<Record<string, string>>) => pageAddress(frame, link, page.path, more);
  const next =
    page.next && html`<a class="button button-quiet" href="${to({ from: page.next })}">${texts.showMore}</a>`;
  const first = page.isLater && html`<a class="link" href="${to({})}">${texts.fromStart}</a>`;
  const main = html`<main class="page page-narrow">
${GIFT}
<p class="up"><a class="link" href="${pageAddress(frame, link)}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M10 3 5 8l5 5"/></svg>${backText(texts, read)}</a></p>
${page.told}<section class="panel"${page.isEmpty ? undefined : html` aria-labelledby="list"`}>
<h1 class="list-of name">${isolated(product)}</h1>
${page.isEmpty ? undefined : html`<h2 class="list-title" id="list">${page.title}</h2>`}
${page.content}
<p class="actions">${next}${first || undefined}</p>
</section></main>`;
  const smallPrint = renderSmallPrint(frame, read.order);
  return renderDocument(frame, {
    title: `${page.title} · ${product} · ${seller.name}`,
    seller,
    main,
    hasWayBack: true,
    smallPrint,
  });
}
