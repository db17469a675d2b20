import { randomUUID } from 'node:crypto';
import { WEBHOOK_TIMEOUT_MS } from '@perennial/wire';
import { readSecret } from '../../secrets.js';
import { readEventCredentials } from '../channel-file.js';
import { type Call, type Command, textOf } from '../frame/command.js';
import { CommandError, EXIT, type Io, UsageError } from '../frame/io.js';
import { createPaint, visible } from '../frame/text.js';
import { describePushAnswer, type PushAnswer, readReceiverUrl, sendPush } from '../pushes/send-push.js';
import { type Case, createCases } from './cases.js';
import { createPushMaker, createTestEvents } from './test-push.js';

export const CHECK_RECEIVER: Command = {
  name: 'check-receiver',
  summary: 'Send a receiver good and bad events, and say which duties of the document it meets',
  words: 'URL',
  maxWords: 1,
  options: [
    { name: 'strict', kind: 'flag', about: 'what it should do counts as well' },
    {
      name: 'new-callback-secret',
      kind: 'text',
      value: 'SECRET',
      about: 'a second callbackSecret that the receiver is told to take, as during a reset',
    },
  ],
  notes: [
    `Every event of it has an eventId that begins with "test-", and is about order 999999999999999, which is nobody's. Exit status 0
when every must is met, 1 otherwise.`,
  ],
  examples: [
    'check-receiver http://localhost:3000/events',
    'check-receiver http://localhost:3000/events --strict --json',
  ],
  usesChannel: true,
  run: checkReceiver,
};

/** A case, and what came of it. */
interface Verdict extends Pick<Case, 'name' | 'sent' | 'duty' | 'advice'> {
  readonly expected: string;
  readonly isMet: boolean;
  /** Of the answers, the first that was not as expected, or else the last. */
  readonly got: string;
}

async function checkReceiver({ io, given, words }: Call): Promise<number> {
  const [address] = words;
  if (address === undefined) throw new UsageError('check-receiver: where is the receiver? check-receiver URL');
  const url = readReceiverUrl(address);
  const channel = readEventCredentials(io, given);
  const newCallbackSecret = textOf(given, 'new-callback-secret');
  requireSecrets(channel.callbackSecret, channel.aesKey, newCallbackSecret);
  const now = () => io.now();
  const events = createTestEvents(channel, randomUUID().slice(0, 8), now());
  const cases = createCases({ make: createPushMaker(channel, url.pathname, now), events, now, newCallbackSecret });
  const verdicts: Verdict[] = [];
  const { pushTimeoutMs: timeoutMs = WEBHOOK_TIMEOUT_MS } = io;
  const slowest = { ms: 0 };
  for (const one of cases) {
    const verdict = judge(one, await play(url, one, timeoutMs, slowest));
    verdicts.push(verdict);
    if (!given['json']) io.out(describeVerdict(io, verdict));
  }
  const inTime = judgeTime(slowest.ms, timeoutMs);
  verdicts.push(inTime);
  if (!given['json']) io.out(describeVerdict(io, inTime));
  return conclude(io, verdicts, given['strict'] === true, given['json'] === true);
}

/** Throws for what cannot be a secret, without a character of it. */
function requireSecrets(callbackSecret: string, aesKey: string, newCallbackSecret: string | undefined): void {
  try {
    readSecret('callbackSecret', callbackSecret);
    readSecret('aesKey', aesKey);
    if (newCallbackSecret !== undefined) readSecret('--new-callback-secret', newCallbackSecret);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function play(url: URL, { pushes }: Case, timeoutMs: number, slowest: { ms: number }): Promise<PushAnswer[]> {
  const answers: PushAnswer[] = [];
  for (const group of pushes) answers.push(...(await Promise.all(group.map((push) => sendPush(url, push, timeoutMs)))));
  for (const answer of answers) {
    if (answer.kind === 'unreachable') throw new CommandError(`${url.href} cannot be reached: ${answer.why}`);
    slowest.ms = Math.max(slowest.ms, answer.ms);
  }
  return answers;
}

/** A broken connection accepts nothing; only an answer refuses, though. */
function judge({ pushes: _, ...one }: Case, answers: readonly PushAnswer[]): Verdict {
  const isExpected = ({ kind }: PushAnswer) => kind === one.expected;
  const shown = answers.find((answer) => !isExpected(answer)) ?? answers.at(-1);
  return { ...one, isMet: answers.every(isExpected), got: shown ? describePushAnswer(shown) : 'nothing' };
}

const judgeTime = (ms: number, timeoutMs: number): Verdict => ({
  name: 'in time',
  sent: 'all of these',
  duty: 'must',
  expected: 'answers within 5 s',
  advice:
    'answer within 5 s, from the look-up of the name to the last byte: write the event down, and work on it afterwards',
  isMet: ms < timeoutMs,
  got: `the slowest answer took ${ms} ms`,
});

function describeVerdict(io: Io, { name, sent, duty, expected, isMet, got, advice }: Verdict): string {
  const paint = createPaint(io.hasColours);
  const mark = isMet ? paint.green('ok  ') : duty === 'must' ? paint.red('FAIL') : paint.yellow('warn');
  const line = `${mark}  ${duty.padEnd(6)}  ${name}: ${sent}; expected ${expected}, got ${visible(got)}`;
  return isMet ? line : `${line}\n      ${advice}`;
}

function conclude(io: Io, verdicts: readonly Verdict[], isStrict: boolean, isJson: boolean): number {
  const failed = (duty: Case['duty']) => verdicts.filter((one) => one.duty === duty && !one.isMet).length;
  const [musts, shoulds] = [failed('must'), failed('should')];
  const isGood = musts === 0 && (!isStrict || shoulds === 0);
  if (isJson) io.out(JSON.stringify({ ok: isGood, verdicts }));
  else
    io.out(
      `${verdicts.length - musts - shoulds} of ${verdicts.length} met, ${musts} must and ${shoulds} should are not`,
    );
  return isGood ? EXIT.ok : EXIT.failed;
}
