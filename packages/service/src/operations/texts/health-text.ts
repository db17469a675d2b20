import type { Static } from '@perennial/wire';
import type { healthAnswer, testAnswer } from '../../operator/schemas/health.js';
import { paragraphs, type SafeText } from '../command/safe-text.js';
import { table } from '../command/table.js';

type Health = Static<typeof healthAnswer>;
type Calls = Health['institutions'][number]['calls'];

const COUNTS = ['CALLS', 'SUCCEEDED', 'DECLINED', 'UNKNOWN', 'AVERAGE', 'SLOWEST'];

const countTexts = ({ calls, succeeded, declined, unknown, averageMs, slowestMs }: Calls) => [
  ...[calls, succeeded, declined, unknown].map(String),
  msText(averageMs),
  msText(slowestMs),
];

const msText = (ms: number | null) => (ms === null ? '-' : `${ms} ms`);

function stateText({ debitsPausedAt, silentSince, decliningSince, calls }: Health['institutions'][number]): string {
  if (silentSince !== null) return `no answer since ${silentSince}`;
  if (decliningSince !== null) return `declines everything since ${decliningSince}`;
  if (debitsPausedAt !== null) return `renewals held since ${debitsPausedAt}`;
  return calls.calls === 0 ? 'no calls' : 'answers';
}

export function healthText({ institutions, suppliers, callbacks }: Health): SafeText {
  return paragraphs([
    table(
      ['PAYMENT CHANNEL', 'STATE', ...COUNTS],
      institutions.map((one) => [one.code, stateText(one), ...countTexts(one.calls)]),
    ),
    table(
      ['SUPPLIER OF', 'NAME', ...COUNTS],
      suppliers.map((one) => [one.benefitCode, one.name ?? '', ...countTexts(one.calls)]),
    ),
    table(
      ['CALLBACKS OF', ...COUNTS],
      callbacks.channels.map((one) => [one.appId, ...countTexts(one.calls)]),
    ),
  ]);
}

export function testCallsText({ calls }: Static<typeof testAnswer>): SafeText {
  return table(
    ['CALL', 'RESULT', 'TIME', 'ANSWER'],
    calls.map(({ operation, isAnswered, ms, said }) => [
      operation,
      isAnswered ? 'answered' : 'failed',
      msText(ms),
      said,
    ]),
  );
}
