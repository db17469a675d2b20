import { type AgreementStatus, agreementStatuses } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import type { AgreementTrigger } from '../../src/subscriptions/domain/agreements/agreement-states.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { agreementOf } from '../orders/support.js';
import { bindCard, encrypted, mobileOf, sharedAgreement, sharedRequest, unique } from '../support/demo.js';

/** The interface's table of agreementStatus, with the decisions where it is silent. What is not named cannot be. */
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

/** The table, held against what requests and notices make of a row that is in each of the states. */
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
      bankCardNoEncrypted: encrypted(on.channel, '6222020000001234567'),
      certificateNoEncrypted: encrypted(on.channel, '110101199001011234'),
      realNameEncrypted: encrypted(on.channel, 'Somebody'),
      bankMobileEncrypted: encrypted(on.channel, '13800000001'),
      ...more,
    });
  }

  /** A binding of the user's, whatever its state, with what can be done to it. */
  async function binding() {
    const user = unique('user');
    const bindOrderNo = await bindCard(on.channel, user);
    const bindSameCard = () => bindCard(on.channel, user);
    const confirm = () => {
      const smsCodeEncrypted = encrypted(on.channel, '123456');
      return call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
    };
    return { agreementId: Number(bindOrderNo), bindSms: () => bindSms(user, { bindOrderNo }), confirm, bindSameCard };
  }

  /** An active order on a shared agreement. */
  async function order() {
    const request = sharedRequest(on.channel);
    const { orderNo } = (await call('orders/create', request)).data;
    const { agreement_id: agreementId } = await agreementOf(on.service.fresh.database, orderNo);
    return { agreementId, orderNo, request };
  }

  const confirming = (kind: 'bound' | 'wrong-code' | 'refused') => async (from: AgreementStatus) => {
    const { agreementId, confirm } = await binding();
    await put(agreementId, from);
    const { confirmBind } = on.institution;
    on.institution.confirmBind = async () => ({ kind, institutionNo: unique('inst'), reason: 'so' });
    await confirm();
    on.institution.confirmBind = confirmBind;
    return statusOf(agreementId);
  };

  const WAYS: readonly [what: string, on: AgreementTrigger, way: (from: AgreementStatus) => Promise<unknown>][] = [
    [
      'another bind-sms',
      'bind-sms',
      async (from) => {
        const { agreementId, bindSms: again } = await binding();
        await put(agreementId, from);
        await again();
        return statusOf(agreementId);
      },
    ],
    ['the right code', 'confirm-right', confirming('bound')],
    ['a wrong code', 'confirm-wrong', confirming('wrong-code')],
    ['a refused binding', 'confirm-refused', confirming('refused')],
    [
      'agreements/replace',
      'replaced',
      async (from) => {
        const { agreementId, orderNo, request } = await order();
        const { agreement_no } = await agreementOf(on.service.fresh.database, orderNo);
        await put(agreementId, from);
        const newSharedAgreement = sharedAgreement(on.channel, request.channelUserId);
        const reply = await call('agreements/replace', { orderNo, newSharedAgreement });
        expect([reply.code, reply.data?.oldAgreementNo]).toEqual(['0', agreement_no]);
        return statusOf(agreementId);
      },
    ],
    [
      'another binding of the same card',
      'bound-again',
      async (from) => {
        const { agreementId, bindSameCard } = await binding();
        await put(agreementId, from);
        await bindSameCard();
        return statusOf(agreementId);
      },
    ],
    [
      'orders/unsubscribe',
      'canceled',
      async (from) => {
        const { agreementId, orderNo } = await order();
        await put(agreementId, from);
        expect((await call('orders/unsubscribe', { orderNo })).code).toBe('0');
        return statusOf(agreementId);
      },
    ],
    [
      "the institution's notice",
      'canceled',
      async (from) => {
        const { agreementId, request } = await order();
        await put(agreementId, from);
        const institutionNo = request.sharedAgreement.sharedAgreementNo;
        expect((await on.notice({ kind: 'agreement-canceled', institutionNo, reason: 'closed' })).status).toBe(200);
        return statusOf(agreementId);
      },
    ],
    [
      'a decline that says it is invalid',
      'canceled',
      async (from) => {
        on.institution.onDebit = async () => ({ kind: 'pending' });
        const { agreementId, orderNo } = await order();
        await put(agreementId, from);
        const outcome = { kind: 'declined', decline: 'agreement-invalid', reason: 'closed' } as const;
        expect((await on.notice({ kind: 'debit', attemptNo: `${orderNo}000101`, outcome })).status).toBe(200);
        return statusOf(agreementId);
      },
    ],
    [
      "an operator's cancellation",
      'canceled',
      async (from) => {
        const { agreementId } = await order();
        await put(agreementId, from);
        const { operator, clock } = on.service;
        const canceling = cancelAgreement({ ...operator, clock }, { agreementNo: `AG${agreementId}` });
        if (from === 'BIND_SUCCESS' || from === 'CANCELED') await canceling;
        else await expect(canceling).rejects.toThrow(`is ${from}`);
        return statusOf(agreementId);
      },
    ],
  ];

  it.each(
    WAYS.flatMap(([what, trigger, way]) =>
      agreementStatuses.map((from) => [from, what, TABLE[from][trigger] ?? from, way] as const),
    ),
  )('%s after %s: %s', async (from, _what, to, way) => {
    expect(await way(from)).toBe(to);
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
