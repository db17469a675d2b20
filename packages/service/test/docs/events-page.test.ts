import {
  type ContractEvent,
  EVENT_CONTRACT,
  type EventScenario,
  WEBHOOK_EVENTS,
  WEBHOOK_RETRY_DELAYS_MS,
} from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { readPage, rowsUnder, tableRows } from './pages.js';

const page = await readPage('docs/events.md');
const interfacePage = await readPage('docs/interface.md');

const inWords = ({ eventType, status }: ContractEvent) => `${eventType.split('.')[0]} ${status}`;

function rowOf({ when, events, perVoidedPeriod: voided }: EventScenario): string[] {
  const told = [...events.map(inWords), ...(voided ? [`${inWords(voided)} for each voided period`] : [])];
  return [when, told.join(', ') || 'none', `${events.length}${voided ? ' and the voided periods' : ''}`];
}

describe('docs/events.md', () => {
  it.each([
    ['### Mode A: the service debits', 'SVC_DEDUCT'],
    ['### Mode B: the channel collects', 'CHANNEL_COLLECT'],
  ])('%s: every scenario of the contract, and no other', (heading, mode) => {
    const contract: readonly EventScenario[] = EVENT_CONTRACT;
    expect(rowsUnder(page, heading)).toEqual(contract.filter((one) => one.settlementMode === mode).map(rowOf));
  });

  it.each(Object.entries(WEBHOOK_EVENTS))('lists every field of %s, in its order', (eventType, schema) => {
    const fields = rowsUnder(page, `### \`${eventType}\``).map(([name]) => name);
    expect(fields).toEqual(Object.keys(schema.properties.data.properties));
    const [, request = ''] = page.split('The body:');
    const envelope = tableRows(request.split(/^#/m)[0] ?? '').map(([name]) => name);
    expect(envelope).toEqual(Object.keys(schema.properties));
  });

  it.each(Object.entries(WEBHOOK_EVENTS))(
    'docs/interface.md names every field of %s, and no other',
    (eventType, schema) => {
      const [, after = ''] = interfacePage.split(`\`data\` of \`${eventType}\`:`);
      const fields = [...(after.split('\n\n')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name);
      expect(fields).toEqual(Object.keys(schema.properties.data.properties));
    },
  );

  it('docs/interface.md has the same headers and fields of a push', () => {
    const names = (rows: string[][]) => rows.map(([name]) => name);
    expect(names(rowsUnder(interfacePage, '## Events'))).toEqual(names(rowsUnder(page, '## The request')));
  });

  it('has the retries of the schedule', () => {
    const delays = WEBHOOK_RETRY_DELAYS_MS.map((ms) => String(ms / 1000));
    expect(rowsUnder(page, '## Retries')).toEqual(
      ['at once', ...delays].map((seconds, index) => [String(index + 1), String(index), seconds]),
    );
  });

  it('signs its example as the vectors do', async () => {
    const vectors = JSON.parse(await readPage('packages/wire/vectors/webhook-signature.json'));
    const [example] = vectors.cases;
    const body = Buffer.from(example.bodyHex, 'hex').toString();
    const { path, timestamp, nonce, eventId, signText, signature } = example;
    for (const text of [vectors.callbackSecret, path, body, timestamp, nonce, eventId, signText, signature]) {
      expect(page).toContain(text);
    }
  });
});
