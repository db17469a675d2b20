import type { Said } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import { describeSaid } from '../outcome-log.js';
import { expectDecline, judgeWord } from './debits.js';
import type { Check, Trial } from './trial.js';

export const BINDING_TRIALS: readonly Trial[] = [
  {
    rules: ['bind-code', 'bind-wrong-code', 'bind-confirm', 'bind-repeated'],
    run: async (check) => {
      const { given, findings, book } = check;
      const bindOrderNo = book.nextNumber('B');
      await sendCode(check, bindOrderNo);
      const reference = await sendCode(check, bindOrderNo);
      if (given.wrongSmsCode !== undefined) {
        const wrong = await confirm(check, bindOrderNo, reference, given.wrongSmsCode);
        judgeWord(findings, 'bind-wrong-code', wrong, 'WRONG_CODE', 'a wrong code');
      }
      if (given.smsCode === undefined) return;
      const bound = await confirm(check, bindOrderNo, reference, given.smsCode);
      if (!judgeWord(findings, 'bind-confirm', bound, 'BOUND', 'the code')) throw new NotTried('nothing was bound');
      check.bound = String(bound.fields['institutionNo']);
      const again = await confirm(check, bindOrderNo, reference, given.smsCode);
      const isSame = again.word === 'BOUND' && again.fields['institutionNo'] === check.bound;
      findings.judge('bind-repeated', isSame, `the repetition was answered ${describeSaid(again)}, or another number`);
    },
  },
];

async function sendCode({ given, caller, findings }: Check, bindOrderNo: string): Promise<unknown> {
  const { appId, bankCode = null, card } = given;
  const said = await caller.ask({ operation: 'bind-code', body: { appId, bindOrderNo, bankCode, card } });
  judgeWord(findings, 'bind-code', said, 'SENT', '/bind-code');
  if (said.word !== 'SENT') throw new NotTried('no code was sent');
  return said.fields['reference'] ?? null;
}

function confirm(check: Check, bindOrderNo: string, reference: unknown, smsCode: string): Promise<Said> {
  const body = { appId: check.given.appId, bindOrderNo, reference, smsCode };
  return check.caller.ask({ operation: 'bind-confirm', body });
}

export const CANCELLATION_TRIALS: readonly Trial[] = [
  {
    rules: ['cancel', 'cancel-debit'],
    run: async (check) => {
      const institutionNo = check.given.cancelAgreement ?? check.bound;
      if (institutionNo === undefined) throw new NotTried('nothing was bound that could be canceled');
      const first = await cancel(check, institutionNo);
      if (first.word === 'REFUSED') throw new NotTried(`the cancellation was answered ${describeSaid(first)}`);
      judgeWord(check.findings, 'cancel', await cancel(check, institutionNo), 'CANCELED', 'the repetition');
      await expectDecline(check, 'cancel-debit', 'AGREEMENT_INVALID', institutionNo);
    },
  },
];

function cancel({ caller, given, book }: Check, institutionNo: string): Promise<Said> {
  const body = { appId: given.appId, agreementNo: book.nextNumber('A'), institutionNo };
  return caller.ask({ operation: 'agreement-cancel', body });
}
