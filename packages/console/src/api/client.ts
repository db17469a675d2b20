import type { TableRow } from '@perennial/service/operations';
import { isUnattended } from './attention.ts';
import { noteConnection } from './connection.ts';
import { Problem, readProblem, Unreachable } from './problem.ts';

const API = `${import.meta.env.BASE_URL}api`;

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

type Method = TableRow['method'];
type RowOf<Of extends Method, Path> = Extract<TableRow, { readonly method: Of; readonly path: Path }>;
type TypesOf<Of extends Method, Path> = NonNullable<RowOf<Of, Path>['types']>;
/** The paths of the operations that have this method. */
export type PathOf<Of extends Method> = Extract<TableRow, { readonly method: Of }>['path'];
/** What an operation takes: the fields that its path names, and those of its query or body. */
type Input<Of extends Method, Path> = TypesOf<Of, Path>['input'];
export type Answer<Of extends Method, Path> = TypesOf<Of, Path>['answer'];
/** Of a query everything is text, and what is empty is not given. */
export type QueryOf<Path extends PathOf<'GET'>> = { readonly [Field in keyof Input<'GET', Path>]: Query[string] };

interface Call {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Before there is a session: a 401 is the answer, not the end of one. */
  readonly isSignIn?: boolean;
  readonly hasNewToken?: boolean;
}

/** What the page does about some of the refusals; set once, when it starts. */
interface Reactions {
  /** Asks the person to sign in again, since the session has ended. False: they would rather not. */
  signInAgain(): Promise<boolean>;
  /** Asks who the person is. False: they would rather not. */
  askForProof(): Promise<boolean>;
  /** Somebody signed in anew in another window, and this one has the former session's token. */
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
/** Each session has its own; whatever changes something carries it. */
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

/** The address of an operation, for what a browser opens by itself. */
export function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${API}${path}${text && `?${text}`}`;
}

/** Puts the fields that a path names in its place, and leaves the others. What a field contains cannot become another path. */
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

/** The console's operations, by their paths below /console/api. What they take and answer, the service's table says. */
export const api = {
  get: read,
  post: change('POST'),
  put: change('PUT'),
  delete: change('DELETE'),
  /** What is no operation: signing in, and what is about the session itself. */
  session: <Of>(method: 'POST' | 'DELETE', path: string, body?: unknown) => sendForJson<Of>(method, path, { body }),
  /** Before there is a session. */
  signIn: <Of>(method: 'GET' | 'POST', path: string, body?: unknown) =>
    sendForJson<Of>(method, path, { body, isSignIn: true }),
};

/** Fetches a file and hands it to the browser to keep; `onPiece` hears of each part of it as it comes. */
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

/** Hands a file to the browser to keep. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
