import { Ajv } from 'ajv';
import fastJson from 'fast-json-stringify';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type EndpointName } from '../src/endpoints.js';
import { AnyEnvelope, Envelope, envelopeText } from '../src/envelope.js';
import { Enum, Nullable, Time } from '../src/schemas/common.js';
import { OrderStatusChangedEvent, PaymentStatusChangedEvent } from '../src/schemas/events.js';
import type { AnySchema } from '../src/schemas/type.js';
import { data, orderEvent, paymentEvent } from './examples.js';

const ajv = new Ajv({ allErrors: false, allowUnionTypes: true });

function serialise(schema: AnySchema, value: unknown): string {
  return fastJson(schema as fastJson.Schema)(value);
}

const examples = Object.entries(data).flatMap(([name, values]) =>
  values.map((value, index) => ({ name: name as EndpointName, index, value })),
);

describe('response data', () => {
  it.each(examples)('$name, example $index, is valid and survives the serialiser whole', ({ name, value }) => {
    const schema = ENDPOINTS[name].response;
    expect(ajv.validate(schema, value)).toBe(true);
    expect(JSON.parse(serialise(schema, value))).toEqual(value);
    for (const field of schema.required ?? []) {
      const partial: Record<string, unknown> = { ...value };
      delete partial[field];
      expect(() => serialise(schema, partial), field).toThrow(field);
    }
  });

  it('keeps its fields in the order of the document', () => {
    expect(Object.keys(JSON.parse(serialise(ENDPOINTS['orders/query'].response, data['orders/query'][0])))).toEqual([
      ...['orderNo', 'externalOrderNo', 'createTime', 'orderStatus', 'orderSuccessTime', 'periodType', 'period'],
      ...['totalCycles', 'totalPaidAmountCent', 'totalRefundAmountCent', 'nextPayTime', 'unsubscribeTime'],
      ...['redeemUrl', 'paymentRecords'],
    ]);
  });
});

describe('events', () => {
  it.each([
    ['order', OrderStatusChangedEvent, orderEvent],
    ['payment', PaymentStatusChangedEvent, paymentEvent],
  ])('%s event holds and survives the serialiser', (_name, schema, event) => {
    expect(ajv.validate(schema, event)).toBe(true);
    expect(JSON.parse(serialise(schema, event))).toEqual(event);
  });

  it('does not confuse events', () => {
    expect(ajv.validate(OrderStatusChangedEvent, paymentEvent)).toBe(false);
    expect(ajv.validate(PaymentStatusChangedEvent, orderEvent)).toBe(false);
  });
});

describe('Nullable', () => {
  it('adds null and nothing else', () => {
    const time = ajv.compile(Nullable(Time));
    expect([null, '2026-01-31 08:09:10', 'x', 1, undefined].map((value) => time(value))).toEqual([
      ...[true, true, false, false, false],
    ]);
    const status = ajv.compile(Nullable(Enum(['A', 'B'])));
    expect([null, 'A', 'C', 1].map((value) => status(value))).toEqual([true, true, false, false]);
  });
});

describe('the envelope', () => {
  const awkward = 'a "quoted" \\ line\nand \u2028 🎈';

  it('is JSON with its fields in order, whatever the texts', () => {
    const text = envelopeText({ code: '400001' }, awkward, 'null', '"\\', '2026-01-31 08:09:10');
    const parsed = JSON.parse(text);
    expect(parsed).toEqual({
      code: '400001',
      message: awkward,
      data: null,
      requestId: '"\\',
      timestamp: '2026-01-31 08:09:10',
      success: false,
    });
    expect(Object.keys(parsed)).toEqual(['code', 'message', 'data', 'requestId', 'timestamp', 'success']);
    expect(ajv.validate(AnyEnvelope, parsed)).toBe(true);
  });

  it('is a success exactly with code 0', () => {
    const success = (code: string) => JSON.parse(envelopeText({ code }, '', 'null', 'r', 't')).success;
    expect([success('0'), success('00'), success(''), success('420001')]).toEqual([true, false, false, false]);
  });

  it('contains serialised data unchanged, or null', () => {
    const schema = Envelope(ENDPOINTS['auth/token'].response);
    const [token] = data['auth/token'];
    const parsed = JSON.parse(
      envelopeText({ code: '0' }, 'success', JSON.stringify(token), 'r', '2026-01-31 08:09:10'),
    );
    expect(parsed.data).toEqual(token);
    expect(ajv.validate(schema, parsed)).toBe(true);
    expect(ajv.validate(schema, { ...parsed, data: null })).toBe(true);
    expect(ajv.validate(schema, { ...parsed, data: {} })).toBe(false);
  });
});
