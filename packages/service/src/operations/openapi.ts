import type { AnySchema, ObjectSchema } from '@perennial/wire';
import { mayDo, ROLES } from '../operator/people/roles.js';
import * as session from '../operator/schemas/session.js';
import { VERSION } from '../platform/version.js';
import type { Operation } from './operation.js';

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'values', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'which refusal it is; stays what it is' },
    values: { type: 'array', items: { type: 'string' }, description: 'what fills the blanks of its text' },
    detail: { type: 'string' },
    requestId: { type: 'string' },
  },
};

const problems = (...statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Problem' }]));

const json = (schema: AnySchema) => ({ content: { 'application/json': { schema } } });

/** Builds the OpenAPI 3.1 document of the console API from the schemas that validate requests. */
export function describeOperations(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {};
  const add = (path: string, method: string, described: object) => {
    const place = `/console/api${path}`;
    paths[place] = { ...paths[place], [method.toLowerCase()]: described };
  };
  add('/session', 'POST', {
    summary: 'Sign in: create a session and set its cookie',
    security: [],
    requestBody: { required: true, ...json(session.signInRequest) },
    responses: { 200: { description: 'signed in', ...json(session.session) }, ...problems(400, 401, 429) },
  });
  add('/session', 'GET', {
    summary: 'The signed-in operator, and the CSRF token for changes',
    responses: { 200: { description: 'signed in', ...json(session.session) }, ...problems(401) },
  });
  add('/session', 'DELETE', {
    summary: 'Sign out',
    parameters: [csrfParameter],
    responses: { 204: { description: 'signed out' }, ...problems(401, 403) },
  });
  add('/session/proof', 'POST', {
    summary: 'Confirm your identity again, by password or code',
    parameters: [csrfParameter],
    requestBody: { required: true, ...json(session.proofRequest) },
    responses: { 200: { description: 'proven', ...json(session.session) }, ...problems(400, 401, 403, 429) },
  });
  for (const one of operations) add(one.path, one.method, describe(one));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Perennial console',
      version: VERSION,
      description:
        'What the pages of the console ask for. Times are yyyy-MM-dd HH:mm:ss of Asia/Shanghai, amounts are cents. Lists page by ' +
        'cursor. Refusals are problem+json with a request id. A request with the header X-Unattended does not keep its session alive.',
    },
    security: [{ session: [] }],
    paths,
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-perennial' } },
      schemas: { Problem: problem },
      responses: {
        Problem: {
          description: 'a refusal',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}

const csrfParameter = { name: 'X-CSRF-Token', in: 'header', required: true, schema: { type: 'string' } };

function describe(one: Operation): object {
  const roles = ROLES.filter((role) => mayDo(role, one.role));
  const inPath = [...one.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const proof = one.needsProof
    ? ' Needs an identity confirmed within the last five minutes: 403 `proof-needed` otherwise.'
    : '';
  return {
    summary: one.summary,
    description: `For ${roles.join(', ')}.${proof}`,
    parameters: [
      ...inPath,
      ...(one.query ? describeQuery(one.query) : []),
      ...(one.method === 'GET' ? [] : [csrfParameter]),
    ],
    ...(one.body ? { requestBody: { required: true, ...json(one.body) } } : {}),
    responses: { 200: { description: 'done', ...json(one.answer) }, ...problems(400, 401, 403, 404, 409) },
    'x-roles': roles,
    'x-needs-proof': one.needsProof === true,
  };
}

function describeQuery({ properties, required = [] }: ObjectSchema): object[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}
