import {
  decryptField,
  encryptField,
  endpoints,
  eventTypes,
  HEADERS,
  sha256Hex,
  signRequest,
  signWebhook,
  verifyRedeemLink,
} from '@perennial/wire';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../../developers/src/content/examples.js';
import { STORY_TIME } from '../../../developers/src/content/story/cast.js';
import { EVENT_EXAMPLES } from '../../../developers/src/content/story/events.js';
import { encryptFields } from '../../../developers/src/encrypted-examples.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { demoChannel } from '../support/demo.js';

/** Checks that /developers/openapi.json is correct and that the service conforms to it. */

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into freely
type Document = any;

const { service, channel } = serviceOfFile({}, (made) => {
  made.clock.set(Date.parse(`${STORY_TIME.replace(' ', 'T')}+08:00`));
  return demoChannel(made);
});
let document: Document;
beforeAll(async () => {
  const { appId } = channel.credentials;
  await setCallback(service.operator, { appId, url: 'https://shop.example/events' });
  document = await (await fetch(`${service.baseUrl}/developers/openapi.json`)).json();
});

const operations = (): [string, Document][] =>
  Object.entries<Document>(document.paths).flatMap(([path, { post }]) => (post ? [[path, post]] : []));

describe('the document', () => {
  it('is OpenAPI 3.1, with every endpoint and every event', async () => {
    const { valid, errors } = await new Validator().validate(document);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(document.openapi).toBe('3.1.0');
    const others = ['/developers/refused/{requestId}'];
    expect(Object.keys(document.paths)).toEqual([...endpoints.map(({ path }) => path), ...others]);
    expect(Object.keys(document.webhooks)).toEqual(eventTypes);
    expect(new Set(operations().map(([, { operationId }]) => operationId)).size).toBe(endpoints.length);
  });

  it('has what linters ask for: security everywhere, described tags, defined fields below `not`', () => {
    const all = [...Object.values<Document>(document.paths), ...Object.values<Document>(document.webhooks)];
    for (const { post, get } of all) expect((post ?? get).security).toBeDefined();
    for (const { post } of Object.values<Document>(document.webhooks)) {
      const [scheme] = post.security.flatMap((one: object) => Object.keys(one));
      expect(document.components.securitySchemes[scheme]).toMatchObject({ name: 'X-SVC-Signature' });
    }
    expect(document.tags.filter(({ description }: Document) => !description)).toEqual([]);
    const negated = JSON.stringify(document).match(/"not":\{"required":\[[^\]]*\],"properties"/g) ?? [];
    expect(JSON.stringify(document).match(/"not":\{"required"/g)).toHaveLength(negated.length);
  });

  it('describes every field and every enum value', () => {
    const silent: string[] = [];
    const look = (schema: Document, place: string): void => {
      for (const [name, field] of Object.entries<Document>(schema.properties ?? {})) {
        const { description = '' } = field;
        if (description.trim() === '') silent.push(`${place}.${name}`);
        const values: string[] = (field.items ?? field).enum ?? [];
        if (values.length > 1 && name !== 'code' && name !== 'mistake')
          for (const value of values)
            if (value !== null && !description.includes(`\`${value}\``)) silent.push(`${place}.${name}: ${value}`);
        look(field, `${place}.${name}`);
      }
      if (schema.items) look(schema.items, `${place}[]`);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
    expect(silent).toEqual([]);
    expect(Object.keys(document.components.schemas).length).toBeGreaterThan(30);
  });

  it('has examples for the request, answer and own codes of every endpoint', () => {
    for (const [path, { requestBody, responses }] of operations()) {
      const { codes = [], name = '' } = endpoints.find((one) => one.path === path) ?? {};
      const { examples } = responses['200'].content['application/json'];
      const told = EXAMPLES.filter(({ endpoint }) => endpoint === name).map((one) => one.name);
      expect(told.length).toBeGreaterThan(0);
      // Way B comes first, because it is the simplest.
      if (name === 'orders/create') told.unshift(...told.splice(told.indexOf('b'), 1));
      expect(Object.keys(requestBody.content['application/json'].examples)).toEqual(told);
      expect(Object.keys(examples)).toEqual([...told, ...codes]);
    }
  });

  it('has examples that match its schemas', () => {
    const validatorOf = createValidators();
    for (const [path, { requestBody, responses }] of operations()) {
      const contents = [
        ['request', requestBody.content['application/json']],
        ...Object.entries<Document>(responses).map(([status, { content }]) => [status, content['application/json']]),
      ];
      for (const [what, { schema, examples }] of contents) {
        const validate = validatorOf(schema);
        for (const [name, { value }] of Object.entries<Document>(examples))
          expect([path, what, name, validate(value), validate.errors]).toEqual([path, what, name, true, null]);
      }
    }
    for (const { post } of Object.values<Document>(document.webhooks)) {
      const { schema, examples } = post.requestBody.content['application/json'];
      for (const { value } of Object.values<Document>(examples)) expect(validatorOf(schema)(value)).toBe(true);
    }
  });

  it('has patterns that every language supports and that match the examples', () => {
    const patterns = new Set<string>();
    const look = (part: Document): void => {
      if (typeof part !== 'object' || part === null) return;
      if (typeof part.pattern === 'string') {
        const { pattern, examples = [] } = part;
        const compiled = new RegExp(pattern);
        patterns.add(pattern);
        for (const example of examples) expect(example).toMatch(compiled);
      }
      for (const inner of Object.values(part)) look(inner);
    };
    look(document);
    // The patterns have only anchors, ASCII classes, repetitions and a few literals: no escapes or groups that only
    // some languages know.
    for (const pattern of patterns) expect(pattern).toMatch(/^\^(-\?|[ :-]|\[[ -Z_-~]+\]|[+*]|\{\d+(,\d+)?\})+\$$/);
    expect(patterns.size).toBeGreaterThan(4);
  });

  it('accepts the same combinations of fields as the service', () => {
    const validatorOf = createValidators();
    const refusing: string[] = [];
    for (const [path, { requestBody }] of operations()) {
      const endpoint = endpoints.find((one) => one.path === path);
      if (!endpoint?.check) continue;
      const { schema, examples } = requestBody.content['application/json'];
      const validate = validatorOf(schema);
      const values: Document[] = Object.values<Document>(examples).map(({ value }) => value);
      for (const body of combinationsOf(endpoint.request as Document, values)) {
        const isTaken = isTakenBy(endpoint, body);
        expect([path, body, validate(body)]).toEqual([path, body, isTaken]);
        if (!isTaken) refusing.push(endpoint.name);
      }
    }
    const conditional = ['orders/create', 'orders/query', 'orders/unsubscribe', 'agreements/replace'];
    expect([...new Set(refusing)]).toEqual(
      expect.arrayContaining([...conditional, 'agreements/user-data', 'events/replay', 'sandbox/orders/advance']),
    );
    const create = validatorOf(document.paths['/openapi/v1/orders/create'].post.requestBody.content[JSON_TYPE].schema);
    const { value } = document.paths['/openapi/v1/orders/create'].post.requestBody.content[JSON_TYPE].examples.b;
    expect([create(value), create({ ...value, periodType: 'WEEK' })]).toEqual([true, false]);
  });

  it('has correct signatures for the secrets it names', () => {
    const { appSecret, callbackSecret } = namedSecrets();
    const headersOf = (parameters: Document[]): Record<string, string> =>
      Object.fromEntries(
        parameters.map((one) => {
          const { name, schema } = one.$ref ? document.components.parameters[one.$ref.split('/').at(-1)] : one;
          return [name, schema.examples[0]];
        }),
      );
    for (const [path, { parameters, requestBody }] of operations()) {
      const [first] = Object.values<Document>(requestBody.content[JSON_TYPE].examples);
      const headers = headersOf(parameters);
      const parts = { path, query: '', ...signedParts(headers, JSON.stringify(first.value)) };
      const requestId = headers[HEADERS.requestId] ?? '';
      expect([path, signRequest({ ...parts, requestId }, appSecret)]).toEqual([path, headers[HEADERS.signature]]);
    }
    const pushes: [Record<string, string>, string][] = Object.values<Document>(document.webhooks).map(({ post }) => {
      const [first] = Object.values<Document>(post.requestBody.content[JSON_TYPE].examples);
      return [headersOf(post.parameters), JSON.stringify(first.value)];
    });
    const { responses } = document.paths['/openapi/v1/sandbox/events/pull'].post;
    const [pulled] = responses['200'].content[JSON_TYPE].examples.first.value.data.pushes;
    for (const [headers, body] of [...pushes, [pulled.headers, pulled.body] as const]) {
      const { eventId } = JSON.parse(body);
      expect(headers[HEADERS.eventId]).toBe(eventId);
      const parts = { path: '/events', ...signedParts(headers, body), eventId };
      expect(signWebhook(parts, callbackSecret)).toBe(headers[HEADERS.signature]);
    }
    const links = [...JSON.stringify(EXAMPLES).matchAll(/"redeemUrl":"__PUBLIC_URL__([^"]+)"/g)];
    for (const [, link = ''] of links) {
      const { sig = '', exp, ...named } = Object.fromEntries(new URL(link, 'http://x').searchParams) as Document;
      expect(verifyRedeemLink({ ...named, exp: Number(exp) }, sig, callbackSecret)).toBe(true);
    }
    expect([pushes.length, links.length]).toEqual([eventTypes.length, expect.any(Number)]);
    expect(links.length).toBeGreaterThan(3);
  });
});

const JSON_TYPE = 'application/json';

function namedSecrets(): { appSecret: Buffer; callbackSecret: Buffer } {
  const named = (name: string) =>
    Buffer.from(new RegExp(`${name} \`([^\`]+)\``).exec(document.info.description)?.[1] ?? '', 'base64');
  return { appSecret: named('appSecret'), callbackSecret: named('callbackSecret') };
}

const signedParts = (headers: Record<string, string>, body: string) => ({
  bodySha256: sha256Hex(Buffer.from(body)),
  timestamp: headers[HEADERS.timestamp] ?? '',
  nonce: headers[HEADERS.nonce] ?? '',
});

/** Values for fields that no example has. */
const SAMPLES: Document = {
  orderNo: '1',
  externalOrderNo: 'own-1',
  page: 1,
  cursor: 'x',
  from: STORY_TIME,
  to: STORY_TIME,
  cycles: 1,
  eventIds: ['1'],
  bankCardNoEncrypted: 'x',
  certificateNoEncrypted: 'x',
};

/**
 * Returns each example with every combination of its optional fields. Fields without a sample, and `size`, `outcomes`
 * and `eventType`, stay as they are.
 */
function combinationsOf({ properties, required = [] }: Document, examples: Document[]): Document[] {
  const known = Object.assign({}, SAMPLES, ...examples);
  const chosen = Object.keys(properties).filter(
    (name) => name in known && !required.includes(name) && !['size', 'outcomes', 'eventType'].includes(name),
  );
  return examples.flatMap((example) =>
    Array.from({ length: 2 ** chosen.length }, (_, bits) => {
      const body = { ...example };
      for (const [place, name] of chosen.entries()) {
        if ((bits >> place) & 1) body[name] = name in example ? example[name] : known[name];
        else delete body[name];
      }
      // Follows a rule that a schema cannot express: both objects must have the same user.
      if (body.sharedAgreement) body.sharedAgreement = { ...body.sharedAgreement, channelUserId: body.channelUserId };
      return body;
    }),
  );
}

function isTakenBy(endpoint: Document, body: Document): boolean {
  if (body.sharedAgreement && body.channelUserId === undefined) return false;
  try {
    endpoint.check(body);
    return true;
  } catch {
    return false;
  }
}

describe('the story of the examples', () => {
  it('is played on a running service: each request is accepted, and its answer is the example', async () => {
    const validatorOf = createValidators();
    const names = new Numbers();
    for (const { endpoint, name, request, answer } of EXAMPLES) {
      const sent = encryptFields(names.toReal(request), (text) => encryptField(text, aesKey(), 'v2'));
      const call = endpoint === 'auth/token' ? channel.callBare : channel.call;
      const { status, envelope, data } = await call(endpoint, sent);
      expect([endpoint, name, status, envelope.code, envelope.message]).toEqual([endpoint, name, 200, '0', 'success']);
      const { schema } = document.paths[`/openapi/v1/${endpoint}`].post.responses['200'].content['application/json'];
      const validate = validatorOf(schema);
      expect([endpoint, name, validate(envelope), validate.errors]).toEqual([endpoint, name, true, null]);
      const shown = names.learn(answer, readable(data));
      if (!OTHER_EACH_TIME.has(endpoint)) expect.soft([endpoint, name, shown]).toEqual([endpoint, name, answer]);
    }
    expect(new Set(EXAMPLES.map(({ endpoint }) => endpoint))).toEqual(new Set(endpoints.map((one) => one.name)));
    const { data } = await channel.call('sandbox/events/pull', { path: '/events', size: 4 });
    const told: Document[] = data.pushes.map(({ body }: { body: string }) => readable(JSON.parse(body)));
    // Skips the third example, a notice, because notices are not enabled for the channel of this test.
    for (const [at, example] of EVENT_EXAMPLES.slice(0, 2).entries()) {
      expect(names.learn(example, told[at + 1])).toEqual(example);
    }
  });
});

/** Returns a function that compiles each schema of the document once. */
function createValidators(): (schema: Document) => ValidateFunction {
  // Patterns without the u flag, as most languages and plain JavaScript read them.
  const ajv = new Ajv2020({ strict: false, allErrors: true, unicodeRegExp: false });
  const { components } = document;
  const made = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    // Includes the components, because the schema may refer to them.
    const validate = made.get(text) ?? ajv.compile({ ...schema, components });
    made.set(text, validate);
    return validate;
  };
}

const aesKey = () => Buffer.from(channel.credentials.aesKey, 'base64');

/** Returns the data with its encrypted fields decrypted. */
const readable = (data: unknown): unknown => encryptFields(data, (value) => decryptField(value, aesKey()));

/** Fields that differ at each run. Only their format is checked. */
const FRESH = new Set([
  'accessToken',
  'redeemUrl',
  'nextCursor',
  'X-SVC-Timestamp',
  'X-SVC-Nonce',
  'X-SVC-Signature',
  'writtenAt',
  'readAt',
  'formerSecretUntil',
]);

/** Endpoints whose answers depend on the receiver and on the log. Only their format is checked. */
const OTHER_EACH_TIME: ReadonlySet<string> = new Set(['sandbox/events/test', 'sandbox/requests/list']);

const formOf = (number: string): string => number.replaceAll(/\d+/g, '0');

/**
 * Maps each number in the documentation's examples to the number that the service assigned. An example may use a number
 * of an earlier example.
 */
class Numbers {
  private readonly real = new Map<string, string>();

  toReal<Value>(value: Value): Value {
    const text = JSON.stringify(value).replaceAll(/"([^"\\]+)"/g, (whole, one: string) => {
      const known = this.real.get(one);
      return known === undefined ? whole : JSON.stringify(known);
    });
    return JSON.parse(text);
  }

  /**
   * Returns the service's answer (`came`) with each assigned number replaced by the number that the example (`told`)
   * has in the same place.
   */
  learn(told: unknown, came: unknown, field = ''): unknown {
    if (Array.isArray(told) && Array.isArray(came)) {
      return came.map((one, index) => this.learn(told[index], one, field));
    }
    if (isObject(told) && isObject(came)) {
      return Object.fromEntries(Object.entries(came).map(([name, one]) => [name, this.learn(told[name], one, name)]));
    }
    if (typeof told !== 'string' || typeof came !== 'string') return came;
    if (FRESH.has(field)) return told;
    if (field === 'body') return JSON.stringify(this.learn(JSON.parse(told), JSON.parse(came)));
    if (!/(No|Id)$/.test(field) || field === 'externalOrderNo' || field === 'channelUserId') return came;
    // Replaces only a number of the same form: AG7 can stand for AG1, but not for a number with another prefix.
    if (formOf(told) !== formOf(came)) return came;
    const known = this.real.get(told);
    if (known === undefined) this.real.set(told, came);
    return known === undefined || known === came ? told : came;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
