import type { TableRow } from '@perennial/service/operations';
import { isUnattended } from './attention.ts';
import { noteConnection } from './connection.ts';
import { Problem, readProblem, Unreachable } from './problem.ts';

const API = `${import.meta.env.BASE_URL}api`;

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

type Method = TableRow['method'];
type RowOf<Of extends Method, Path> = Extract<TableRow, { readonly method: Of; readonly path: Path }>;
type TypesOf<Of extends Method, Path> = NonNullable<RowOf<Of, Path>['types']>;
/** The paths of the operations with this method. */
export type PathOf<Of extends Method> = Extract<TableRow, { readonly method: Of }>['path'];
/** The input of an operation: the fields in its path, and the fields of its query or body. */
type Input<Of extends Method, Path> = TypesOf<Of, Path>['input'];
export type Answer<Of extends Method, Path> = TypesOf<Of, Path>['answer'];
/** The input of a GET operation. Its values become text in the query string; empty values are omitted. */
export type QueryOf<Path extends PathOf<'GET'>> = { readonly [Field in keyof Input<'GET', Path>]: Query[string] };

interface Call {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Set for calls before the session exists: a 401 is then an answer to the caller, not the end of a session. */
  readonly isSignIn?: boolean;
  readonly hasNewToken?: boolean;
}

/** Functions that are called when the service refuses a request for certain reasons. Set once, when the page starts. */
interface Reactions {
  /** Asks the operator to sign in again after the session has ended. Resolves to false if they decline. */
  signInAgain(): Promise<boolean>;
  /** Asks the operator to confirm their identity. Resolves to false if they decline. */
  askForProof(): Promise<boolean>;
  /** Gets a new token because another window has begun a new session, which makes this window's token invalid. */
  renewToken(): Promise<boolean>;
}

let reactions: Reactions = {
  signInAgain: async () => false,
  askForProof: async () => false,
  renewToken: async () => false,
};
export const reactBy = (given: Reactions): void => {
  reactions = given;
};

let csrfToken = '';
/** Sets the CSRF token of the session. Every request that changes something sends it. */
export const carryToken = (token: string): void => {
  csrfToken = token;
};

async function send(method: string, path: string, call: Call): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-CSRF-Token'] = csrfToken;
  if (isUnattended()) headers['X-Unattended'] = 'true';
  if (call.body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await fetch(addressOf(path, call.query), {
    method,
    headers,
    credentials: 'same-origin',
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal: call.signal ?? null,
  }).catch((error: unknown) => {
    if (call.signal?.aborted) throw error;
    noteConnection(false);
    throw new Unreachable('The service does not answer');
  });
  noteConnection(true);
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (problem.kind === 'proof-needed' && (await reactions.askForProof())) return send(method, path, call);
  if (problem.kind === 'csrf' && !call.hasNewToken && (await reactions.renewToken()))
    return send(method, path, { ...call, hasNewToken: true });
  if (problem.kind === 'not-signed-in' && !call.isSignIn && (await reactions.signInAgain()))
    return send(method, path, call);
  throw problem;
}

async function sendForJson<Of>(method: string, path: string, call: Call): Promise<Of> {
  const response = await send(method, path, call);
  if (response.status === 204) return {} as Of;
  return response.json().catch(() => {
    throw new Problem(response.status, 'unreadable', 'The answer could not be read', undefined, undefined, undefined);
  });
}

/** Returns the URL of an operation that the browser opens itself, such as a download. */
export function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${API}${path}${text && `?${text}`}`;
}

/**
 * Replaces the field names in a path by the fields' values, and returns the other fields as `rest`. The values are
 * encoded, so that they cannot change the path.
 */
function fillPath(path: string, input: object): { readonly place: string; readonly rest: Query } {
  const rest: Record<string, Query[string]> = { ...input };
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = rest;
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { place, rest };
}

function read<Path extends PathOf<'GET'>>(path: Path, input: QueryOf<Path>, signal?: AbortSignal) {
  const { place, rest } = fillPath(path, input);
  return sendForJson<Answer<'GET', Path>>('GET', place, { query: rest, signal });
}

const change =
  <Method extends 'POST' | 'PUT' | 'DELETE'>(method: Method) =>
  <Path extends PathOf<Method>>(path: Path, input: Input<Method, Path>) => {
    const { place, rest } = fillPath(path, input as object);
    return sendForJson<Answer<Method, Path>>(method, place, method === 'DELETE' ? {} : { body: rest });
  };

/**
 * Calls the console's operations by their paths below /console/api. The types of their input and output come from the
 * service's schemas.
 */
export const api = {
  get: read,
  post: change('POST'),
  put: change('PUT'),
  delete: change('DELETE'),
  /** Calls the endpoints that manage the session itself. They are not in the table of operations. */
  session: <Of>(method: 'POST' | 'DELETE', path: string, body?: unknown) => sendForJson<Of>(method, path, { body }),
  /** Calls an endpoint before the session exists. */
  signIn: <Of>(method: 'GET' | 'POST', path: string, body?: unknown) =>
    sendForJson<Of>(method, path, { body, isSignIn: true }),
};

/** Fetches a file and saves it in the browser. Calls `onPiece` whenever a chunk arrives. */
export async function download<Path extends PathOf<'GET'>>(
  path: Path,
  input: QueryOf<Path>,
  { signal, onPiece }: { readonly signal?: AbortSignal; onPiece?(piece: Uint8Array): void } = {},
): Promise<void> {
  const { place, rest } = fillPath(path, input);
  const response = await send('GET', place, { query: rest, signal });
  const name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    pieces.push(read.value);
    onPiece?.(read.value);
  }
  saveFile(name ?? 'export.csv', new Blob(pieces, { type: response.headers.get('Content-Type') ?? 'text/csv' }));
}

/** Saves a file in the browser. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
