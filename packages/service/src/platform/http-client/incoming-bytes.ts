export class BadAnswer extends Error {}

/** A range of bytes: `from` is inclusive, `to` is exclusive. */
export type ByteRange = readonly [from: number, to: number];

const LF = 10;
const CR = 13;

/**
 * The bytes of one answer as they arrive, and the position read so far. Copies and searches each byte once or twice,
 * even if packets are small, so an answer that arrives byte by byte causes no extra work.
 */
export class IncomingBytes {
  /** All bytes before this position have been read. */
  position = 0;
  size = 0;
  private bytes: Buffer = Buffer.alloc(0);
  /** No line break is between `position` and this position. */
  private searched = 0;

  add(more: Buffer): void {
    if (this.size === 0) {
      this.bytes = more;
    } else {
      if (this.size + more.length > this.bytes.length) {
        const larger = Buffer.allocUnsafe(2 * (this.size + more.length));
        this.bytes.copy(larger, 0, 0, this.size);
        this.bytes = larger;
      }
      more.copy(this.bytes, this.size);
    }
    this.size += more.length;
  }

  /** Returns the next line without CR LF, or undefined if it is incomplete. Throws for other CRs and for NUL bytes. */
  readLine(): string | undefined {
    const from = Math.max(this.position, this.searched);
    const found = this.bytes.subarray(from, this.size).indexOf(LF);
    this.searched = this.size;
    if (found < 0) return undefined;
    const end = from + found - 1;
    if (end < this.position || this.bytes[end] !== CR) throw new BadAnswer('a line does not end with CR LF');
    const text = this.bytes.toString('latin1', this.position, end);
    if (/[\0\r]/.test(text)) throw new BadAnswer('a line holds control characters');
    this.position = end + 2;
    this.searched = this.position;
    return text;
  }

  /** Returns the range of the next `count` bytes, or undefined if fewer have arrived. */
  readBytes(count: number): ByteRange | undefined {
    if (this.size - this.position < count) return undefined;
    const from = this.position;
    this.position += count;
    return [from, this.position];
  }

  textOf(ranges: readonly ByteRange[], encoding: 'utf8' | 'latin1'): string {
    const [only] = ranges;
    if (ranges.length === 1 && only) return this.bytes.toString(encoding, ...only);
    return Buffer.concat(ranges.map(([from, to]) => this.bytes.subarray(from, to))).toString(encoding);
  }
}
