import { ENDPOINTS } from '@perennial/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeCanonical } from '../../src/http/requests/body-meaning.js';
import { readJsonObject } from '../../src/http/requests/json-body.js';
import { resetCredentials, rotateDataKey } from '../../src/operator/provisioning/channels.js';
import { boundRequest, stageOfFile } from '../orders/stage-of-file.js';
import { rowCounts } from '../orders/support.js';
import { type CallOptions, type ChannelClient, channelClient } from '../support/channel-client.js';
import {
  bindCard,
  collectRequest,
  encrypted,
  encryptedCard,
  mobileOf,
  respelled,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';

/** Tests that a body which a channel builds again, after it has lost the first bytes, is the same request. */
const { on, channel, service, sql, create } = stageOfFile();

const canonical = (json: string) =>
  writeCanonical(ENDPOINTS['orders/create'].request, Buffer.from(json), readJsonObject(Buffer.from(json), undefined))
    .text;

/** A JSON value. A number is a text of digits and an exponent of ten. */
type Json = null | boolean | string | { digits: string; e: number } | Json[] | { fields: [string, Json][] };

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).filter((one) => !one.includes('\0')),
  fc.constantFrom('toString', 'constructor', '1', ':1', '"', '\\', '[-1e4', '\u0001'),
);
const number = fc.record({
  digits: fc.oneof(fc.constantFrom('0', '1', '10', '9007199254740993', '-17976931348623157'), fc.bigInt().map(String)),
  e: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -400, max: 400 })),
});
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    text,
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(
        fc.tuple(
          text.filter((name) => name !== '__proto__'),
          tie('value'),
        ),
        {
          maxLength: 4,
          selector: ([name]) => name,
        },
      )
      .map((fields) => ({ fields })),
  ),
}));
/** Numbers that choose a spelling, repeated as often as needed. */
const choices = fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 });

function spell(value: Json, chosen: readonly number[]): string {
  let used = 0;
  const choose = (limit: number) => (chosen[used++ % chosen.length] ?? 0) % limit;
  const space = () => ['', ' ', '\n\t', '\r '][choose(4)];
  const spellText = (given: string) =>
    `"${[...given]
      .map((char) => {
        if (choose(2) === 0) return JSON.stringify(char).slice(1, -1);
        const units = char.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
        return units.map((unit) => `\\u${choose(2) ? unit.toUpperCase() : unit}`).join('');
      })
      .join('')}"`;
  const spellNumber = ({ digits, e }: { digits: string; e: number }) => {
    const [sign, plain] = digits.startsWith('-') ? ['-', digits.slice(1)] : ['', digits];
    const zeros = choose(4);
    const padded = plain + '0'.repeat(zeros);
    const point = choose(4);
    const whole = point >= padded.length ? '0' : padded.slice(0, padded.length - point).replace(/^0+(?=.)/, '');
    const fraction = point === 0 ? '' : `.${padded.slice(-point).padStart(point, '0')}`;
    const exponent = e - zeros + point;
    if (exponent === 0 && choose(2)) return `${sign}${whole}${fraction}`;
    return `${sign}${whole}${fraction}${'eE'[choose(2)]}${exponent < 0 ? '-' : ['', '+', '+0'][choose(3)]}${Math.abs(exponent)}`;
  };
  const spellValue = (given: Json): string => {
    if (given === null || typeof given === 'boolean') return String(given);
    if (typeof given === 'string') return spellText(given);
    if (Array.isArray(given)) return `[${given.map((item) => space() + spellValue(item) + space())}]`;
    if ('digits' in given) return spellNumber(given);
    const first = choose(given.fields.length + 1);
    const fields = [...given.fields.slice(first), ...given.fields.slice(0, first)];
    const twice = fields.slice(0, choose(2)).map(([name]): [string, Json] => [name, 'overwritten']);
    const all = [...twice, ...fields].map(([name, one]) => `${space()}${spellText(name)}${space()}:${spellValue(one)}`);
    return `{${all.join(',')}${space()}}`;
  };
  return spellValue(value);
}

/** Returns a text that is equal for equal values, by exact arithmetic. */
function identify(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(identify)}]`;
  if ('digits' in value) return String(BigInt(value.digits) * 10n ** BigInt(value.e + 400));
  return `{${value.fields.map(([name, one]) => `${JSON.stringify(name)}:${identify(one)}`).sort()}}`;
}

const inBody = (json: string) => `{"unknown":${json}}`;

describe('the canonical text of a body', () => {
  it('is the same for any spelling of a value', () => {
    fc.assert(
      fc.property(anyValue, choices, choices, (value, one, other) => {
        expect(canonical(inBody(spell(value, one)))).toBe(canonical(inBody(spell(value, other))));
      }),
      { numRuns: 2_000 },
    );
  });

  it('differs for different values', () => {
    fc.assert(
      fc.property(anyValue, anyValue, choices, (one, other, chosen) => {
        const isEqual = canonical(inBody(spell(one, chosen))) === canonical(inBody(spell(other, chosen)));
        expect(isEqual).toBe(identify(one) === identify(other));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['1', '1.0', '1e0', '10E-1', '0.001e+3'],
    ['0', '-0', '0.0', '-0e99'],
    ['1e400', '10e399'],
    ['[1,"a"]', ' [ 1.0 , "\\u0061" ] '],
    ['{"a":1,"b":[]}', '{"b":[],"a":2,"a":1}'],
  ])('is the same: %s', (first, ...others) => {
    for (const other of others) expect(canonical(inBody(other)), other).toBe(canonical(inBody(first)));
  });

  it.each([
    ['1', '"1"', 'true', '-1', '1.00000000000000000001', '1e1'],
    ['9007199254740992', '9007199254740993'],
    ['0.3', '0.30000000000000004', '0.30000000000000001'],
    ['1e400', '1e401', '-1e400', 'null', '0'],
    ['1e99999999999999999999', '1e99999999999999999998', '1e-99999999999999999999'],
    ['[1,2]', '[2,1]', '[12]', '["1,2"]', '[[1,2]]'],
    ['{}', '{"a":null}', '[]', '""', '{"toString":null}'],
  ])('differs: %s', (...values) => {
    expect(new Set(values.map((value) => canonical(inBody(value)))).size).toBe(values.length);
  });

  it('of a megabyte of digits takes linear time', () => {
    const zeros = '0'.repeat(1_000_000);
    for (const json of [`1${zeros}1`, `0.${zeros}1`, `${zeros.slice(0, 0)}1e1${zeros}`]) canonical(inBody(json));
  });
});

interface Case {
  readonly name: string;
  /** Returns a request of a new user. */
  body(): Promise<Record<string, unknown>>;
  /** A change of the body that makes another request. */
  readonly other: (body: Record<string, unknown>) => object;
}

const smsBody = (channelUserId: string) => ({
  channelUserId,
  mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
  ...encryptedCard(channel),
});
const CASES: readonly [string, Case][] = [
  [
    'agreements/bind-sms',
    {
      name: 'agreements/bind-sms',
      body: async () => smsBody(unique('user')),
      other: () => ({ realNameEncrypted: encrypted(channel, '李四') }),
    },
  ],
  [
    'agreements/bind-confirm',
    {
      name: 'agreements/bind-confirm',
      async body() {
        const { data } = await channel.call('agreements/bind-sms', smsBody(unique('user')));
        return { bindOrderNo: data.bindOrderNo, smsCodeEncrypted: encrypted(channel, '123456') };
      },
      other: () => ({ smsCodeEncrypted: encrypted(channel, '123457') }),
    },
  ],
  [
    'orders/create in mode A.1',
    {
      name: 'orders/create',
      async body() {
        const user = unique('user');
        const mobileEncrypted = encrypted(channel, mobileOf(user));
        return boundRequest(await bindCard(channel, user), { mobileEncrypted, period: 1, totalCycles: 12 });
      },
      other: () => ({ mobileEncrypted: encrypted(channel, '13999999999') }),
    },
  ],
  [
    'orders/create in mode A.2',
    {
      name: 'orders/create',
      body: async () => sharedRequest(channel, { unknown: { list: [1, 2], mobileEncrypted: 'x' } }),
      other: ({ sharedAgreement }) => ({
        sharedAgreement: { ...(sharedAgreement as object), bankMobileEncrypted: encrypted(channel, '13800000002') },
      }),
    },
  ],
  [
    'orders/create in mode B',
    {
      name: 'orders/create',
      // Longer than the bodies whose text is hashed in turn.
      body: async () => collectRequest(channel, { unknown: 'x'.repeat(20_000), channelAgreementRef: null }),
      other: () => ({ unknown: 'x'.repeat(20_001) }),
    },
  ],
  [
    'agreements/replace',
    {
      name: 'agreements/replace',
      async body() {
        const channelUserId = unique('user');
        const { orderNo } = await create(sharedRequest(channel, { channelUserId }));
        return { orderNo, newSharedAgreement: sharedAgreement(channel, channelUserId), retryFailedNow: true };
      },
      other: () => ({ retryFailedNow: false }),
    },
  ],
  [
    'orders/unsubscribe',
    {
      name: 'orders/unsubscribe',
      async body() {
        const { orderNo } = await create(collectRequest(channel));
        return { orderNo, reason: 'Zürich 好的 🙂' };
      },
      other: () => ({ reason: 'Zürich 好的' }),
    },
  ],
];

/** Returns a client of the channel with its current secrets and a new token. */
const clientWith = (secrets: object): ChannelClient =>
  channelClient(service.baseUrl, { ...channel.credentials, ...secrets }, () => service.clock.now());

async function effects() {
  // Reading and counting requests stores rows of its own.
  const { nonces: _, undecryptable_fields: __, ...counts } = await rowCounts(service.fresh.database);
  return { counts, debits: on.institution.debits.length, confirms: on.institution.confirms.length };
}

describe.each(CASES)('a resend of %s', (_what, { name, body, other }) => {
  async function sent() {
    const first = await body();
    const idempotencyKey = unique('key');
    const reply = await channel.call(name, first, { idempotencyKey });
    expect(reply.code, reply.text).toBe('0');
    const before = await effects();
    return {
      first,
      resend: (more: CallOptions = {}, by: ChannelClient = channel) =>
        by.call(name, first, { idempotencyKey, ...more }),
      async expectReplayed(raw: string, by: ChannelClient = channel) {
        const again = await by.call(name, {}, { raw, idempotencyKey });
        expect([again.code, again.headers['idempotency-replayed']], again.text).toEqual(['0', 'true']);
        expect(again.data).toEqual(reply.data);
        expect(again.headers['x-svc-warning']).toBe(reply.headers['x-svc-warning']);
        expect(await effects()).toEqual(before);
      },
    };
  }

  it('built again gets the first answer, and has no effect', async () => {
    const { first, expectReplayed } = await sent();
    await expectReplayed(respelled(channel, first));
  });

  it('409001: with another value', async () => {
    const { first, resend, expectReplayed } = await sent();
    for (const changed of [other(first), { another: null }]) {
      const reply = await resend({ raw: respelled(channel, { ...first, ...changed }) });
      expect(reply.code).toBe('409001');
      expect(reply.headers['x-svc-warning'] ?? '').not.toContain('ciphertext');
    }
    await expectReplayed(respelled(channel, first));
  });

  it('409001: of a row of an earlier version in another spelling; the same bytes get the answer', async () => {
    const { first, resend, expectReplayed } = await sent();
    await sql('update idempotency set meaning = null');
    expect((await resend({ raw: respelled(channel, first) })).code).toBe('409001');
    await expectReplayed(JSON.stringify(first));
  });
});

describe('a resend with encrypted fields', () => {
  const counted = async () =>
    (
      await sql<{ failures: number }>(
        'select coalesce(sum(failures), 0)::integer as failures from undecryptable_fields',
      )
    )[0]?.failures ?? 0;

  it('400002: with an unreadable field; counts once, is not stored', async () => {
    const first = sharedRequest(channel);
    const options = { idempotencyKey: unique('key') };
    const { data } = await channel.call('orders/create', first, options);
    const before = await counted();
    const unreadable = { realNameEncrypted: 'svc_aes_v1:AAAA', bankMobileEncrypted: 'svc_aes_v1:AAAA' };
    const body = { ...first, sharedAgreement: { ...first.sharedAgreement, ...unreadable } };
    const reply = await channel.call('orders/create', body, options);
    expect(reply.code).toBe('400002');
    expect(reply.envelope.message).toMatch(/^sharedAgreement\.bankMobileEncrypted cannot be decrypted/);
    expect(await counted()).toBe(before + 1);
    const again = await channel.call('orders/create', {}, { ...options, raw: respelled(channel, first) });
    expect(again.data).toEqual(data);
    expect(on.institution.debits).toHaveLength(1);
  });

  it('is recognised after the aesKey was reset and while the data key is replaced', async () => {
    const first = sharedRequest(channel);
    const options = { idempotencyKey: unique('key') };
    const { data } = await channel.call('orders/create', first, options);
    const { appId } = channel.credentials;
    const { aesKey = '' } = await resetCredentials(service.operator, { appId, names: ['aesKey'] });
    await rotateDataKey(service.operator, { appId });
    const fresh = clientWith({ aesKey });
    const { mobileEncrypted: _, sharedAgreement: card, ...plain } = first;
    const { channelUserId, paymentChannelCode, sharedAgreementNo } = card as Record<string, string>;
    const mobileEncrypted = encrypted(fresh, mobileOf(first.channelUserId));
    const rebuilt = {
      sharedAgreement: { ...encryptedCard(fresh), channelUserId, paymentChannelCode, sharedAgreementNo },
      mobileEncrypted,
      ...plain,
    };
    // The first bytes are recognised too, although nobody can decrypt them any more.
    for (const body of [rebuilt, first]) {
      const again = await fresh.call('orders/create', body, options);
      expect([again.code, again.headers['idempotency-replayed']], again.text).toEqual(['0', 'true']);
      expect(again.data).toEqual(data);
    }
    expect(on.institution.debits).toHaveLength(1);
  });
});
