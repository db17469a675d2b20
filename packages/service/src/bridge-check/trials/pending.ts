import type { Attempt } from '../book.js';
import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import { describeSaid } from '../outcome-log.js';
import { type Notice, type NoticeListener, startNoticeListener } from './notice-listener.js';
import type { Check, Trial } from './trial.js';

const NOTICE_RULES = ['notice-sent', 'notice-signed', 'notice-again'] as const;

export const PENDING_TRIALS: readonly Trial[] = [
  {
    rules: ['pending', ...NOTICE_RULES],
    run: async (check) => {
      const { given, outcomes, findings } = check;
      const listener = await listen(check);
      try {
        const attempt = outcomes.newAttempt({ ...(given.pending && { institutionNo: given.pending }) });
        listener?.expect(attempt.attemptNo);
        const first = await outcomes.debit(attempt);
        if (first.word !== 'PENDING') throw new NotTried(`the debit was answered ${describeSaid(first)} at once`);
        const settled = await outcomes.untilSettled(attempt);
        const isKnown = findings.judge('pending', settled.word !== 'NOT_FOUND', 'the query was answered NOT_FOUND');
        if (!isKnown) throw new NotTried('the bridge does not know the pending debit');
        if (listener) judgeNotices(check, attempt, settled, await listener.notices());
      } finally {
        await listener?.stop();
      }
    },
  },
];

/**
 * Starts the listener. Returns undefined if none is wanted, or if its port cannot be opened. Then only the query is
 * checked.
 */
async function listen({ given, findings }: Check): Promise<NoticeListener | undefined> {
  try {
    return given.listen && (await startNoticeListener(given.listen, given));
  } catch (error) {
    if (!(error instanceof NotTried)) throw error;
    for (const rule of NOTICE_RULES) findings.leave(rule, error.message);
    return undefined;
  }
}

/** Expects a second notice, because the first was answered with 500. */
function judgeNotices({ findings }: Check, attempt: Attempt, settled: Said, notices: readonly Notice[]): void {
  for (const { flaw } of notices) findings.judge('notice-signed', flaw === undefined, flaw ?? '');
  const good = notices.filter(({ flaw }) => flaw === undefined);
  const [first, second] = good;
  if (!findings.judge('notice-sent', first !== undefined, `no notice of ${attempt.attemptNo} arrived`)) {
    for (const rule of NOTICE_RULES) findings.leave(rule, 'no notice arrived');
    return;
  }
  for (const { fields } of good) {
    const isSame = ['status', 'amountCent', 'decline'].every((name) => fields[name] === settled.fields[name]);
    const seen = `a notice says ${String(fields['status'])}, the query was answered ${describeSaid(settled)}`;
    findings.judge('notice-sent', isSame, seen);
  }
  const isNew = second !== undefined && second.nonce !== first?.nonce;
  findings.judge(
    'notice-again',
    isNew,
    second === undefined ? 'it was not sent again' : 'it was sent again with the same nonce',
  );
}
