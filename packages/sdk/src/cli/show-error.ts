import { DecryptionError } from '../encryption.js';
import { PerennialConnectionError, PerennialError } from '../errors.js';
import { CommandError, EXIT, type Io, UsageError } from './frame/io.js';
import { createPaint, visible, writeJson } from './frame/text.js';

export const PROGRAM = 'npx perennial-channel';

/** Returns the command that shows the help of a command or group, or of all commands if `about` is empty. */
const helpFor = (about: string): string => `${PROGRAM} help ${about}`.trim();

/** Prints the error and returns its exit status. */
export function showError(io: Io, error: unknown, isJson: boolean): number {
  const status = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  if (isJson) io.out(writeJson({ error: toJson(error) }));
  else io.err(toText(io, error));
  if (io.env['PERENNIAL_DEBUG'] === '1') io.err(stackOf(error));
  return status;
}

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack.split('\n').map(visible).join('\n');
}

/** Describes an unexpected error. */
const describeUnexpected = (error: unknown): string =>
  `unexpected error: ${error}; set PERENNIAL_DEBUG=1 to see the stack`;

const isFailure = (error: unknown): boolean => error instanceof CommandError || error instanceof DecryptionError;

function toJson(error: unknown): object {
  const message = error instanceof Error ? error.message : '';
  if (error instanceof PerennialError) {
    const { code, name, httpStatus, requestId, endpoint, idempotencyKey, diagnosis } = error;
    return { code, name, message, httpStatus, requestId, endpoint, idempotencyKey, diagnosis };
  }
  if (error instanceof PerennialConnectionError) {
    const { reason, requestId, endpoint, idempotencyKey } = error;
    return { name: 'NO_ANSWER', reason, message, requestId, endpoint, idempotencyKey };
  }
  if (error instanceof UsageError) return { name: 'USAGE', message, help: helpFor(error.about) };
  if (isFailure(error)) return { name: 'FAILED', message };
  return { name: 'UNFORESEEN', message: describeUnexpected(error) };
}

function toText(io: Io, error: unknown): string {
  const paint = createPaint(io.hasColours);
  const message = error instanceof Error ? error.message : '';
  const said = (text: string) => `perennial-channel: ${paint.red(visible(text))}`;
  if (error instanceof PerennialError) {
    const { code, name, requestId, endpoint, diagnosis } = error;
    return [
      said(`${endpoint} was refused: ${code} ${name}: ${message}`),
      `request id ${visible(requestId)}`,
      ...(diagnosis ? describeLines(diagnosis) : []),
    ].join('\n');
  }
  if (error instanceof PerennialConnectionError) {
    return [said(`${error.endpoint}: ${message}`), ...tryAgain(error)].join('\n');
  }
  if (error instanceof UsageError) return `${said(message)}\nSee: ${helpFor(error.about)}`;
  return said(isFailure(error) ? message : describeUnexpected(error));
}

/** Suggests what to do after a missing response: the request may have been executed. */
function tryAgain({ reason, idempotencyKey, attempts }: PerennialConnectionError): string[] {
  if (reason === 'connection') {
    return [
      'is the service running at this address? To start a local sandbox, run npm start in a clone of the repository',
    ];
  }
  // 0 attempts: the client could not get a token, so the request was never sent.
  if (idempotencyKey === undefined || attempts === 0) return [];
  return [
    `the request may have been executed: repeat the command with --idempotency-key ${idempotencyKey} to find out; it is executed only once`,
  ];
}

function describeLines({ lines }: NonNullable<PerennialError['diagnosis']>): string[] {
  return [
    'the service computed the signature over these lines:',
    ...lines.map((line, place) => `  ${place + 1}  ${line === '' ? '(empty)' : visible(line)}`),
  ];
}
