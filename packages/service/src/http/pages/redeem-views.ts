import type { FastifyReply } from 'fastify';
import { createBatcher } from '../../platform/db/sharing/batcher.js';
import { html } from '../../redeem/html.js';
import type { SignedLink } from '../../redeem/link.js';
import { pageAddress } from '../../redeem/page/addresses.js';
import { renderSwitch } from '../../redeem/page/layout.js';
import { renderListPage, renderPaymentsPage } from '../../redeem/page/list-pages.js';
import { RECEIPT_STYLE_SOURCE, renderReceipt } from '../../redeem/page/receipt.js';
import { renderRedeemPage } from '../../redeem/page/redeem-page.js';
import { backText } from '../../redeem/page-view.js';
import type { JustClaimed } from '../../redeem/store/benefits-sql.js';
import { readRedeemList } from '../../redeem/store/list-page-sql.js';
import { type AskedPage, listPageBenefits, type ReadPage, readRedeemPages } from '../../redeem/store/main-page-sql.js';
import { readReceipt, readRedeemPayments } from '../../redeem/store/payments-sql.js';
import type { BenefitList } from '../../redeem/store/ranked-benefits-sql.js';
import { type AskedAddress, readAsked, readBenefit, readDone } from './redeem-asked.js';
import type { RedeemContext } from './redeem-context.js';

const MAX_CYCLE_NO = 9_999;

export type RedeemViews = ReturnType<typeof createRedeemViews>;

/** Creates the pages that show an order: the main page, its lists of benefits, and its payments. */
export function createRedeemViews({ deps, callers, open, refuse, send }: RedeemContext) {
  const { clock } = deps;
  /** Reads pages. Pages that are opened at the same time share a statement. */
  const readPage = createBatcher<AskedPage, ReadPage | undefined>({
    maxBatch: 16,
    slots: 2,
    channelOf: ({ channelId }) => channelId,
    run: (asked) => readRedeemPages(deps.database, asked),
  });

  function sendRedeemPage(reply: FastifyReply, link: SignedLink | undefined, done?: JustClaimed, notice?: string) {
    const now = clock.now();
    return open(
      reply,
      link,
      async (db, channelId, orderNo, lang) => {
        const which = { channelId, orderNo, lang };
        const page = await readPage(which, callers.get(reply.request));
        return page && listPageBenefits(db, which, page, { now, done });
      },
      (frame, visited) => renderRedeemPage(frame, visited, { now, done, notice }),
      statusOf(notice),
    );
  }

  function sendList(
    reply: FastifyReply,
    list: BenefitList,
    { link, from, done: doneText }: Pick<AskedAddress, 'link' | 'from' | 'done'>,
    notice?: string,
  ) {
    const now = clock.now();
    const done = list === 'TO_CLAIM' ? readDone(doneText) : undefined;
    return open(
      reply,
      link,
      (db, channelId, orderNo, lang) =>
        readRedeemList(db, channelId, orderNo, { now, lang, list, from: readBenefit(from), done }),
      (frame, visited) => renderListPage(frame, visited, { list, now, done, notice }),
      statusOf(notice),
    );
  }

  return {
    sendRedeemPage,
    sendList,

    /** Sends the page from which the user claimed, with the outcome of the claim. */
    sendPlace(reply: FastifyReply, link: SignedLink, from: string | undefined, notice: string) {
      return readBenefit(from)
        ? sendList(reply, 'TO_CLAIM', { link, from, done: undefined }, notice)
        : sendRedeemPage(reply, link, undefined, notice);
    },

    sendReceipt(reply: FastifyReply) {
      const { link, from } = readAsked(reply.request);
      return open(
        reply,
        link,
        (db, channelId, orderNo) => readReceipt(db, channelId, orderNo, readCycleNo(from) ?? 0),
        (frame, visited) => {
          const ways = html`<a href="${pageAddress(frame, visited.link)}">${backText(frame.texts, visited.read)}</a> ${renderSwitch(frame)}`;
          const page = renderReceipt(frame, visited, ways);
          const { channel } = visited;
          return page ? send(reply, frame, page, { channel, styleSource: RECEIPT_STYLE_SOURCE }) : refuse(reply);
        },
      );
    },

    sendPayments(reply: FastifyReply) {
      const { link, from } = readAsked(reply.request);
      const fromCycleNo = readCycleNo(from) ?? MAX_CYCLE_NO;
      return open(
        reply,
        link,
        (db, channelId, orderNo) => readRedeemPayments(db, channelId, orderNo, fromCycleNo),
        renderPaymentsPage,
      );
    },
  };
}

const readCycleNo = (text = ''): number | undefined => (/^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined);

/** Returns the status of a page, by its notice of a refused claim. */
const statusOf = (notice: string | undefined): number => (notice === undefined ? 200 : 409);
