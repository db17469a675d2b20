export class BadAnswer extends Error {}

/** A stretch of the bytes: from here, up to there. */
export type Stretch = readonly [from: number, to: number];

const LF = 10;
const CR = 13;

/** Bytes as they come, and how far they have been read. A byte is copied and searched once or twice, not once a packet. */
export class Incoming {
  /** Everything before this has been read. */
  at = 0;
  size = 0;
  private bytes: Buffer = Buffer.alloc(0);
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

  /** The next line, once it is there. Lines end with CR LF and hold neither. */
  line(): string | undefined {
    const from = Math.max(this.at, this.searched);
    const found = this.bytes.subarray(from, this.size).indexOf(LF);
    this.searched = this.size;
    if (found < 0) return undefined;
    const end = from + found - 1;
    if (end < this.at || this.bytes[end] !== CR) throw new BadAnswer('a line does not end with CR LF');
    const text = this.bytes.toString('latin1', this.at, end);
    if (/[\0\r]/.test(text)) throw new BadAnswer('a line holds control characters');
    this.at = end + 2;
    this.searched = this.at;
    return text;
  }

  /** The next bytes, once that many are there. */
  take(count: number): Stretch | undefined {
    if (this.size - this.at < count) return undefined;
    const from = this.at;
    this.at += count;
    return [from, this.at];
  }

  text(stretches: readonly Stretch[]): string {
    const [only] = stretches;
    if (stretches.length === 1 && only) return this.bytes.toString('utf8', ...only);
    return Buffer.concat(stretches.map(([from, to]) => this.bytes.subarray(from, to))).toString('utf8');
  }
}
