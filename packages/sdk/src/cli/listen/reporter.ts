import type { PulledPush } from '@perennial/wire';
import type { Io } from '../frame/io.js';
import { createPaint, visible, writeJson } from '../frame/text.js';
import { describeEvent } from '../pushes/describe-event.js';
import { describePushAnswer, type SeenAnswer } from '../pushes/send-push.js';
import type { Known } from './state.js';

export type Reporter = ReturnType<typeof createReporter>;

/** Prints a listener's progress. Reports the beginning and the end of each outage once. */
export function createReporter(io: Io, isJson: boolean) {
  const paint = createPaint(io.hasColours);
  const away = { receiver: false, service: false };
  let count = 0;
  const say = (what: object, text: string) => (isJson ? io.out(writeJson(what)) : io.err(text));
  const isAway = (who: keyof typeof away, why: string) => {
    if (away[who]) return;
    away[who] = true;
    say({ waiting: who, why }, paint.yellow(`waiting for the ${who}: ${visible(why)}`));
  };
  const isBack = (who: keyof typeof away) => {
    if (!away[who]) return;
    away[who] = false;
    say({ back: who }, `the ${who} is back`);
  };
  return {
    started({ url, file }: { readonly url: URL; readonly file: string }) {
      // Omits the user and password that the URL may contain.
      const forward = `${url.origin}${url.pathname}`;
      const text = `forwarding to ${visible(forward)}; progress is stored in ${visible(file)}`;
      say({ listening: true, forward, state: file }, text);
    },
    forwarded(push: PulledPush, answer: SeenAnswer) {
      count += 1;
      const { eventId, eventType, occurredAt, body } = push;
      const data = readData(body);
      const isAccepted = answer.kind === 'accepted';
      if (isJson) {
        io.out(writeJson({ eventId, eventType, occurredAt, data, answer }));
        return;
      }
      const told = describeEvent({ eventType, data });
      const line = [eventId.padEnd(8), occurredAt, ...told].map(visible).join('  ');
      io.out(`${line}  ${paint[isAccepted ? 'green' : 'red'](visible(describePushAnswer(answer)))}`);
    },
    receiverIsAway: (why: string) => isAway('receiver', why),
    receiverIsBack: () => isBack('receiver'),
    serviceIsAway: (why: string) => isAway('service', why),
    serviceIsBack: () => isBack('service'),
    ended(refused: readonly Known[], again: string) {
      const ids = refused.map(({ eventId }) => eventId);
      const lines = ids.length === 0 ? [] : [`not accepted: ${ids.map(visible).join(', ')}; to resend them: ${again}`];
      say({ ended: true, forwarded: count, refused: ids }, [`${count} forwarded`, ...lines].join('\n'));
    },
  };
}

const readData = (body: string): unknown => (JSON.parse(body) as { readonly data?: unknown }).data;
