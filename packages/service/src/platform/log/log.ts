import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { isAway, Silent, sqlState } from '../db/database.js';
import type { LogFormat, LogLevel } from '../settings.js';
import { prettyLine } from './pretty-lines.js';
import { repeatedLines } from './repeated-lines.js';

/** Names under which a secret, a token or personal data could come by. Redacted wherever they stand. */
const SENSITIVE = [
  'authorization',
  'Authorization',
  'x-svc-signature',
  'accessToken',
  'token',
  'appSecret',
  'aesKey',
  'callbackSecret',
  'masterKey',
  'password',
  'dataKey',
  'mobile',
  'mobileEncrypted',
  'bankCardNo',
  'bankCardNoEncrypted',
  'bankMobile',
  'bankMobileEncrypted',
  'certificateNo',
  'certificateNoEncrypted',
  'realName',
  'realNameEncrypted',
  'smsCode',
  'smsCodeEncrypted',
  'sharedAgreementNo',
  'connectionString',
  'body',
];

const isSensitive = new Set(SENSITIVE);

export interface LogOptions {
  /** Which node it is, in every line. */
  readonly node?: string;
  readonly format?: LogFormat;
}

const STDOUT = 1;

/**
 * Lines at warn and above that name their `cause` are written once for as long as it lasts. What fails because the database
 * is away has that for its cause, whoever writes the line.
 */
export function createLog(level: LogLevel, destination?: DestinationStream, options: LogOptions = {}): Logger {
  let isSummary = false;
  const summary = (message: string) => (repeated: object) => {
    isSummary = true;
    log.warn(repeated, message);
    isSummary = false;
  };
  const lines = repeatedLines({ still: summary('it goes on'), over: summary('it is over') });
  const log: Logger = pino(
    {
      level,
      base: options.node === undefined ? null : { node: options.node },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Not pino's own redaction: its wildcards cost 170 microseconds a line, this walk less than three.
      formatters: { log: redactedLine, level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
      hooks: {
        logMethod(args, method, number) {
          const cause = number < WARN || isSummary ? undefined : causeOf(args[0]);
          if (cause === undefined) return method.apply(this, args);
          const [fields, ...message] = args as unknown as [object, ...string[]];
          const named = [{ ...fields, cause }, ...message] as unknown as Parameters<LogFn>;
          return lines.line(cause, () => method.apply(this, named));
        },
      },
    },
    ...streamOf(destination, options.format),
  );
  return log;
}

const WARN = pino.levels.values['warn'] ?? 40;
const DATABASE_AWAY = 'the database is away';

/** With the kind of the error: when another one follows, it is written as well. */
function causeOf(fields: unknown): string | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined;
  const err = 'err' in fields && fields.err instanceof Error ? fields.err : undefined;
  // What the database or the way to it has said is its cause; what else has none was said by somebody here.
  if (err instanceof Silent || (isAway(err) && err.cause !== undefined)) return awayBecause(err);
  if (!('cause' in fields) || typeof fields.cause !== 'string') return undefined;
  return err === undefined ? fields.cause : `${fields.cause}: ${codeOf(err) ?? err.name}`;
}

/** An outage has many states, and is one; what an operator has to mend has its own. */
function awayBecause(err: Error): string {
  const state = sqlState(err) ?? '';
  return /^(25006|28|3D000|42501|53)/.test(state) ? `${DATABASE_AWAY}: ${state}` : DATABASE_AWAY;
}

function streamOf(destination: DestinationStream | undefined, format: LogFormat = 'json'): DestinationStream[] {
  if (format === 'json') return destination ? [destination] : [];
  const out = destination ?? pino.destination(STDOUT);
  return [{ write: (line) => out.write(prettyLine(line)) }];
}

const DEEPEST = 6;
const redactedLine = (line: object) => redacted(line, 0) as Record<string, unknown>;

function redacted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth === DEEPEST) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSensitive.has(name) ? '[redacted]' : redacted(item, depth + 1),
    ]),
  );
}

/**
 * An error as it may be logged. PostgreSQL quotes whole rows in `detail` and values in `where`, and an HTTP client may
 * hang a request on its error, so only what cannot hold data is kept.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = codeOf(error);
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
  return {
    type: name,
    message: withoutValues(message),
    code,
    constraint,
    stack: placesOf(stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * A message may repeat what it was given: `value "6222…" is out of range`. What is quoted goes, and so does what looks
 * like a value.
 */
function withoutValues(message: string): string {
  return withoutSecrets(message.replace(/"[\s\S]*"/, '"…"'));
}

/** Without what looks like a ciphertext, a key, a signature, a token, or the number of a card or a phone. */
export function withoutSecrets(text: string): string {
  return text.replace(/svc_aes_v\d+:\S*|[\w+/-]{40,}={0,2}|\d{11,}/g, '…');
}

/** The places alone: the first lines of a stack are the message once more. */
function placesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^ +at /.test(line))
    .join('\n');
}
