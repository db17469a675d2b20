import type { Logger } from 'pino';
import type { Notice, RawNotice } from '../gateways/gateway.js';
import { type Cell, cellOfNumber, isOfOtherCell } from '../platform/cells.js';
import { Unavailable } from '../platform/db/database.js';
import { parseAttemptNo } from '../subscriptions/domain/orders/order-numbers.js';

/** Marks a notice that another cell has passed on. It is not passed on again. */
export const PASSED_HEADER = 'x-svc-passed-by-cell';
/** In the answer to a passed notice: whether the cell knows what the notice is about. */
export const KNOWN_HEADER = 'x-svc-known-to-cell';

const TIMEOUT_MS = 8_000;

/** Headers of the connection, which the new request sets itself. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'expect']);

interface NoticePasserDeps {
  readonly cell: number;
  readonly cells: readonly Cell[];
  readonly log: Logger;
}

/** What is left to do with a notice. */
export interface Passed {
  /** True if the notice concerns this cell, perhaps among others. */
  readonly isOurs: boolean;
  /** True if another cell knows what the notice is about, or is responsible for reporting that nobody does. */
  readonly isKnownElsewhere: boolean;
}

/**
 * Passes a notice to the cell that its number names, as the institution sent it, so that the cell checks the signature
 * too. The end of an agreement has no number of ours, so it is passed to all other cells. Throws Unavailable if a cell
 * does not take it, so that the institution sends it again.
 */
export function createNoticePasser({ cell, cells, log }: NoticePasserDeps) {
  const others = cells.filter((one) => one.cell !== cell);

  /** Returns whether the other cell knows what the notice is about. */
  async function pass(to: number, { path, headers, body }: RawNotice): Promise<boolean> {
    const url = others.find((one) => one.cell === to)?.url;
    if (url === undefined) {
      log.error({ cell: to }, 'CELLS_FILE lacks the "url" of a cell: its notices cannot be passed on');
      throw new Unavailable(`the URL of cell ${to} is unknown`);
    }
    const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !OWN_HEADERS.has(name));
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...(Object.fromEntries(passed) as Record<string, string>), [PASSED_HEADER]: `${cell}` },
      body: new Uint8Array(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((err: unknown) => {
      log.warn({ err, cell: to }, 'a notice could not be passed on');
      throw new Unavailable(`cell ${to} does not answer`, { cause: err });
    });
    await answer.body?.cancel();
    if (answer.status === 200) return answer.headers.get(KNOWN_HEADER) === 'true';
    log.warn({ cell: to, status: answer.status }, 'a notice that was passed on was refused');
    throw new Unavailable(`cell ${to} answered ${answer.status}`);
  }

  return async (notice: Notice, raw: RawNotice): Promise<Passed> => {
    if (raw.headers[PASSED_HEADER] !== undefined) {
      return { isOurs: true, isKnownElsewhere: notice.kind === 'agreement-canceled' };
    }
    if (others.length === 0) return { isOurs: true, isKnownElsewhere: false };
    if (notice.kind === 'agreement-canceled') {
      const known = await Promise.all(others.map((one) => pass(one.cell, raw)));
      return { isOurs: true, isKnownElsewhere: known.includes(true) };
    }
    const { orderNo = 0 } = parseAttemptNo(notice.attemptNo) ?? {};
    if (!isOfOtherCell(cells, cell, orderNo)) return { isOurs: true, isKnownElsewhere: false };
    await pass(cellOfNumber(orderNo) ?? cell, raw);
    return { isOurs: false, isKnownElsewhere: true };
  };
}

export type PassNotice = ReturnType<typeof createNoticePasser>;
