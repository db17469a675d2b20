import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { help, readOptions, UsageError } from './options.mjs';
import { harmOf, report } from './report.mjs';
import { openStage, startBystander } from './stage.mjs';

const PREPARE_SECONDS = 300;

/** How long the bystander goes on after the attack. */
const AFTERMATH_MS = { usual: 3_000, short: 500 };

/** Runs an attack if its file is the one that was started. */
export async function runAlone(url, attack) {
  if (process.argv[1] === fileURLToPath(url)) await main([attack], { isAlone: true });
}

/** Runs attacks one after another and prints what came of each. The exit status is 1 if one of them did harm. */
export async function main(attacks, form = { isAlone: false }) {
  const say = (text) => process.stderr.write(text);
  const interrupted = new AbortController();
  setMaxListeners(0, interrupted.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort());
  try {
    const asked = readOptions(process.argv.slice(2), attacks, form);
    if (asked === undefined) {
      process.stdout.write(help(attacks, form));
      return;
    }
    const results = await performAll(asked, { interrupted: interrupted.signal, say });
    if (asked.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
    (asked.json ? process.stderr : process.stdout).write(`\n${report(results)}`);
    process.exitCode = results.every((result) => harmOf(result).length === 0) ? 0 : 1;
  } catch (error) {
    const wasStopped = interrupted.signal.aborted;
    if (wasStopped) say('stopped\n');
    else say(error instanceof UsageError ? `${error.message}\n\n${help(attacks, form)}` : `${error.stack}\n`);
    process.exitCode = wasStopped ? 130 : 1;
  }
}

/** A service for each attack; in the short form one for all of them, as long as it lives. */
async function performAll({ attacks, short }, { interrupted, say }) {
  const results = [];
  let stage;
  try {
    for (const { attack, options } of attacks) {
      interrupted.throwIfAborted();
      if (stage !== undefined && (!short || stage.hasEnded())) {
        await stage.close();
        stage = undefined;
      }
      say(`${attack.name}: getting ready\n`);
      stage ??= await openStage(interrupted);
      const result = await perform(attack, stage, { options, short, interrupted, say }).catch((error) => {
        interrupted.throwIfAborted();
        return failed(attack, error);
      });
      results.push(result);
    }
  } finally {
    await stage?.close();
  }
  return results;
}

async function perform(attack, stage, { options, short, interrupted, say }) {
  const prepared = await within(PREPARE_SECONDS, [], interrupted, (signal) =>
    attack.prepare({ stage, options, signal }),
  );
  const bystander = startBystander(stage);
  try {
    await bystander.begin();
    say(`${attack.name}: ${attack.about}\n`);
    const { ended, figures, findings } = await within(options.seconds, [stage.ended], interrupted, (signal) =>
      attack.run({ stage, options, signal, prepared }),
    );
    interrupted.throwIfAborted();
    await delay(short ? AFTERMATH_MS.short : AFTERMATH_MS.usual);
    const { peakMb, ...seen } = await bystander.end();
    return {
      attack: attack.name,
      requests: Object.values(ended).reduce((sum, count) => sum + count, 0),
      ended,
      bystander: seen,
      peakMb,
      node: await stage.state(),
      figures: figures ?? {},
      findings: [...(findings ?? []), ...unexpected(ended, attack.mayEndAs)],
    };
  } finally {
    bystander.close();
  }
}

/** Gives work a signal that says when to stop: when its time is over, one of the events has come, or Ctrl-C. */
async function within(seconds, events, interrupted, work) {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const stop = () => over.abort(new Error('its time is over'));
  // By hand: a signal of AbortSignal.timeout that only AbortSignal.any refers to may be collected before its time.
  const timer = setTimeout(stop, seconds * 1000);
  interrupted.addEventListener('abort', stop);
  for (const event of events) void event.then(stop);
  try {
    interrupted.throwIfAborted();
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener('abort', stop);
  }
}

/** An attack that could not be made is no proof of anything, and no reason to lose the results of the others. */
function failed({ name }, error) {
  const bystander = { answers: 0, failures: {}, worstMs: 0, p99Ms: 0, stallMs: 0 };
  const findings = [`it could not be made: ${error.message}`];
  return { attack: name, requests: 0, ended: {}, bystander, node: 'not known', figures: {}, findings };
}

/** An attacker may also wait, for as long as it has patience or the attack lasts: that is nobody else's trouble. */
const WAITED = ['no answer', 'cut short'];

/** An attack may get what every caller gets, or be refused, and each refusal has a code that says why. */
function unexpected(ended, mayEndAs) {
  const others = Object.keys(ended).filter((outcome) => ![...mayEndAs, ...WAITED].includes(outcome));
  return others.length === 0 ? [] : [`requests of the attack ended as ${others.join(', ')}`];
}
