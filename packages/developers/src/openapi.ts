import {
  AnyEnvelope,
  CODES,
  type EventType,
  encryptionVersions,
  HEADERS,
  MISTAKES,
  type ResultCode,
  STORABLE,
  WebhookAck,
} from '@perennial/wire';
import { GROUP_TEXTS } from './content/endpoints.js';
import { VALUE_MEANINGS } from './content/enums.js';
import { ENVELOPE_FIELDS } from './content/fields.js';
import { REQUEST_RULES } from './content/request-rules.js';
import { type Example, PUBLIC_URL, STORY_TIME } from './content/story/cast.js';
import { DEMONSTRATION, EXAMPLE_HEADERS, pushHeadersFor, signForShow } from './demonstration.js';
import { showEncrypted } from './encrypted-examples.js';
import { CURRENCY } from './layout.js';
import { type Code, type Described, type Direction, ENDPOINTS, EVENTS, textOfField } from './model.js';
import { type JsonSchema, nameOf, propertiesOf } from './schema.js';

/** Returns the API as OpenAPI 3.1, built from the schemas that the service validates requests with. */
export function describeInterface(version: string): object {
  const schemas = new SchemaNames();
  const paths = Object.fromEntries(
    ENDPOINTS.map((one) => [one.endpoint.path, { post: describeOperation(one, schemas) }]),
  );
  const webhooks = Object.fromEntries(
    EVENTS.map((event) => [event.eventType, { post: describeWebhook(event, schemas) }]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Perennial',
      version,
      summary: 'Recurring subscriptions for partner platforms, through a signed HTTP API',
      description: [
        'Call every endpoint with POST and a JSON object. Sign every request: HMAC-SHA256 of seven lines under `appSecret`, in base64.',
        'Fields whose names end in `Encrypted` contain ciphertext under `aesKey`.',
        `All examples use published secrets that no channel has: appSecret \`${DEMONSTRATION.appSecret}\`, aesKey \`${DEMONSTRATION.aesKey}\`, callbackSecret \`${DEMONSTRATION.callbackSecret}\`. An example signature is for the first example body, serialised without spaces.`,
        'Times are `yyyy-MM-dd HH:mm:ss` in UTC+8, amounts are integers in cents, identifiers are strings.',
        `All amounts of this installation are in ${CURRENCY}: a cent is a hundredth of it.`,
        'Null in an optional request field counts as absent. The schemas do not allow null there, because no request needs it.',
        'Strings with a lone surrogate or U+0000 are 400001. The schemas omit this rule, because its pattern differs between languages.',
        `The guides: ${PUBLIC_URL}/developers`,
      ].join('\n\n'),
      'x-currency': CURRENCY,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { url: `${PUBLIC_URL}/developers`, description: 'Guides, examples and the signature diagnosis' },
    servers: [{ url: PUBLIC_URL, description: 'this installation' }],
    tags: [...new Set(ENDPOINTS.map(({ text }) => text.group))].map((name) => ({
      name,
      description: GROUP_TEXTS[name],
    })),
    paths: { ...paths, '/developers/refused/{requestId}': { get: describeRefused() } },
    webhooks,
    components: {
      schemas: {
        ...schemas.described(),
        Failure: failureSchema(),
        Diagnosis: DIAGNOSIS,
      },
      parameters: PARAMETERS,
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `accessToken` of auth/token, in addition to the signature.',
        },
        callbackSignature: {
          type: 'apiKey',
          in: 'header',
          name: HEADERS.signature,
          description: 'The signature of an event, under `callbackSecret`. Verify it before you read the event.',
        },
      },
    },
  };
}

/** Collects the named schemas of the document. Each is described once. */
class SchemaNames {
  private readonly byName = new Map<string, object>();

  refTo(schema: JsonSchema, direction: Direction): object {
    const name = nameOf(schema);
    if (name === undefined) return this.describe(schema, direction);
    if (!this.byName.has(name)) {
      // Adds an empty entry first, so that schemas nested in this one follow it in the document.
      this.byName.set(name, {});
      this.byName.set(name, this.describe(schema, direction));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  described(): object {
    return Object.fromEntries(this.byName);
  }

  private describe(schema: JsonSchema, direction: Direction): object {
    const { properties, items, pattern, ...rest } = schema;
    return {
      ...rest,
      // Omits the pattern STORABLE, because some languages cannot read it. The description of the API states its rule.
      ...(pattern === undefined || pattern === STORABLE ? {} : { pattern }),
      ...REQUEST_RULES[nameOf(schema) ?? ''],
      ...(items === undefined ? {} : { items: this.refTo(items, direction) }),
      ...(properties === undefined ? {} : { properties: this.describeFields(schema, direction) }),
    };
  }

  private describeFields(schema: JsonSchema, direction: Direction): object {
    return Object.fromEntries(
      propertiesOf(schema).map(([name, field]) => {
        const description = [textOfField(schema, name, direction), ...meaningsOf(name, field)].join('\n\n');
        return [name, { description, ...this.refTo(field, direction) }];
      }),
    );
  }
}

function meaningsOf(name: string, field: JsonSchema): string[] {
  const values = (field.items ?? field).enum ?? [];
  const lines = values.flatMap((value) => {
    const meaning = value === null ? undefined : VALUE_MEANINGS[name]?.[value];
    return meaning === undefined ? [] : [`- \`${value}\`: ${meaning}`];
  });
  return lines.length === 0 ? [] : [lines.join('\n')];
}

const parameter = (name: string, required: boolean, description: string, schema: object) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...schema },
});

const PARAMETERS = {
  appId: parameter(HEADERS.appId, true, 'Your `appId`.', { examples: [DEMONSTRATION.appId] }),
  timestamp: parameter(HEADERS.timestamp, true, 'Current time in Unix milliseconds, at most 5 minutes off.', {
    pattern: '^-?[0-9]{1,19}$',
    examples: [EXAMPLE_HEADERS.timestamp],
  }),
  nonce: parameter(HEADERS.nonce, true, '32 random hex characters, unique for 10 minutes.', {
    pattern: '^[0-9a-fA-F]{32}$',
    examples: [EXAMPLE_HEADERS.nonce],
  }),
  requestId: parameter(
    HEADERS.requestId,
    true,
    '1 to 1,024 visible ASCII characters of your choice, returned as `requestId`.',
    {
      pattern: '^[!-~]{1,1024}$',
      examples: [EXAMPLE_HEADERS.requestId],
    },
  ),
  idempotencyKey: parameter(
    HEADERS.idempotencyKey,
    false,
    'Recommended: 1 to 128 visible ASCII characters. For 7 days a resend with the same key and body gets the first result.',
    { pattern: '^[!-~]{1,128}$', examples: ['0b7a6d0e-9d1f-4c53-8f0c-4f9f8d1b2a33'] },
  ),
  encryptedFields: parameter(
    HEADERS.encryptedFields,
    false,
    "The version of encrypted fields in the answer, for a request without encrypted fields. Default: your channel's setting, v1 unless the operator has changed it.",
    { enum: encryptionVersions, examples: ['v2'] },
  ),
};

const SEVEN_LINES = 'POST, path, query, SHA-256 of the body in lower-case hex, timestamp, nonce';

/**
 * Returns the signature header of one operation. Its example value is the signature of the operation's first example
 * request.
 */
const signatureParameter = (secret: string, lastLine: string, signature: string) =>
  parameter(
    HEADERS.signature,
    true,
    `HMAC-SHA256 under the decoded \`${secret}\`, in base64, of seven lines: ${SEVEN_LINES}, ${lastLine}.`,
    { examples: [signature] },
  );

const useParameters = (...names: readonly (keyof typeof PARAMETERS)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

function describeOperation(one: Described, schemas: SchemaNames): object {
  const { endpoint, text, codes, commonCodes, examples } = one;
  const all = [...codes, ...commonCodes];
  const faults = [...new Set(all.map(({ http }) => http))].filter((http) => http !== 200).toSorted();
  return {
    operationId: operationId(endpoint.name),
    summary: endpoint.summary,
    description: text.text.replaceAll('](/developers', `](${PUBLIC_URL}/developers`),
    tags: [text.group],
    ...(endpoint.sandboxOnly ? { 'x-sandbox-only': true } : {}),
    security: endpoint.token ? [{ accessToken: [] }] : [],
    parameters: [
      ...useParameters(
        'appId',
        'timestamp',
        'nonce',
        'requestId',
        ...(endpoint.write ? (['idempotencyKey'] as const) : []),
        ...(endpoint.name === 'agreements/user-data' ? (['encryptedFields'] as const) : []),
      ),
      signatureParameter(
        'appSecret',
        'request id',
        signForShow(endpoint.path, JSON.stringify(showEncrypted(examples[0]?.request))),
      ),
    ],
    requestBody: {
      required: true,
      content: asJson(
        schemas.refTo(endpoint.request as JsonSchema, 'request'),
        examples.map(({ name, summary, request }) => [name, { summary, value: showEncrypted(request) }]),
      ),
    },
    responses: {
      200: describeAnswer(one, schemas),
      ...Object.fromEntries(faults.map((http) => [http, describeFault(all.filter((code) => code.http === http))])),
    },
    'x-codes': codes.map(({ code }) => code),
  };
}

const asJson = (schema: object, examples: readonly (readonly [string, object])[]): object => ({
  'application/json': { schema, examples: Object.fromEntries(examples) },
});

export const operationId = (name: string): string =>
  name.replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase());

/** Describes the HTTP 200 answer: code 0 with data, or the result code of a refusal with data null. */
function describeAnswer({ endpoint, codes, commonCodes, examples }: Described, schemas: SchemaNames): object {
  const refusals = [...codes, ...commonCodes].filter(({ http }) => http === 200);
  const data = schemas.refTo(endpoint.response as JsonSchema, 'answer');
  return {
    description: ['Success, or a business refusal:', listCodes(refusals)].join('\n\n'),
    headers: WARNED,
    content: asJson(
      {
        oneOf: [
          envelopeSchema({ code: { const: CODES.SUCCESS.code }, data, success: { const: true } }),
          { allOf: [{ $ref: '#/components/schemas/Failure' }, codeIsOneOf(refusals)] },
        ],
      },
      [
        ...examples.map((one) => [one.name, { summary: one.summary, value: exampleAnswer(one) }] as const),
        ...codes
          .filter(({ http }) => http === 200)
          .map((code) => [code.name, { summary: code.when, value: exampleEnvelope(code) }] as const),
      ],
    ),
  };
}

export const exampleAnswer = ({ answer }: Pick<Example, 'answer'>): object =>
  exampleEnvelope(CODES.SUCCESS, showEncrypted(answer));

const exampleEnvelope = ({ name, code, message }: ResultCode, data: unknown = null): object => ({
  code,
  message,
  data,
  requestId: EXAMPLE_HEADERS.requestId,
  timestamp: STORY_TIME,
  success: name === 'SUCCESS',
});

const listCodes = (codes: readonly Code[]): string =>
  codes.map(({ code, name, when, advice }) => `- \`${code}\` ${name}: ${when}. What to do: ${advice}.`).join('\n');

const codeIsOneOf = (codes: readonly ResultCode[]): object => ({
  properties: { code: { description: ENVELOPE_FIELDS['code'], enum: codes.map(({ code }) => code) } },
});

const RETRY_AFTER = {
  [HEADERS.retryAfter]: { description: 'Seconds to wait.', schema: { type: 'string', pattern: '^[0-9]+$' } },
};
const WARNED = {
  [HEADERS.warning]: {
    description:
      'Only in the sandbox: probable mistakes in the request, such as unknown fields. The message has them too.',
    schema: { type: 'string', examples: ['unknown field outcome is ignored: outcomes was probably meant'] },
  },
};
const DIAGNOSED = {
  [HEADERS.diagnosis]: {
    description:
      'Only with 401002 and 401003 in the sandbox: the names of the mistakes in the message, separated by commas.',
    schema: { type: 'string', examples: ['secret-not-decoded'] },
  },
};

function describeFault(codes: readonly Code[]): object {
  const headers = {
    ...(codes.some(({ http }) => http === 429 || http === 503) ? RETRY_AFTER : {}),
    ...(codes.some(({ name }) => name === 'SIGNATURE_INVALID') ? DIAGNOSED : {}),
  };
  return {
    description: listCodes(codes),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: asJson(
      { allOf: [{ $ref: '#/components/schemas/Failure' }, codeIsOneOf(codes)] },
      codes.map((code) => [code.name, { summary: code.message, value: exampleEnvelope(code) }]),
    ),
  };
}

/** Returns the schema of the envelope. `known` replaces or extends the schema of single fields. */
function envelopeSchema(known: Readonly<Record<string, object>>): object {
  const fields = Object.entries(AnyEnvelope.properties).map(([name, schema]) => {
    const own = name === 'data' ? known[name] : { ...schema, ...known[name] };
    return [name, { description: ENVELOPE_FIELDS[name], ...own }];
  });
  return { type: 'object', required: Object.keys(ENVELOPE_FIELDS), properties: Object.fromEntries(fields) };
}

const failureSchema = (): object =>
  envelopeSchema({ data: { description: 'Null.', type: 'null' }, success: { const: false } });

/** Describes the diagnosis endpoint, whose requests are not signed and whose answers have no envelope. */
function describeRefused(): object {
  const requestId = { name: 'requestId', in: 'path', required: true, schema: { type: 'string' } };
  const schema = {
    type: 'object',
    required: ['diagnosis'],
    properties: { diagnosis: { description: 'The diagnosis.', $ref: '#/components/schemas/Diagnosis' } },
  };
  return {
    operationId: 'readDiagnosis',
    summary: 'Read what is wrong with a signature',
    description:
      'Returns the diagnosis of a request that the sandbox refused with 401002 or 401003. Only the node that refused the request has it, for 15 minutes. The call needs no signature: anyone who knows the request id may read the diagnosis, which contains no secret and no signature.',
    tags: ['Access'],
    'x-sandbox-only': true,
    security: [],
    parameters: [{ ...requestId, description: 'The `X-SVC-Request-Id` of the request, percent-encoded.' }],
    responses: {
      200: { description: 'The diagnosis.', content: { 'application/json': { schema } } },
      404: {
        description: 'This node has no diagnosis of that request.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    },
  };
}

const DIAGNOSIS = {
  type: 'object',
  required: ['lines', 'likely'],
  properties: {
    lines: {
      description: 'The seven lines that the service built from the received bytes.',
      type: 'array',
      items: { type: 'string' },
    },
    likely: {
      description: 'Probable mistakes.',
      type: 'array',
      items: {
        type: 'object',
        required: ['mistake', 'hint'],
        properties: {
          mistake: {
            description: 'Name of the mistake. It does not change between versions.',
            enum: MISTAKES.map(({ mistake }) => mistake),
          },
          hint: { description: 'Readable text: what to change.', type: 'string' },
        },
      },
    },
  },
};

const WEBHOOK_SUMMARIES: Readonly<Record<EventType, string>> = {
  'order.status.changed': 'An order changed',
  'payment.status.changed': 'A period changed',
  'payment.upcoming': 'A period will be debited or billed soon; sent to channels that have enabled it',
};

function describeWebhook({ eventType, example, schema }: (typeof EVENTS)[number], schemas: SchemaNames): object {
  const body = showEncrypted(example);
  const headers = pushHeadersFor(example.eventId, JSON.stringify(body));
  return {
    operationId: operationId(eventType.replaceAll('.', '-')),
    summary: WEBHOOK_SUMMARIES[eventType],
    description:
      'Sent to the callback address that the operator registered, at most eleven times until it is acknowledged. Signed like a request, under `callbackSecret`, with the event id in the seventh line.',
    tags: ['Events'],
    security: [{ callbackSignature: [] }],
    parameters: [
      ...useParameters('appId', 'timestamp', 'nonce'),
      parameter(HEADERS.eventId, true, 'The `eventId` of the body.', { examples: [example.eventId] }),
      signatureParameter('callbackSecret', 'event id', headers[HEADERS.signature]),
    ],
    requestBody: {
      required: true,
      content: asJson(schemas.refTo(schema, 'answer'), [[eventType, { value: body }]]),
    },
    responses: {
      200: {
        description: 'Your answer, within 5 seconds. Everything else is a refusal.',
        content: {
          'application/json': { schema: schemas.refTo(WebhookAck as JsonSchema, 'answer'), example: { code: '0' } },
        },
      },
    },
  };
}
