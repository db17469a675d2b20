import { range, tally } from './caller.mjs';
import { makeEvents } from './events.mjs';
import { sendWhileLocked } from './locked.mjs';
import { runAlone } from './run.mjs';

export const attack = {
  name: 'replays',
  about: 'events/replay of everything that was never delivered, all at once',
  numbers: {
    requests: { usual: 60, short: 30, most: 1_000, means: 'replays asked for at once' },
    events: { usual: 200_000, short: 1_500, means: 'events that were not delivered' },
  },
  mayEndAs: ['0', '429001'],

  /** A channel without an address: nothing can be delivered. */
  async prepare({ stage, options, signal }) {
    const attacker = await stage.usualAttacker();
    await makeEvents(stage, attacker, options.events, signal);
    return { attacker };
  },

  async run({ stage, options, signal, prepared: { attacker } }) {
    const everything = { from: '2020-01-01 00:00:00' };
    const send = () => range(options.requests).map(() => attacker.call('events/replay', everything, { signal }));
    const { replies, findings } = await sendWhileLocked(stage, rowsOf(attacker), send, signal);
    const replayed = replies.reduce((sum, { data }) => sum + (data?.replayed ?? 0), 0);
    return { ended: tally(replies.map(({ code }) => code)), figures: { 'events sent again': replayed }, findings };
  },
};

/** What a replay takes up again. */
const rowsOf = ({ channel }) => ({
  lock: 'select from undelivered_events join channels using (channel_id) where app_id = $1 for update of undelivered_events',
  values: [channel.appId],
});

await runAlone(import.meta.url, attack);
