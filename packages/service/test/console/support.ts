import { randomBytes, scryptSync } from 'node:crypto';
import { beforeAll } from 'vitest';
import { beginSession, csrfToken } from '../../src/console/sessions/sign-in.js';
import { createPerson } from '../../src/operator/people/people.js';
import { findPerson, insertPerson, storePassword } from '../../src/operator/people/people-sql.js';
import type { Role } from '../../src/operator/people/roles.js';
import type { Clock } from '../../src/platform/clock.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { later } from '../orders/stage-of-file.js';
import { anotherNode } from '../support/second-node.js';
import type { TestService } from '../support/service.js';
import { network } from '../support/slow-network.js';

export interface ConsoleReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly body: any;
}

export interface SendOptions {
  readonly body?: object | undefined;
  readonly csrf?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export const PASSWORD = 'correct horse battery';

/** Hash parameters of the lowest cost, because the service's own hashes take a good part of a second. */
const CHEAP = { N: 2, r: 1, p: 1 };
const SALT = Buffer.from('salt');
const HASH = scryptSync(PASSWORD, SALT, 32, CHEAP);
/** The stored hash of PASSWORD. */
export const CHEAP_HASH = [
  'scrypt',
  CHEAP.N,
  CHEAP.r,
  CHEAP.p,
  SALT.toString('base64url'),
  HASH.toString('base64url'),
].join('$');

/** Creates an operator who can sign in with PASSWORD. */
export async function createPersonWithPassword({ operator }: TestService, name: string, role: Role): Promise<void> {
  await createPerson(operator, { name, role });
  const person = await findPerson(operator.database, name);
  if (!person) throw new Error('a person who was made is there');
  await storePassword(operator.database, person.personId, CHEAP_HASH);
}

/** Returns a client of a signed-in operator, who is created if needed. */
export async function consoleClient(
  { baseUrl, fresh, vault, clock }: Pick<TestService, 'baseUrl' | 'fresh' | 'vault'> & { readonly clock: Clock },
  role: Role,
  name = `${role}-${randomBytes(3).toString('hex')}`,
) {
  const { database } = fresh;
  await insertPerson(database, { name, role, by: 'test' });
  const person = await findPerson(database, name);
  if (!person) throw new Error('a person who was made is there');
  const token = await beginSession(
    { database, vault, clock },
    person,
    { address: '127.0.0.1', userAgent: 'test' },
    { by: 'password' },
  );
  // Contains the session's token under both cookie names: the first for HTTPS, the second for plain HTTP on this
  // machine.
  const cookie = `__Host-perennial=${token}; perennial=${token}`;
  const csrf = csrfToken(token);
  /**
   * Sends a request in this operator's session, with additional headers. Sends no CSRF token unless `csrf` is given.
   */
  const send = (method: string, path: string, options: SendOptions = {}) =>
    ask(baseUrl, method, path, { ...options, headers: { cookie, ...options.headers } });
  return {
    name,
    token,
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body: object = {}) => send('POST', path, { body, csrf }),
    put: (path: string, body: object = {}) => send('PUT', path, { body, csrf }),
    delete: (path: string) => send('DELETE', path, { csrf }),
  };
}

export type ConsoleClient = Awaited<ReturnType<typeof consoleClient>>;

/** Returns a client of this role for the tests of a file. */
export function personOfFile(service: () => TestService, role: Role): ConsoleClient {
  let client: ConsoleClient;
  beforeAll(async () => {
    client = await consoleClient(service(), role);
  });
  return later(() => client);
}

/** The delay of each answer of the slow database. */
const SLOW_MS = 150;

/** Starts a node with the real time and a slow database, and returns a viewer of its console. */
export async function slowConsole(service: TestService) {
  const between = await network(service.fresh.url, { delayMs: SLOW_MS });
  const database = openDatabase({ url: between.url, pool: 4, name: 'slow node' });
  const clock = { now: Date.now };
  const node = await anotherNode(service, { database, clock });
  const viewer = await consoleClient(
    { fresh: service.fresh, vault: service.vault, baseUrl: node.baseUrl, clock },
    'viewer',
  );
  return {
    viewer,
    async close() {
      await node.close();
      await database.close();
      await between.close();
    },
  };
}

/** Reads all pages of a list, and returns one value of each row. */
export async function walk(client: ConsoleClient, path: string, list: string, name: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await client.get(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    seen.push(...body[list].map((one: Record<string, string>) => one[name]));
    cursor = body.nextCursor;
  }
  return seen;
}

/** Sends a request without a session, unless the headers have one. Paths are below /console/api. */
export async function ask(
  baseUrl: string,
  method: string,
  path: string,
  { body, csrf, headers = {} }: SendOptions = {},
): Promise<ConsoleReply> {
  const response = await fetch(`${baseUrl}/console/api${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}
