import dgram from 'node:dgram';
import net from 'node:net';

/** The answer of the name server about a name: its addresses, perhaps by a CNAME, or an error. */
export type NameAnswer =
  | { readonly addresses: readonly string[]; readonly by?: string }
  | 'unknown'
  | 'fault'
  | 'silence';

export interface NameServer {
  /** The name server's address, in the form that a resolver's settings have. */
  readonly server: string;
  /** The names that were queried, with repetitions. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const A = 1;
const CNAME = 5;
const AAAA = 28;
const FAULTS = { fault: 2, unknown: 3 } as const;

/** Starts a name server on this machine, with the parts of DNS that a lookup needs. */
export async function startNameServer(answer: (name: string, kind: 4 | 6) => NameAnswer): Promise<NameServer> {
  const asked: string[] = [];
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, 12);
    const type = query.readUInt16BE(end);
    asked.push(name);
    const said = answer(name, type === AAAA ? 6 : 4);
    if (said === 'silence') return;
    const records = typeof said === 'string' ? [] : recordsOf(said, type);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (typeof said === 'string' ? FAULTS[said] : 0), 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function recordsOf({ addresses, by }: Exclude<NameAnswer, string>, type: number): Buffer[] {
  const asked = Buffer.from([0xc0, 12]); // the name in the question
  const owner = by === undefined ? asked : writeName(by);
  const mine = addresses.filter((address) => net.isIP(address) === (type === A ? 4 : 6));
  const found = type === A || type === AAAA ? mine : [];
  return [
    ...(by === undefined ? [] : [record(asked, CNAME, writeName(by))]),
    ...found.map((address) => record(owner, type, addressBytes(address))),
  ];
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function readName(bytes: Buffer, at: number): { name: string; end: number } {
  const labels: string[] = [];
  let next = at;
  for (let length = bytes[next] ?? 0; length > 0; length = bytes[next] ?? 0) {
    labels.push(bytes.toString('latin1', next + 1, next + 1 + length));
    next += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: next + 1 };
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Parses IPv6 with at most one gap, as the tests write it. */
function addressBytes(address: string): Buffer {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
