import { crc32, deflateRawSync } from 'node:zlib';

/** Encodes text in GBK, because Node can only decode GBK. */
export function toGbk(text: string): Buffer {
  return Buffer.concat([...text].map((char) => encodings().get(char) ?? Buffer.from(char, 'latin1')));
}

let known: Map<string, Buffer> | undefined;
function encodings(): Map<string, Buffer> {
  if (known) return known;
  const found = new Map<string, Buffer>();
  const decoder = new TextDecoder('gbk');
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    for (let trail = 0x40; trail <= 0xfe; trail += 1) {
      const bytes = Buffer.from([lead, trail]);
      const char = decoder.decode(bytes);
      if (trail !== 0x7f && [...char].length === 1 && char !== '\ufffd') found.set(char, bytes);
    }
  }
  known = found;
  return found;
}

export interface ZippedFile {
  readonly name: string;
  readonly text: string;
}

/** Creates a zip as Alipay does: names and texts in GBK. */
export function zipGbk(files: readonly ZippedFile[]): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const { name, text } of files) {
    const [nameBytes, file] = [toGbk(name), toGbk(text)];
    const packed = deflateRawSync(file);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(file), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(file.length, 18);
    head.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, nameBytes, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), Buffer.from([20, 0]), head, tail, nameBytes]));
    bodies.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...bodies, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
