import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlert } from '../alerts/alerts-sql.js';
import { ALL_TYPE_NOS, typeNoOf } from '../delivery/event-type-sql.js';
import { type DueEvent, readChannel, START } from '../delivery/queue/due-sql.js';
import { type DeliveryOutcome, expandRange, finishPushes, type PushOutcome } from '../delivery/queue/finish-sql.js';
import { type HeldShard, SHARDS } from '../delivery/queue/shards-sql.js';
import { findShard, stampUndelivered } from './demo-sql.js';
import type { Provisioned, StagedChannel } from './provision.js';
import type { Random } from './random.js';
import { DAY_MS, HOUR_MS, type Stage } from './stage.js';

/** How a receiver answered. */
interface PushAnswer {
  readonly outcome: DeliveryOutcome;
  readonly httpStatus: number | null;
  readonly latencyMs: number;
  readonly answer: string | null;
}

/** Since when one kind of a channel's events is held back. */
export interface Pause {
  readonly appId: string;
  readonly since: number;
}

/** Rows that one statement writes. */
const ROWS_PER_STEP = 2_000;
const PERIODS_PER_EXPANSION = 100;

/**
 * What was sent, and what became of it. Nobody is there to send to, so nothing is: the answers that a receiver of such a
 * manner would have given are written down by the statements that write down answers, with the time at which they would
 * have come.
 */
export async function deliverEvents(stage: Stage, { channels, channelIds }: Provisioned, pause: Pause): Promise<void> {
  const { story, end } = stage;
  const random = stage.randomFor('receivers');
  for (const staged of channels) {
    const held = await findShard(story.database, staged.channel.channelId % SHARDS);
    for (let due = await readDue(stage, held, staged, pause); due.length > 0; ) {
      await push(stage, held, staged, due, random);
      due = await readDue(stage, held, staged, pause);
    }
  }
  await story.moveTo(end);
  await stampUndelivered(story.database, channelIds);
}

/** What was due before the end, without what is held back. Several periods that were voided at once become a row each. */
async function readDue(
  { story, end }: Stage,
  held: HeldShard,
  staged: StagedChannel,
  pause: Pause,
): Promise<DueEvent[]> {
  const { channelId } = staged.channel;
  const place = { shard: held.shard, after: START };
  const found = await readChannel(story.database, place, { channelId, typeNos: ALL_TYPE_NOS }, ROWS_PER_STEP, end);
  const due: DueEvent[] = [];
  for (const one of found) {
    if (
      staged.appId === pause.appId &&
      one.typeNo === typeNoOf('payment.status.changed') &&
      toTime(one.nextAt) >= pause.since
    )
      continue;
    if (one.cycleTo === null) due.push(one);
    else
      due.push(
        ...(await expandRange(story.database, held, one, PERIODS_PER_EXPANSION)).filter((row) => row.cycleTo === null),
      );
  }
  return due;
}

async function push(
  { story, end }: Stage,
  held: HeldShard,
  { appId, receiver }: StagedChannel,
  due: readonly DueEvent[],
  random: Random,
): Promise<void> {
  const outcomes = due.map((one): PushOutcome => {
    const began = toTime(one.nextAt) + random.between(20, 900);
    const answered = answerOf(receiver, random, end - began);
    return { ...answered, shard: held, due: one, endedAt: 0, at: Math.min(began + answered.latencyMs, end) };
  });
  const lastPush = outcomes.findLast(({ outcome }) => outcome !== 'ACCEPTED')?.at ?? end;
  for (const { count } of await finishPushes(story.database, outcomes)) {
    await story.moveTo(lastPush);
    await raiseAlert(story.database, 'webhook-given-up', appId, alertText('webhook-given-up', count));
  }
}

/** `ago`: how long before the end of the story. */
function answerOf(manner: StagedChannel['receiver'], random: Random, ago: number): PushAnswer {
  const latencyMs = random.between(35, 420);
  if (manner === 'refuses-lately' && ago < 30 * HOUR_MS) {
    return { outcome: 'REFUSED', httpStatus: 401, latencyMs, answer: '{"error":"signature does not match"}' };
  }
  // A release that went wrong, nine days ago.
  if (manner === 'away-for-hours' && ago < 9 * DAY_MS + 4 * HOUR_MS && ago > 9 * DAY_MS) {
    return random.chance(0.7)
      ? { outcome: 'UNREACHABLE', httpStatus: null, latencyMs: random.between(2, 30), answer: 'connection refused' }
      : { outcome: 'TIMEOUT', httpStatus: null, latencyMs: 5_000, answer: 'no answer within 5 s' };
  }
  const chance = random.fraction();
  if (chance < 0.015) return { outcome: 'REFUSED', httpStatus: 500, latencyMs, answer: 'Internal Server Error' };
  if (chance < 0.022) return { outcome: 'TIMEOUT', httpStatus: null, latencyMs: 5_000, answer: 'no answer within 5 s' };
  if (chance < 0.026) return { outcome: 'REFUSED', httpStatus: 503, latencyMs, answer: 'upstream connect error' };
  return { outcome: 'ACCEPTED', httpStatus: 200, latencyMs, answer: null };
}

/** Times of the session are in Asia/Shanghai, which is always eight hours ahead. */
const toTime = (text: string) => Date.parse(`${text.replace(' ', 'T')}:00`);
