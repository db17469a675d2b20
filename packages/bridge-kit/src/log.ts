import { reasonOf } from '@perennial/wire/bridge';
import type { Logger } from 'pino';

/** All that a line may have: what is not listed cannot be logged, so nobody has to remember what must not be. */
export interface LogFields {
  readonly operation?: string;
  readonly status?: number | string;
  readonly requestId?: string;
  readonly attemptNo?: string;
  readonly refundNo?: string;
  readonly noticeNo?: string;
  readonly about?: string;
  readonly known?: string;
  readonly told?: string;
  readonly tries?: number;
  readonly open?: number;
  readonly pauseMs?: number;
  readonly ms?: number;
  readonly url?: string;
  readonly institution?: string;
  readonly reason?: string;
  readonly err?: unknown;
}

const FIELDS: ReadonlySet<string> = new Set<keyof LogFields>([
  'operation',
  'status',
  'requestId',
  'attemptNo',
  'refundNo',
  'noticeNo',
  'about',
  'known',
  'told',
  'tries',
  'open',
  'pauseMs',
  'ms',
  'url',
  'institution',
]);

export interface BridgeLog {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export function createBridgeLog(log: Logger | undefined): BridgeLog {
  const write = (level: 'info' | 'warn' | 'error') => (fields: LogFields, message: string) =>
    log?.[level](pickFields(fields), message);
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

function pickFields({ reason, err, ...fields }: LogFields): object {
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => FIELDS.has(name))),
    ...(reason === undefined ? {} : { reason: reasonOf(reason) }),
    ...(err === undefined ? {} : { error: describeError(err, fields.operation) }),
  };
}

/** An institution's error may repeat what it was sent: where that is a card, nothing but the kind of error is said. */
function describeError(err: unknown, operation: string | undefined): object {
  if (!(err instanceof Error)) return { type: typeof err };
  const code = 'code' in err && typeof err.code === 'string' ? { code: reasonOf(err.code) } : {};
  const isAboutCard = operation?.startsWith('bind-') === true;
  return {
    type: err.name,
    ...code,
    ...(isAboutCard ? {} : { message: reasonOf(messageOf(err)), at: reasonOf(firstPlace(err)) }),
  };
}

/** What `JSON.parse` says quotes the text, which may be anything. */
export function messageOf(err: Error): string {
  return err instanceof SyntaxError ? 'a text cannot be read' : err.message;
}

/** Behind the message, which may have lines of its own. */
function firstPlace({ stack = '', message }: Error): string {
  const places = stack.slice(stack.indexOf(message) + message.length);
  return places.split('\n').find((line) => /^ +at /.test(line)) ?? '';
}
