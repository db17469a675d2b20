import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { JOURNAL_FILE, startInstitution } from '@perennial/reference-peers';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { soakSize } from '../support/soak.js';
import { attached, BEHALF, debitOf, gatewayTo, KEY, ledgerOf, spawnInstitution, temporaryFolder } from './support.js';

const KILLS = soakSize('INSTITUTION_KILLS', 4, 10);
const CLIENTS = 24;

/** The same on every run of a failing seed; which acknowledgement it is decides the moment of the kill. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

async function debitLines(dataDir: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const text = await readFile(path.join(dataDir, JOURNAL_FILE), 'utf8');
  for (const line of text.split('\n').slice(0, -1)) {
    const entry = JSON.parse(line);
    if (entry.type === 'debit') counts.set(entry.attemptNo, (counts.get(entry.attemptNo) ?? 0) + 1);
  }
  return counts;
}

describe('kill -9', () => {
  it(`${KILLS} times under load: every acknowledged debit is in the ledger once, and no number is there twice`, async () => {
    const dataDir = await temporaryFolder();
    const below = randomNumbers(20_260_101);
    const acknowledged = new Map<string, string>();
    const open = new Set<string>();
    let next = 0;

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { running, url } = await spawnInstitution({ dataDir });
      const gateway = gatewayTo(url, { connections: CLIENTS });
      let left = below(120);
      let alive = true;
      const die = () => {
        alive = false;
        running.child.kill('SIGKILL');
      };
      if (left === 0) die();
      const client = async () => {
        while (alive) {
          // Those without an answer are sent again, under the same number, as the service would.
          const [again] = below(3) === 0 ? open : [];
          if (again === undefined) next += 1;
          const attemptNo = again ?? `${next}`;
          open.add(attemptNo);
          const outcome = await gateway.debit(
            debitOf(attemptNo, '8888', { amountCent: 100 + (Number(attemptNo) % 900) }),
          );
          if (outcome.kind !== 'success') continue;
          const before = acknowledged.get(attemptNo);
          // The same debit, and not another one of the same amount.
          if (before !== undefined) expect(outcome.institutionRef).toBe(before);
          acknowledged.set(attemptNo, outcome.institutionRef);
          open.delete(attemptNo);
          left -= 1;
          if (left <= 0 && alive) die();
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      await running.exited;
      await gateway.close();
    }

    const { url } = await spawnInstitution({ dataDir });
    const { debits } = await ledgerOf({ url });
    const inLedger = new Map(debits.map((debit) => [debit.attemptNo, debit.debitedCent]));
    expect(debits).toHaveLength(inLedger.size);
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    for (const attemptNo of acknowledged.keys()) {
      expect([attemptNo, inLedger.get(attemptNo)]).toEqual([attemptNo, 100 + (Number(attemptNo) % 900)]);
    }
    const repeated = [...(await debitLines(dataDir))].filter(([, count]) => count !== 1);
    expect(repeated).toEqual([]);
    // Of the rest it is known as well, once somebody asks.
    const gateway = gatewayTo(url);
    for (const attemptNo of open) {
      const { kind } = await gateway.queryDebit(debitOf(attemptNo));
      expect([attemptNo, kind]).toEqual([attemptNo, inLedger.has(attemptNo) ? 'success' : 'not-found']);
    }
  }, 600_000);
});

describe('a full disk', () => {
  it('is no success and no failure, and what was answered before is still there', async () => {
    const dataDir = await temporaryFolder();
    // A file may not grow past 8 blocks of 512 bytes: writing fails as it does on a full disk, in the middle of a line.
    const { running, url } = await spawnInstitution({ dataDir }, [
      'sh',
      '-c',
      'trap "" XFSZ; ulimit -f 8; exec "$0" "$@"',
    ]);
    const gateway = gatewayTo(url);
    const acknowledged: string[] = [];
    let attempt = 0;
    for (;;) {
      attempt += 1;
      const { kind } = await gateway.debit(debitOf(`${attempt}`));
      if (kind !== 'success') {
        expect(kind).toBe('unknown');
        break;
      }
      acknowledged.push(`${attempt}`);
    }
    // Nothing more is told, not even of what is well known: what the file holds now has to be read first.
    expect(await gateway.queryDebit(debitOf('1'))).toEqual({ kind: 'unknown' });
    expect(await gateway.debit(debitOf('1'))).toEqual({ kind: 'unknown' });
    running.child.kill('SIGKILL');
    await running.exited;

    const again = await attached({ dataDir });
    expect(acknowledged.length).toBeGreaterThan(5);
    for (const attemptNo of acknowledged) {
      expect(await again.gateway.queryDebit(debitOf(attemptNo))).toMatchObject({ kind: 'success' });
    }
    expect(await again.gateway.debit(debitOf(`${attempt}`))).toMatchObject({ kind: 'success' });
    expect([...(await debitLines(dataDir)).values()].every((count) => count === 1)).toBe(true);
  });
});

describe('the journal', () => {
  async function journalOfThree(): Promise<{ readonly dataDir: string; readonly file: string }> {
    const { institution, gateway, dataDir } = await attached();
    for (const attemptNo of ['1', '2', '3']) await gateway.debit(debitOf(attemptNo));
    await institution.stop();
    return { dataDir, file: path.join(dataDir, JOURNAL_FILE) };
  }

  it('whose last line is torn, at any byte, loses that line alone', async () => {
    const { dataDir, file } = await journalOfThree();
    const whole = await readFile(file);
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let length = whole.length - 1; length >= lastLine; length -= 7) {
      await truncate(file, length);
      const institution = await startInstitution({ dataDir, port: 0, key: KEY, clock: systemClock, control: true });
      expect((await ledgerOf(institution)).debits.map(({ attemptNo }) => attemptNo)).toEqual(['1', '2']);
      await institution.stop();
      expect((await stat(file)).size).toBe(lastLine);
      await appendFile(file, whole.subarray(lastLine));
    }
  });

  it('whose last line was torn takes new lines after it', async () => {
    const { dataDir, file } = await journalOfThree();
    await truncate(file, (await stat(file)).size - 5);
    const again = await attached({ dataDir });
    expect(await again.gateway.queryDebit(debitOf('3'))).toEqual({ kind: 'not-found' });
    expect(await again.gateway.debit(debitOf('3'))).toMatchObject({ kind: 'success' });
    await again.institution.stop();
    expect([...(await debitLines(dataDir))]).toEqual([
      ['1', 1],
      ['2', 1],
      ['3', 1],
    ]);
  });

  it('that is damaged before its last line stops the start, and says where', async () => {
    const { dataDir, file } = await journalOfThree();
    await appendFile(file, 'garbage\n{"type":"arrival","at":1,"attemptNo":"1"}\n');
    await expect(startInstitution({ dataDir, port: 0, key: KEY, clock: systemClock })).rejects.toThrow('line 4');
  });

  it('belongs to one institution at a time', async () => {
    const { dataDir, institution } = await attached();
    await expect(startInstitution({ dataDir, port: 0, key: KEY, clock: systemClock })).rejects.toThrow('in use');
    await institution.stop();
    await attached({ dataDir });
  });

  it('holds no card number, name, document or mobile', async () => {
    const { gateway, dataDir } = await attached();
    const card = {
      bankCardNo: '6222021234567890',
      certificateNo: '110101199001011237',
      certType: 'ID_CARD',
      realName: 'Han Meimei',
      bankMobile: '13812345678',
    };
    expect(await gateway.sendBindCode({ ...BEHALF, bindOrderNo: '55', bankCode: 'ICBC', card })).toMatchObject({
      kind: 'sent',
    });
    const text = await readFile(path.join(dataDir, JOURNAL_FILE), 'utf8');
    expect(text).toContain('7890');
    for (const secret of ['123456', card.certificateNo, card.realName, card.bankMobile]) {
      expect(text).not.toContain(secret);
    }
  });
});
