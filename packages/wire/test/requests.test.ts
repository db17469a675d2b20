import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type EndpointName, endpoints } from '../src/endpoints.js';
import { requests } from './examples.js';

const ajv = new Ajv({ allErrors: false, allowUnionTypes: true });
const validators = new Map<EndpointName, ValidateFunction>(
  (Object.keys(ENDPOINTS) as EndpointName[]).map((name) => [name, ajv.compile(ENDPOINTS[name].request)]),
);

function errorOf(name: EndpointName, body: unknown): string | undefined {
  const validate = validators.get(name);
  if (validate === undefined) throw new Error(`no validator for ${name}`);
  if (validate(body)) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.keyword}`;
}

const examples = Object.entries(requests).flatMap(([name, bodies]) =>
  bodies.map((body, index) => ({ name: name as EndpointName, index, body })),
);

describe('requests that are accepted', () => {
  it('has an example for every endpoint', () => {
    expect(Object.keys(requests).sort()).toEqual(endpoints.map((endpoint) => endpoint.name).sort());
  });

  it.each(examples)('$name, example $index, also with an unknown field', ({ name, body }) => {
    expect(errorOf(name, body)).toBeUndefined();
    const { check } = ENDPOINTS[name] as { check?: (body: unknown) => void };
    expect(() => check?.(body)).not.toThrow();
    expect(errorOf(name, { ...body, unknownField: { anything: [1] } })).toBeUndefined();
  });
});

describe('a body that is not an object', () => {
  it.each(endpoints)('$name refuses it', ({ name }) => {
    for (const body of [null, [], 'text', 1, true]) expect(errorOf(name as EndpointName, body)).toBe(' type');
  });
});

/** The paths of all required fields by endpoint, as the interface document marks them. */
const required: { [Name in EndpointName]?: string[] } = {
  'auth/token': ['grantType', 'appId'],
  'agreements/bind-sms': [
    'channelUserId',
    'mobileEncrypted',
    'bankCardNoEncrypted',
    'certificateNoEncrypted',
    'realNameEncrypted',
    'bankMobileEncrypted',
  ],
  'agreements/bind-confirm': ['bindOrderNo', 'smsCodeEncrypted'],
  'agreements/replace': ['newSharedAgreement'],
  'orders/create': ['settlementMode', 'externalOrderNo', 'productCode'],
  'orders/list': ['channelUserId'],
  'payments/query': ['paymentOrderNo'],
  'sandbox/payments/refund': ['paymentOrderNo'],
  'sandbox/events/pull': ['path'],
};

describe('required fields', () => {
  const requiredOf = (schema: object) => [...((schema as { required?: string[] }).required ?? [])].sort();

  it('are exactly these', () => {
    for (const { name, request } of endpoints) {
      expect(requiredOf(request), name).toEqual([...(required[name as EndpointName] ?? [])].sort());
    }
  });

  it('of a shared agreement are all but certType', () => {
    const { newSharedAgreement } = ENDPOINTS['agreements/replace'].request.properties;
    for (const schema of [newSharedAgreement, ENDPOINTS['orders/create'].request.properties.sharedAgreement]) {
      const fields = Object.keys(schema.properties).filter((name) => name !== 'certType');
      expect(fields).toHaveLength(7);
      expect(requiredOf(schema)).toEqual(fields.sort());
    }
  });
});

describe('a field of a wrong type or value', () => {
  it.each(endpoints)('$name: no field takes a value of another type', ({ name, request }) => {
    const { properties } = request as { properties: Record<string, { type?: string }> };
    for (const [field, { type }] of Object.entries(properties)) {
      // Skips channelAgreementRef: its schema allows any value, because mode A ignores the field.
      if (type === undefined) continue;
      for (const value of [null, type === 'array' ? {} : [], 1.5, type === 'string' ? 7 : '7']) {
        const body = { ...requests[name as EndpointName][0], [field]: value };
        expect(errorOf(name as EndpointName, body)).toBe(`/${field} type`);
      }
    }
  });

  const rows: [EndpointName, string, unknown, string][] = [
    ['auth/token', 'grantType', 'password', 'enum'],
    ['auth/token', 'appId', '', 'minLength'],
    ['products/list', 'page', 0, 'minimum'],
    ['products/list', 'page', 2_147_483_648, 'maximum'],
    ['products/list', 'size', 0, 'minimum'],
    ['products/list', 'size', 101, 'maximum'],
    ['payment-channels/list', 'size', 101, 'maximum'],
    ['payment-channels/list', 'cursor', '', 'minLength'],
    ['payment-channels/list', 'cursor', 'x'.repeat(1025), 'maxLength'],
    ['agreements/bind-sms', 'channelUserId', '', 'minLength'],
    ['agreements/bind-sms', 'paymentChannelCode', '', 'minLength'],
    ['agreements/bind-sms', 'certType', '', 'minLength'],
    ['agreements/user-data', 'page', -1, 'minimum'],
    ['orders/create', 'settlementMode', 'MODE_A', 'enum'],
    ['orders/create', 'externalOrderNo', '', 'minLength'],
    ['orders/list', 'cycleType', 'BOTH', 'enum'],
    ['orders/list', 'size', 1000, 'maximum'],
    ['payments/query', 'paymentOrderNo', '', 'minLength'],
    ['events/list', 'eventType', '*', 'enum'],
    ['events/list', 'deliveryStatus', 'SENT', 'enum'],
    ['events/list', 'size', 101, 'maximum'],
    ['events/replay', 'eventIds', [], 'minItems'],
    ['events/replay', 'eventIds', Array.from({ length: 101 }, () => '4711'), 'maxItems'],
    ['events/replay', 'to', '', 'minLength'],
    ['sandbox/orders/advance', 'cycles', 0, 'minimum'],
    ['sandbox/orders/advance', 'cycles', 10_000, 'maximum'],
    ['sandbox/orders/advance', 'to', '', 'minLength'],
    ['sandbox/orders/advance', 'outcomes', Array.from({ length: 10_000 }, () => 'SUCCESS'), 'maxItems'],
    ['sandbox/payments/refund', 'amountCent', 0, 'minimum'],
    ['sandbox/events/pull', 'path', '', 'minLength'],
    ['sandbox/events/pull', 'size', 101, 'maximum'],
    ['sandbox/events/pull', 'cursor', '', 'minLength'],
    ['sandbox/channel/set', 'overlapHours', 169, 'maximum'],
    ['sandbox/channel/set', 'encryptedFields', 'v3', 'enum'],
    ['sandbox/channel/set', 'upcomingNoticeDays', 31, 'maximum'],
  ];

  it.each(rows)('%s: %s = %j is refused by its %s', (...[name, field, value, keyword]) => {
    expect(errorOf(name, { ...requests[name][0], [field]: value })).toBe(`/${field} ${keyword}`);
  });
});

describe('an outcome to rehearse', () => {
  it('is one of six', () => {
    const [example] = requests['sandbox/orders/advance'];
    expect(errorOf('sandbox/orders/advance', { ...example, outcomes: ['LATER'] })).toBe('/outcomes/0 enum');
  });
});

/** Returns the paths of all string fields that are not enums. */
function stringFields(schema: unknown, path: readonly string[] = []): (readonly string[])[] {
  const { type, properties, enum: values } = schema as { type?: string; properties?: object; enum?: unknown };
  if (type === 'string' && values === undefined) return [path];
  return Object.entries(properties ?? {}).flatMap(([field, inner]) => stringFields(inner, [...path, field]));
}

function withValue(body: object, [field, ...rest]: readonly string[], value: unknown): object {
  if (field === undefined) return body;
  const inner = (body as Record<string, unknown>)[field] ?? requests['agreements/replace'][0].newSharedAgreement;
  return { ...body, [field]: rest.length === 0 ? value : withValue(inner as object, rest, value) };
}

describe('the length of a string', () => {
  const rows = endpoints.flatMap(({ name, request }) =>
    stringFields(request).map((path) => ({ name: name as EndpointName, path, at: path.join('.') })),
  );

  it('is checked for every string', () => {
    expect(rows).toHaveLength(74);
  });

  it.each(rows)('$name: $at accepts 1024 code points and not 1025', ({ name, path }) => {
    const example = requests[name][0];
    for (const char of ['x', '你', '🎈']) {
      expect(errorOf(name, withValue(example, path, char.repeat(1024)))).toBeUndefined();
      expect(errorOf(name, withValue(example, path, char.repeat(1025)))).toBe(`/${path.join('/')} maxLength`);
    }
  });

  it.each(rows.filter(({ at }) => !at.endsWith('Encrypted')))('$name: $at refuses what cannot be stored', (row) => {
    for (const text of ['a\u0000b', '\ud800', 'a\udc00b']) {
      expect(errorOf(row.name, withValue(requests[row.name][0], row.path, text))).toBe(
        `/${row.path.join('/')} pattern`,
      );
    }
  });
});
