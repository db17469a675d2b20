import { randomUUID } from 'node:crypto';
import { WEBHOOK_TIMEOUT_MS } from '@perennial/wire';
import { Argument, Option } from 'commander';
import { readSecret } from '../../secrets.js';
import { createClient, type EventCredentials, readChannel, readEventCredentials } from '../channel-file.js';
import type { Call, CommandFacts } from '../frame/command.js';
import { CommandError, EXIT, type Io, UsageError } from '../frame/io.js';
import { createPaint, visible, writeJson } from '../frame/text.js';
import { describePushAnswer, type PushAnswer, readReceiverUrl, sendPush } from '../pushes/send-push.js';
import { type Case, createCases } from './cases.js';
import { explainGood } from './explain-good.js';
import { createPushMaker, createTestEvents, type OrderNumbers } from './test-push.js';

const NEW_SECRET_VARIABLE = 'PERENNIAL_NEW_CALLBACK_SECRET';

export const CHECK_RECEIVER: CommandFacts = {
  name: 'check-receiver',
  summary: 'Send a receiver valid and invalid events, and check its answers',
  argument: new Argument('<url>', 'address of the receiver'),
  options: [
    new Option('--strict', 'exit with status 1 also if a "should" is not met'),
    new Option(
      '--order <no>',
      'number of an order that the receiver knows; its other numbers are fetched from the service',
    ),
    new Option('--external-order-no <no>', 'your own number of the order; then nothing is fetched from the service'),
    new Option('--channel-user-id <id>', 'your id of the user of the order'),
    new Option(
      '--new-callback-secret <secret>',
      `a second secret that the receiver accepts, as during a reset of callbackSecret; prefer the variable ${NEW_SECRET_VARIABLE}, because other users can see a command's arguments`,
    ),
  ],
  notes: `The events are signed with the channel's callbackSecret. Only their eventId, which begins with "test-", distinguishes them from real
events. They are about order 999999999999999, which does not exist. If the receiver refuses unknown orders, create one in the sandbox
and name it with --order: the receiver then gets events about it that have not happened.

A "must" is required by /developers/guides/webhooks, a "should" is recommended. If the receiver refuses a valid event, the reason is
shown and the other checks are skipped. Exit status: 0 if every "must" is met, 1 otherwise.`,
  examples: [
    'check-receiver http://localhost:3000/events',
    'check-receiver http://localhost:3000/events --strict --json',
    'check-receiver http://localhost:3000/events --order 100000001000',
    'check-receiver http://localhost:3000/events --order 100000001000 --external-order-no X-1 --channel-user-id u1',
  ],
  run: checkReceiver,
};

/** A case with its result. */
interface Verdict extends Pick<Case, 'name' | 'sent' | 'duty' | 'proof' | 'eventId'> {
  readonly expected: string;
  /** Whether the receiver meets the requirement. Null if the case was skipped because it would prove nothing. */
  readonly isMet: boolean | null;
  /** The first unexpected response, or the last response if all were expected. */
  readonly got: string;
  readonly advice: string;
}

async function checkReceiver(call: Call): Promise<number> {
  const { io, given, words } = call;
  const url = readReceiverUrl(words[0] ?? '');
  const channel = readEventCredentials(call);
  const newCallbackSecret = readSecrets(call, channel);
  const now = () => io.now();
  const events = createTestEvents(channel, randomUUID().slice(0, 8), now(), await readOrderNumbers(call));
  const cases = createCases({ make: createPushMaker(channel, url.pathname, now), events, now, newCallbackSecret });
  const say = (text: string) => (given['json'] ? undefined : io.out(text));
  const verdicts = await playAll(io, url, cases, (verdict) => say(describeVerdict(io, verdict)));
  const skipped = verdicts.filter(({ isMet }) => isMet === null).map(({ name }) => name);
  if (skipped.length > 0) say(`not judged, for the same reason: ${skipped.join(', ')}`);
  return conclude(io, verdicts, given['strict'] === true, given['json'] === true);
}

/**
 * Returns the order's numbers from the command line. If `order` is given without `externalOrderNo`, gets the missing
 * numbers from the service.
 */
async function readOrderNumbers(call: Call): Promise<OrderNumbers> {
  const { order: orderNo, externalOrderNo, channelUserId } = call.given;
  if (orderNo === undefined || externalOrderNo !== undefined) return { orderNo, externalOrderNo, channelUserId };
  const client = createClient(readChannel(call), { retries: 0 });
  for await (const { data } of client.events.listAll({ orderNo })) {
    if ('channelUserId' in data) {
      return { orderNo, externalOrderNo: data.externalOrderNo, channelUserId: channelUserId ?? data.channelUserId };
    }
  }
  throw new CommandError(`order ${orderNo} has no payment event yet: name another order`);
}

/** Checks the channel's secrets and returns the next callbackSecret, if given. Errors do not quote a secret. */
function readSecrets({ io, given }: Call, { callbackSecret, aesKey }: EventCredentials): string | undefined {
  const { newCallbackSecret: named } = given;
  const next = named ?? (io.env[NEW_SECRET_VARIABLE] || undefined);
  try {
    readSecret('callbackSecret', callbackSecret);
    readSecret('aesKey', aesKey);
    if (next !== undefined) readSecret(named === undefined ? NEW_SECRET_VARIABLE : '--new-callback-secret', next);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return next;
}

/** Plays the cases one after the other. Stops as soon as the remaining cases would prove nothing. */
async function playAll(io: Io, url: URL, cases: readonly Case[], tell: (verdict: Verdict) => void): Promise<Verdict[]> {
  const { pushTimeoutMs: timeoutMs = WEBHOOK_TIMEOUT_MS } = io;
  const verdicts: Verdict[] = [];
  let slowestMs = 0;
  for (const one of cases) {
    const answers = await play(url, one, timeoutMs);
    for (const answer of answers) if (answer.kind !== 'unreachable') slowestMs = Math.max(slowestMs, answer.ms);
    const verdict = judge(one, answers, url);
    verdicts.push(verdict);
    tell(verdict);
    if (isLost(verdict, answers)) {
      const rest = cases.slice(verdicts.length).map(withoutPushes);
      return [...verdicts, ...[...rest, judgeTime(slowestMs, timeoutMs)].map(leaveOpen)];
    }
  }
  const inTime = judgeTime(slowestMs, timeoutMs);
  tell(inTime);
  return [...verdicts, inTime];
}

/** Returns true if the receiver refuses valid events or cannot be reached: further cases would prove nothing. */
const isLost = ({ name, isMet }: Verdict, answers: readonly PushAnswer[]): boolean =>
  (name === 'good' && !isMet) || answers.every(({ kind }) => kind === 'unreachable');

const withoutPushes = ({ pushes: _, ...one }: Case): Omit<Case, 'pushes'> => one;

const leaveOpen = ({ proof: _proof, eventId: _eventId, ...one }: Omit<Case, 'pushes'> | Verdict): Verdict => ({
  ...one,
  ...{ isMet: null, got: 'not judged', advice: '' },
});

async function play(url: URL, { pushes }: Case, timeoutMs: number): Promise<PushAnswer[]> {
  const answers: PushAnswer[] = [];
  for (const group of pushes) answers.push(...(await Promise.all(group.map((push) => sendPush(url, push, timeoutMs)))));
  return answers;
}

/** Judges the responses. A broken connection counts as neither accepted nor refused. */
function judge(played: Case, answers: readonly PushAnswer[], url: URL): Verdict {
  const one = withoutPushes(played);
  const unexpected = answers.find(({ kind }) => kind !== one.expected);
  const shown = unexpected ?? answers.at(-1);
  const verdict = { ...one, isMet: unexpected === undefined, got: shown ? describePushAnswer(shown) : 'nothing' };
  if (unexpected === undefined) return verdict;
  if (one.name === 'good') return { ...verdict, advice: adviseOnGood(answers, unexpected, url) };
  return unexpected.kind === 'unreachable' ? { ...verdict, advice: GONE } : verdict;
}

const GONE = 'the receiver answered before and is now unreachable: has an earlier event crashed it?';

function adviseOnGood(answers: readonly PushAnswer[], unexpected: PushAnswer, url: URL): string {
  const reason = explainGood(unexpected, url);
  const isPartial = answers[0]?.kind === 'accepted';
  return isPartial ? `it accepts the payment event but not the order event: ${reason}` : reason;
}

const judgeTime = (ms: number, timeoutMs: number): Verdict => ({
  name: 'in time',
  sent: 'all of these',
  duty: 'must',
  expected: 'answers within 5 s',
  advice: 'answer within 5 s, from the DNS lookup to the last byte: store the event and process it afterwards',
  isMet: ms < timeoutMs,
  got: `the slowest answer took ${ms} ms`,
});

function describeVerdict(io: Io, { name, sent, duty, expected, isMet, got, advice, proof }: Verdict): string {
  const paint = createPaint(io.hasColours);
  const mark = isMet ? paint.green('ok  ') : duty === 'must' ? paint.red('FAIL') : paint.yellow('warn');
  const line = `${mark}  ${duty.padEnd(6)}  ${name}: ${sent}; expected ${expected}, got ${visible(got)}`;
  const more = isMet ? proof : advice;
  return more === undefined ? line : `${line}\n      ${visible(more)}`;
}

function conclude(io: Io, verdicts: readonly Verdict[], isStrict: boolean, isJson: boolean): number {
  const count = (isMet: boolean | null, duty?: Case['duty']) =>
    verdicts.filter((one) => one.isMet === isMet && (duty ?? one.duty) === one.duty).length;
  const [musts, shoulds, unjudged] = [count(false, 'must'), count(false, 'should'), count(null)];
  const isGood = musts === 0 && unjudged === 0 && (!isStrict || shoulds === 0);
  const rest = unjudged === 0 ? '' : `, ${unjudged} not judged`;
  if (isJson) io.out(writeJson({ ok: isGood, verdicts }));
  else io.out(`${count(true)} of ${verdicts.length} met; not met: ${musts} must, ${shoulds} should${rest}`);
  return isGood ? EXIT.ok : EXIT.failed;
}
