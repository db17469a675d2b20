import { reasonOf } from '@perennial/wire/bridge';
import type { Logger } from 'pino';

/** The allow-list of log fields besides `err`. Other fields are dropped, so that they cannot leak secrets. */
const FIELDS = [
  'operation',
  'status',
  'requestId',
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
] as const;

export interface LogFields extends Partial<Record<(typeof FIELDS)[number], string | number>> {
  readonly err?: unknown;
}

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

function pickFields({ err, ...fields }: LogFields): object {
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => FIELDS.some((one) => one === name))),
    ...(err === undefined ? {} : { error: describeError(err, String(fields.operation)) }),
  };
}

/** Describes an error. For card operations omits the message, because the institution may quote the request in it. */
function describeError(err: unknown, operation: string): object {
  if (!(err instanceof Error)) return { type: typeof err };
  const code = 'code' in err && typeof err.code === 'string' ? { code: reasonOf(err.code) } : {};
  const isAboutCard = operation.startsWith('bind-');
  return {
    type: err.name,
    ...code,
    ...(isAboutCard ? {} : { message: reasonOf(messageOf(err)), at: reasonOf(firstPlace(err)) }),
  };
}

/** Returns the error's message, but not the message of `JSON.parse`, which quotes the text. */
export function messageOf(err: Error): string {
  return err instanceof SyntaxError ? 'invalid JSON' : err.message;
}

/** Returns the first stack frame. Skips the message, which may have several lines. */
function firstPlace({ stack = '', message }: Error): string {
  const places = stack.slice(stack.indexOf(message) + message.length);
  return places.split('\n').find((line) => /^ +at /.test(line)) ?? '';
}
