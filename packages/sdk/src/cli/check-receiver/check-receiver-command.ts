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
import { type CountEffects, createEffectsCounter, waitForEffects } from './effects.js';
import { explainGood } from './explain-good.js';
import { createPushMaker, createTestEvents, type OrderNumbers } from './test-push.js';

const NEW_SECRET_VARIABLE = 'PERENNIAL_NEW_CALLBACK_SECRET';

export const EFFECTS = new Option(
  '--effects <url|command>',
  'proves de-duplication: gives the number of effects that the receiver has recorded for an event. A URL gets ?eventId=ID, a command the variable EVENT_ID; both answer only the number',
);

export const CHECK_RECEIVER: CommandFacts = {
  name: 'check-receiver',
  summary: 'Send a receiver valid and invalid events, and check its answers',
  argument: new Argument('<url>', 'address of the receiver'),
  options: [
    new Option('--strict', 'exit with status 1 also if a "should" is not met, or if de-duplication is not proven'),
    EFFECTS,
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
shown and the other checks are skipped. Answers alone do not prove that a repeated event takes effect once: --effects does.
Exit status: 0 if every "must" is met, 1 otherwise.`,
  examples: [
    'check-receiver http://localhost:3000/events',
    'check-receiver http://localhost:3000/events --strict --json --effects http://localhost:3000/effects',
    `check-receiver http://localhost:3000/events --effects 'grep -c "processed $EVENT_ID" shop.log'`,
    'check-receiver http://localhost:3000/events --order 100000001000',
    'check-receiver http://localhost:3000/events --order 100000001000 --external-order-no X-1 --channel-user-id u1',
  ],
  run: checkReceiver,
};

/** A case with its result. */
export interface Verdict extends Pick<Case, 'name' | 'sent' | 'duty' | 'proof' | 'eventId'> {
  readonly expected: string;
  /** Whether the receiver meets the requirement. Null if the case was skipped because it would prove nothing. */
  readonly isMet: boolean | null;
  /** The first unexpected response, or the last response if all were expected. */
  readonly got: string;
  readonly advice: string;
  /** False if the responses cannot prove that the requirement is met. Only for the repeated event. */
  readonly isProven?: boolean;
}

async function checkReceiver(call: Call): Promise<number> {
  const { io, given, words } = call;
  const say = (text: string) => (given['json'] ? undefined : io.out(text));
  const isStrict = given['strict'] === true;
  const url = readReceiverUrl(words[0] ?? '');
  const verdicts = await judgeReceiver(call, url, (verdict) => say(describeVerdict(io, verdict, isStrict)));
  const skipped = verdicts.filter(({ isMet }) => isMet === null).map(({ name }) => name);
  if (skipped.length > 0) say(`not judged, for the same reason: ${skipped.join(', ')}`);
  return conclude(io, verdicts, isStrict, given['json'] === true);
}

/** Runs all checks of a receiver with the options of check-receiver. Calls `tell` with each verdict. */
export async function judgeReceiver(call: Call, url: URL, tell: (verdict: Verdict) => void): Promise<Verdict[]> {
  const { io, given } = call;
  const channel = readEventCredentials(call);
  const newCallbackSecret = readSecrets(call, channel);
  const now = () => io.now();
  const events = createTestEvents(channel, randomUUID().slice(0, 8), now(), await readOrderNumbers(call));
  const cases = createCases({ make: createPushMaker(channel, url.pathname, now), events, now, newCallbackSecret });
  const countEffects = given['effects'] === undefined ? undefined : createEffectsCounter(given['effects'], io.env);
  // Asked before the first event, so that a wrong --effects is reported at once.
  await countEffects?.(events.nextId());
  const played = await playAll(io, url, cases, (verdict) => {
    if (verdict.eventId === undefined || !countEffects) tell(withProof(verdict));
  });
  const verdicts = await Promise.all(
    played.map((verdict) => (countEffects ? judgeEffects(io, verdict, countEffects) : withProof(verdict))),
  );
  if (countEffects) for (const verdict of verdicts) if (verdict.eventId !== undefined) tell(verdict);
  return verdicts;
}

/**
 * Returns the order's numbers from the command line. If `order` is given without `externalOrderNo`, gets the missing
 * numbers from the service.
 */
async function readOrderNumbers(call: Call): Promise<OrderNumbers> {
  const { order: orderNo, externalOrderNo, channelUserId } = call.given;
  if (orderNo === undefined || externalOrderNo !== undefined) return { orderNo, externalOrderNo, channelUserId };
  const client = createClient(call.io, readChannel(call), { retries: 0 });
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

/** Marks a requirement as unproven if the receiver meets it as far as its responses show. */
const withProof = (verdict: Verdict): Verdict =>
  verdict.eventId !== undefined && verdict.isMet ? { ...verdict, isProven: false } : verdict;

/** Judges whether the repeated event has taken effect once, after all other events have been sent. */
async function judgeEffects(io: Io, verdict: Verdict, count: CountEffects): Promise<Verdict> {
  const { eventId, proof: _, ...one } = verdict;
  if (eventId === undefined || !one.isMet) return verdict;
  const effects = await waitForEffects(count, eventId, io.pushTimeoutMs ?? WEBHOOK_TIMEOUT_MS);
  const got = `${one.got}, and ${effects} ${effects === 1 ? 'effect' : 'effects'}`;
  const expected = `${one.expected}, and one effect`;
  return { ...one, eventId, expected, got, isMet: effects === 1, isProven: true };
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

function describeVerdict(io: Io, verdict: Verdict, isStrict: boolean): string {
  const { name, sent, duty, expected, isMet, got, advice, proof, isProven } = verdict;
  const paint = createPaint(io.hasColours);
  const isFailure = isStrict || (duty === 'must' && !isMet);
  const mark = isMet && isProven !== false ? paint.green('ok  ') : isFailure ? paint.red('FAIL') : paint.yellow('warn');
  const line = `${mark}  ${duty.padEnd(6)}  ${name}: ${sent}; expected ${expected}, got ${visible(got)}`;
  const more = isMet ? proof : advice;
  return more === undefined ? line : `${line}\n      ${visible(more)}`;
}

function conclude(io: Io, verdicts: readonly Verdict[], isStrict: boolean, isJson: boolean): number {
  const count = (isMet: boolean | null, duty?: Case['duty']) =>
    verdicts.filter((one) => one.isMet === isMet && (duty ?? one.duty) === one.duty).length;
  const [musts, shoulds, unjudged] = [count(false, 'must'), count(false, 'should'), count(null)];
  const unproven = verdicts.filter(({ isProven }) => isProven === false).length;
  const isGood = musts === 0 && unjudged === 0 && (!isStrict || shoulds + unproven === 0);
  const rest = unjudged === 0 ? '' : `, ${unjudged} not judged`;
  const met = `${count(true) - unproven} of ${verdicts.length} met${unproven === 0 ? '' : `, ${unproven} not provable`}`;
  if (isJson) io.out(writeJson({ ok: isGood, verdicts }));
  else io.out(`${met}; not met: ${musts} must, ${shoulds} should${rest}`);
  return isGood ? EXIT.ok : EXIT.failed;
}
