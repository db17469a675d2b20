import { writeFileSync } from 'node:fs';
import { formatTime, settlementModes } from '@perennial/wire';
import { Argument, Option } from 'commander';
import { createClient, readChannel } from '../channel-file.js';
import { EFFECTS, judgeReceiver } from '../check-receiver/check-receiver-command.js';
import type { Call, CommandFacts } from '../frame/command.js';
import { EXIT, UsageError } from '../frame/io.js';
import { align, writeJson } from '../frame/text.js';
import { readVersion } from '../frame/version.js';
import { readReceiverUrl } from '../pushes/send-push.js';
import { checkCalls, type Finding, toFindings } from './checks.js';
import { describe, summarize, writeReport } from './report.js';

const DELIVERY_MS = 30_000;

export const GO_LIVE_CHECK: CommandFacts = {
  name: 'go-live-check',
  summary: 'Check the sandbox integration as a bank or partner would, and write a report (sandbox only)',
  argument: new Argument('<url>', 'address of the receiver'),
  options: [
    EFFECTS,
    new Option('--out <file>', 'the report, as HTML').default('go-live-report.html'),
    new Option('--settlement-mode <mode>', 'who collects the money of the test order').choices(settlementModes),
    new Option('--product-code <code>', 'product of the test order; default: the first suitable one'),
  ],
  notes: `Checks signature, clock, idempotency, delivery of events, the receiver (as check-receiver does), retries and de-duplication. Creates
an order and unsubscribes it. The report has no secrets and can be shared. Exit status: 0 if every check is met and proven, 1 otherwise.`,
  examples: [
    'go-live-check http://localhost:3000/events --effects http://localhost:3000/effects',
    'go-live-check https://shop.example/events --out report.html --json',
  ],
  run: checkGoLive,
};

async function checkGoLive(call: Call): Promise<number> {
  const { io, given, words } = call;
  const { settlementMode = 'CHANNEL_COLLECT', productCode, out, json } = given;
  const url = readReceiverUrl(words[0] ?? '');
  const channel = readChannel(call);
  const client = createClient(io, channel, {});
  const wish = { settlementMode, productCode };
  const calls = await checkCalls({ client, now: io.now, wish, deliveryMs: io.pushTimeoutMs ?? DELIVERY_MS });
  const findings = [...calls, ...toFindings(await judgeReceiver(call, url, () => undefined))];
  const { appId, baseUrl } = channel;
  const facts = { appId, baseUrl, receiver: url.href, time: formatTime(io.now()), version: readVersion() };
  try {
    writeFileSync(out, writeReport(facts, findings));
  } catch (error) {
    throw new UsageError(`--out cannot be written: ${(error as Error).message}`);
  }
  const isReady = findings.every(({ isMet }) => isMet);
  if (json) io.out(writeJson({ ok: isReady, report: out, findings }));
  else io.out([align(findings.map(toRow)), `${summarize(findings)}; the report is in ${out}`].join('\n'));
  return isReady ? EXIT.ok : EXIT.failed;
}

const toRow = ({ subject, check, isMet, detail }: Finding): string[] => [
  describe(isMet),
  subject,
  isMet ? check : `${check}: ${detail}`,
];
