import { expect, it } from 'vitest';
import { dump } from '../operator/support.js';
import {
  agreementsOfFile,
  bindSmsBody,
  confirmBody,
  confirmCode,
  createShared,
  encrypt,
  person,
  sendCode,
} from './support.js';

const { service, channel } = agreementsOfFile({ environment: 'production' });

/** Returns the forms in which a text could be in a table or a log line. */
const spellings = (text: string) => [
  text,
  JSON.stringify(text).slice(1, -1),
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('base64url'),
];

it('no card, document, name, mobile, code or agreement number is in a table or log line in plain text', async () => {
  const [bound, failed, crashed, refused, shared] = [person(), person(), person(), person(), person()];
  const codes = ['735190246', '846201357', '957312468'];

  const first = await channel.call('agreements/bind-sms', bindSmsBody(channel, bound), { idempotencyKey: 'a' });
  const { bindOrderNo } = first.data;
  service.gateway.onConfirm = async () => ({ kind: 'wrong-code', reason: 'no' });
  expect((await confirmCode(channel, bindOrderNo, codes[0])).data.agreementStatus).toBe('BIND_FAIL');
  service.gateway.onConfirm = async () => {
    throw new Error(`a bug that quotes "${codes[1]}" and ${bound.bankCardNo}`);
  };
  expect((await confirmCode(channel, bindOrderNo, codes[1])).code).toBe('500001');
  service.gateway.reset();
  const confirmation = confirmBody(channel, bindOrderNo, codes[2]);
  const confirmed = await channel.call('agreements/bind-confirm', confirmation, { idempotencyKey: 'b' });
  expect(confirmed.data.agreementStatus).toBe('BIND_SUCCESS');

  service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
  expect((await sendCode(channel, failed)).data.smsStatus).toBe('SEND_FAIL');
  service.gateway.onSend = async ({ card }) => {
    throw new Error(`a bug that quotes "${card.realName}" and ${card.bankMobile}`);
  };
  const lost = await channel.call('agreements/bind-sms', bindSmsBody(channel, crashed), { idempotencyKey: 'c' });
  expect(lost.code).toBe('500001');
  service.gateway.reset();
  expect((await sendCode(channel, { ...refused, mobile: bound.mobile })).code).toBe('410011');
  const badCard = { bankCardNoEncrypted: encrypt(channel, `x${refused.bankCardNo}`) };
  expect((await sendCode(channel, refused, badCard)).code).toBe('400001');

  const order = await createShared(channel, shared, { sharedAgreementNo: 'SHARED-735190' });
  expect(order.code, order.text).toBe('0');
  const listed = await channel.call('agreements/user-data', {
    bankCardNoEncrypted: encrypt(channel, bound.bankCardNo),
    certificateNoEncrypted: encrypt(channel, bound.certificateNo),
  });
  expect(listed.data.bankDataList).toHaveLength(1);

  const people = [bound, failed, crashed, refused, shared];
  const secrets = [
    ...codes,
    'SHARED-735190',
    `inst-${bindOrderNo}`,
    ...people.flatMap(({ mobile, bankCardNo, certificateNo, realName, bankMobile }) => [
      mobile,
      mobile.slice(1),
      bankCardNo,
      certificateNo,
      realName,
      bankMobile,
    ]),
  ];
  const places = { tables: await dump(service.fresh.database), log: service.log.text() };
  // Checks that known texts are found in the tables and in the log. Otherwise the search would prove nothing.
  expect(places.tables).toContain(bound.channelUserId);
  expect(places.tables).toContain(`AG${bindOrderNo}`);
  expect(places.log).toContain('agreements/bind-sms');
  expect(places.log).toContain('a bug that quotes');
  for (const [place, text] of Object.entries(places)) {
    const found = secrets.filter((secret) => spellings(secret).some((spelling) => text.includes(spelling)));
    expect(found, `in the ${place}`).toEqual([]);
  }
});
