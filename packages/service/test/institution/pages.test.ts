import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { FAULTS } from '@perennial/reference-peers';
import { requestSignText, sha256Hex, signRequest } from '@perennial/wire';
import { OPERATIONS, responseSignText, signResponse } from '@perennial/wire/bridge';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RULES } from '../../src/bridge-check/rules.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { ROOT, readPage, tableRows } from '../docs/pages.js';
import { faultyProxy } from '../kit/faulty-proxy.js';
import { attached, BEHALF, debitOf, gatewayTo, noticeEndpoint } from './support.js';

async function openApi() {
  return JSON.parse(await readFile(path.join(ROOT, 'docs/bridge.openapi.json'), 'utf8'));
}

describe('docs/bridge.md', () => {
  it('has the table of faults, and no other', async () => {
    const [, section = ''] = (await readPage('docs/bridge.md')).split(/^### Faults$/m);
    const rows = tableRows(section.split(/^### /m)[0] ?? '');
    expect(rows).toEqual(FAULTS.map(({ tail, name, does }) => [tail, name, does]));
  });

  it('has the heading that each rule of check-bridge names', async () => {
    const page = await readPage('docs/bridge.md');
    for (const { heading } of RULES) expect(page).toContain(`\n## ${heading}\n`);
  });

  it('has every operation, and no other', async () => {
    const [, section = ''] = (await readPage('docs/bridge.md')).split(/^## Operations$/m);
    const paths = tableRows(section.split(/^## /m)[0] ?? '').map(([name = '']) => name);
    expect(paths.filter((name) => name.startsWith('/'))).toEqual(OPERATIONS.map((name) => `/${name}`));
  });

  it('signs its example as the code does', async () => {
    const page = await readPage('docs/bridge.md');
    const key = Buffer.from(/Key `([^`]+)`/.exec(page)?.[1] ?? '', 'base64');
    const [request = '', signText = '', answer = '', answerText = ''] = [
      ...(page.split('### Example')[1] ?? '').matchAll(/```\n([\s\S]*?)\n```/g),
    ].map(([, text]) => text);
    const [timestamp = '', nonce = '', requestId = ''] = signText.split('\n').slice(4);
    const parts = {
      ...{ path: '/debit', query: '', bodySha256: sha256Hex(Buffer.from(request)) },
      ...{ timestamp, nonce, requestId },
    };
    expect(signText).toBe(requestSignText(parts));
    expect(page).toContain(`\`${signRequest(parts, key)}\``);
    const debit = JSON.parse(request);
    expect(debit.attemptNo).toBe(formatAttemptNo(Number(debit.orderNo), debit.cycleNo, 1));
    expect(JSON.parse(answer).attemptNo).toBe(debit.attemptNo);
    expect(responseSignText('/debit', nonce, Buffer.from(answer))).toBe(answerText);
    expect(page).toContain(`\`${signResponse('/debit', nonce, Buffer.from(answer), key)}\``);
  });
});

describe('docs/bridge.openapi.json', () => {
  it('has every operation, and no other', async () => {
    expect(Object.keys((await openApi()).paths)).toEqual(OPERATIONS.map((name) => `/${name}`));
  });

  it('describes the messages that both sides really send', async () => {
    const document = await openApi();
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document, 'bridge');
    const valid = (name: string, value: unknown) => {
      const validate = ajv.getSchema(`bridge#/components/schemas/${name}`);
      expect(validate?.(value), `${name} ${JSON.stringify(value)} ${JSON.stringify(validate?.errors)}`).toBe(true);
    };
    const endpoint = await noticeEndpoint();
    const { institution } = await attached({ noticeUrl: endpoint.url });
    const between = await faultyProxy(institution.url, {});
    onTestFinished(between.close);
    const gateway = gatewayTo(between.url);

    const card = { bankCardNo: '6222', certificateNo: '1', certType: 'ID_CARD', realName: 'Li', bankMobile: '138' };
    await gateway.sendBindCode({ ...BEHALF, bindOrderNo: '5', bankCode: 'ICBC', card });
    await gateway.sendBindCode({
      ...BEHALF,
      bindOrderNo: '5',
      bankCode: undefined,
      card: { ...card, bankMobile: '9' },
    });
    for (const smsCode of ['000000', '1'])
      await gateway.confirmBind({ ...BEHALF, bindOrderNo: '5', reference: undefined, smsCode });
    await gateway.confirmBind({ ...BEHALF, bindOrderNo: '6', reference: 'x', smsCode: '1' });
    for (const tail of ['8888', '0001', '0002', '0003', '0004', '0005', '0020', '0021']) {
      await gateway.debit(debitOf(`d${tail}`, tail));
      await gateway.queryDebit(debitOf(`d${tail}`, tail));
    }
    await gateway.queryDebit(debitOf('never'));
    for (const tail of ['8888', '0001', '0020']) {
      await gateway.refund({ ...BEHALF, refundNo: `r${tail}`, attemptNo: `d${tail}`, amountCent: 5 });
      await gateway.queryRefund({ ...BEHALF, refundNo: `r${tail}` });
    }
    await gateway.queryRefund({ ...BEHALF, refundNo: 'never' });
    for (const tail of ['8888', '0022']) {
      await gateway.cancelAgreement({ ...BEHALF, agreementNo: '1', institutionNo: `SHARED-${tail}` });
    }
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(new Date());
    for await (const line of gateway.statement(today))
      valid('StatementLine', { ...line, kind: line.kind.toUpperCase() });

    expect(new Set(between.seen.map(({ endpoint }) => endpoint))).toEqual(
      new Set(OPERATIONS.map((name) => `/${name}`)),
    );
    for (const { endpoint, body, answer = '' } of between.seen) {
      const operation = endpoint.slice(1);
      const request = JSON.parse(body);
      const name = operation.replace(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());
      valid(`${name}Request`, request);
      valid(`${name}Answer`, JSON.parse(answer));
      // Every request is on behalf of a channel, except the statement and the handshake.
      const isForChannel = operation !== 'statement' && operation !== 'handshake';
      expect(request).toMatchObject({ currency: 'CNY', ...(isForChannel ? BEHALF : {}) });
    }
    for (const { body } of await endpoint.count(3)) valid('Notice', JSON.parse(body.toString()));
  });
});
