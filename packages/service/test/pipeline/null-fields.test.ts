import { randomUUID } from 'node:crypto';
import { endpoints } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { expectEnvelope } from '../support/envelope.js';

const { channel } = serviceOfFile({}, demoChannel);

interface Shape {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}
type Body = Record<string, unknown>;

/** Returns a value of the field's type. */
function sampleOf({ type, enum: values, ...shape }: Shape): unknown {
  if (values) return values[0];
  if (type === 'object')
    return Object.fromEntries((shape.required ?? []).map((name) => [name, sampleOf(at(shape, name))]));
  return type === 'integer' ? 1 : type === 'boolean' ? true : type === 'array' ? [] : 'x';
}
const at = ({ properties = {} }: Shape, name: string): Shape => properties[name] ?? {};

/** Returns for each field of a request its path, and whether it is required. Omits the fields of optional objects. */
function fieldsOf(shape: Shape, path: readonly string[] = []): { path: readonly string[]; isRequired: boolean }[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => [
    { path: [...path, name], isRequired: shape.required?.includes(name) ?? false },
    ...(inner.type === 'object' && shape.required?.includes(name) ? fieldsOf(inner, [...path, name]) : []),
  ]);
}
function withNull(body: Body, [name = '', ...rest]: readonly string[]): Body {
  return { ...body, [name]: rest.length === 0 ? null : withNull(body[name] as Body, rest) };
}

const cases = endpoints.flatMap(({ name, request }) =>
  fieldsOf(request as Shape).map(({ path, isRequired }) => ({ name, request: request as Shape, path, isRequired })),
);

describe('null in a field of a request', () => {
  it.each(cases.filter(({ isRequired }) => !isRequired))('$name: $path counts as absent', async (one) => {
    const body = sampleOf(one.request) as Body;
    const absent = await channel.call(one.name, body);
    const sent = await channel.call(one.name, withNull(body, one.path));
    expect([sent.code, sent.envelope.message]).toEqual([absent.code, absent.envelope.message]);
  });

  it.each(cases.filter(({ isRequired }) => isRequired))('400001: $name: $path is required', async (one) => {
    const reply = await channel.call(one.name, withNull(sampleOf(one.request) as Body, one.path));
    expectEnvelope(reply.envelope, '400001');
    expect(reply.envelope.message).toBe(`${one.path.join('.')} is required`);
  });

  it('0: orders are created with null in all optional fields', async () => {
    const terms = { periodType: null, period: null, totalCycles: null };
    const nothing = { bindOrderNo: null, sharedAgreement: null, channelAgreementRef: null, unheardOf: null };
    const collected = await channel.call('orders/create', { ...nothing, ...terms, ...collectRequest(channel) });
    expect(collected.code).toBe('0');
    const alone = await channel.call('orders/create', collectRequest(channel, { channelAgreementRef: null }));
    expect(alone.code).toBe('0');
    const channelUserId = unique('user');
    const agreement = { ...sharedAgreement(channel, channelUserId), certType: null };
    const shared = sharedRequest(channel, { channelUserId, sharedAgreement: agreement });
    expect((await channel.call('orders/create', { ...shared, ...terms, bindOrderNo: null })).code).toBe('0');
  });

  it('400001: an item of a list cannot be null', async () => {
    const reply = await channel.call('events/replay', { eventIds: [null] });
    expect(reply.envelope).toMatchObject({ code: '400001', message: 'eventIds.0 must be string' });
  });

  it('a resend without the null is the same request', async () => {
    const { orderNo } = (await channel.call('orders/create', collectRequest(channel))).data;
    const idempotencyKey = randomUUID();
    const ask = (body: object) => channel.call('orders/unsubscribe', { orderNo, ...body }, { idempotencyKey });
    expect((await ask({ reason: null })).code).toBe('0');
    expect((await ask({ reason: null })).headers['idempotency-replayed']).toBe('true');
    expect((await ask({})).headers['idempotency-replayed']).toBe('true');
  });
});
