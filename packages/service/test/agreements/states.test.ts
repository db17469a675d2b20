import { type AgreementStatus, agreementStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import type { AgreementTrigger } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf } from '../orders/support.js';
import {
  bindCard,
  encrypted,
  encryptedCard,
  mobileOf,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';

/**
 * The interface's table of agreementStatus, with our decisions where the interface is silent. Transitions that are not
 * listed are impossible.
 */
const TABLE: Readonly<Record<AgreementStatus | 'none', Readonly<Partial<Record<AgreementTrigger, AgreementStatus>>>>> =
  {
    none: { 'bind-sms': 'BIND_ING', shared: 'BIND_SUCCESS' },
    BIND_ING: {
      'bind-sms': 'BIND_ING',
      'confirm-right': 'BIND_SUCCESS',
      'confirm-wrong': 'BIND_ING',
      'confirm-refused': 'BIND_FAIL',
    },
    BIND_FAIL: { 'bind-sms': 'BIND_ING' },
    BIND_SUCCESS: { replaced: 'REPLACED', 'bound-again': 'REPLACED', canceled: 'CANCELED' },
    CANCELED: {},
    REPLACED: {},
  };

/** Checks the table against the effect of requests and notices on a stored agreement in each status. */
describe('agreementStatus of a row', () => {
  const { on, sql } = stageOfFile();

  const call = (name: string, body: object) => on.channel.call(name, body);
  const statusOf = async (agreementId: number) => {
    const [row] = await sql<{ status: AgreementStatus }>('select status from agreements where agreement_id = $1', [
      agreementId,
    ]);
    return row?.status;
  };
  const put = (agreementId: number, status: AgreementStatus) =>
    sql(
      `update agreements set status = $2, code_sent_at = to_timestamp($3::double precision / 1000)
       where agreement_id = $1`,
      [agreementId, status, on.service.clock.now()],
    );

  function bindSms(channelUserId: string, more: object = {}) {
    return call('agreements/bind-sms', {
      channelUserId,
      mobileEncrypted: encrypted(on.channel, mobileOf(channelUserId)),
      ...encryptedCard(on.channel),
      ...more,
    });
  }

  /** Creates an active order on a shared agreement. */
  async function order() {
    const request = sharedRequest(on.channel);
    const { orderNo } = (await call('orders/create', request)).data;
    const { agreement_id: agreementId } = await agreementOf(on.service.fresh.database, orderNo);
    return { agreementId, orderNo, request };
  }

  /** An agreement, and an action to run after the agreement was set to a status. */
  interface Way {
    readonly agreementId: number;
    act(from: AgreementStatus): Promise<unknown>;
  }
  const ofBinding = (act: (user: string, bindOrderNo: string) => Promise<unknown>) => async (): Promise<Way> => {
    const user = unique('user');
    const bindOrderNo = await bindCard(on.channel, user);
    return { agreementId: Number(bindOrderNo), act: () => act(user, bindOrderNo) };
  };
  const ofOrder =
    (act: (made: Awaited<ReturnType<typeof order>>, from: AgreementStatus) => Promise<unknown>) =>
    async (): Promise<Way> => {
      const made = await order();
      return { agreementId: made.agreementId, act: (from) => act(made, from) };
    };
  const confirming = (kind: 'bound' | 'wrong-code' | 'refused') =>
    ofBinding(async (_user, bindOrderNo) => {
      const { confirmBind } = on.institution;
      on.institution.confirmBind = async () => ({ kind, institutionNo: unique('inst'), reason: 'so' });
      const smsCodeEncrypted = encrypted(on.channel, '123456');
      await call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
      on.institution.confirmBind = confirmBind;
    });

  const WAYS: Readonly<Record<string, readonly [AgreementTrigger, () => Promise<Way>]>> = {
    'another bind-sms': ['bind-sms', ofBinding((user, bindOrderNo) => bindSms(user, { bindOrderNo }))],
    'the right code': ['confirm-right', confirming('bound')],
    'a wrong code': ['confirm-wrong', confirming('wrong-code')],
    'a refused binding': ['confirm-refused', confirming('refused')],
    'another binding of the same card': ['bound-again', ofBinding((user) => bindCard(on.channel, user))],
    'agreements/replace': [
      'replaced',
      ofOrder(async ({ agreementId, orderNo, request }) => {
        const newSharedAgreement = sharedAgreement(on.channel, request.channelUserId);
        const reply = await call('agreements/replace', { orderNo, newSharedAgreement });
        expect([reply.code, reply.data?.oldAgreementNo]).toEqual(['0', `AG${agreementId}`]);
      }),
    ],
    'orders/unsubscribe': [
      'canceled',
      ofOrder(async ({ orderNo }) => expect((await call('orders/unsubscribe', { orderNo })).code).toBe('0')),
    ],
    "the institution's notice": [
      'canceled',
      ofOrder(async ({ request }) => {
        const institutionNo = request.sharedAgreement.sharedAgreementNo;
        expect((await on.notice({ kind: 'agreement-canceled', institutionNo, reason: 'closed' })).status).toBe(200);
      }),
    ],
    'a decline that says it is invalid': [
      'canceled',
      async () => {
        on.institution.onDebit = async () => ({ kind: 'pending' });
        const outcome = { kind: 'declined', decline: 'agreement-invalid', reason: 'closed' } as const;
        return ofOrder(async ({ orderNo }) =>
          expect((await on.notice({ kind: 'debit', attemptNo: `${orderNo}000101`, outcome })).status).toBe(200),
        )();
      },
    ],
    "an operator's cancellation": [
      'canceled',
      ofOrder(async ({ agreementId }, from) => {
        const { operator, clock } = on.service;
        const canceling = cancelAgreement({ ...operator, clock }, { agreementNo: `AG${agreementId}` });
        if (from === 'BIND_SUCCESS' || from === 'CANCELED') await canceling;
        else await expect(canceling).rejects.toThrow(`is ${from}`);
      }),
    ],
  };

  it.each(
    Object.entries(WAYS).flatMap(([what, [trigger, way]]) =>
      agreementStatuses.map((from) => [from, what, TABLE[from][trigger] ?? from, way] as const),
    ),
  )('%s after %s: %s', async (from, _what, to, way) => {
    const { agreementId, act } = await way();
    await put(agreementId, from);
    await act(from);
    expect(await statusOf(agreementId)).toBe(to);
  });

  it('none: BIND_ING after bind-sms, BIND_SUCCESS after a creation or a replacement that shares it', async () => {
    const { bindOrderNo } = (await bindSms(unique('user'))).data;
    expect(await statusOf(bindOrderNo)).toBe(TABLE.none['bind-sms']);
    const { agreementId, orderNo, request } = await order();
    expect(await statusOf(agreementId)).toBe(TABLE.none.shared);
    const newSharedAgreement = sharedAgreement(on.channel, request.channelUserId);
    expect((await call('agreements/replace', { orderNo, newSharedAgreement })).code).toBe('0');
    expect((await agreementOf(on.service.fresh.database, orderNo)).status).toBe(TABLE.none.shared);
  });
});
