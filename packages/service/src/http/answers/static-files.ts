import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { readAccepted } from '../../platform/accepted.js';

const PLAIN = 'text/plain; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
  json: 'application/json; charset=utf-8',
  tgz: 'application/gzip',
  // Client sources are shown as text in the browser.
  py: PLAIN,
  java: PLAIN,
  go: PLAIN,
  php: PLAIN,
  sh: PLAIN,
};

const compress = promisify(brotliCompress);

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
  readonly etag: string;
}

/** File names whose path cannot leave the folder: no segment is empty or begins with a dot. */
const NAME = /^[\w-]+(\.[\w-]+)*(\/[\w-]+(\.[\w-]+)*)*$/;

/**
 * Returns a function that finds a file of a build by its name. The function returns undefined for an unknown name.
 * Files are read and compressed on first use, then kept in memory. `fill` inserts values known only at run time into
 * text files.
 */
export function createStaticFiles(folder: URL, fill?: (text: string, type: string) => string) {
  const files = new Map<string, Promise<StaticFile>>();

  async function load(name: string): Promise<StaticFile> {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const stored = await readFile(new URL(name, folder));
    const isText = type.endsWith('utf-8');
    const bytes = fill && isText ? Buffer.from(fill(stored.toString('utf8'), type)) : stored;
    const compressed = await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
    // A weak ETag, because the compressed and the plain answer share it.
    const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 20)}"`;
    return { type, bytes, compressed, etag };
  }

  return async (name: string): Promise<StaticFile | undefined> => {
    if (!NAME.test(name)) return undefined;
    const loading = files.get(name) ?? load(name);
    files.set(name, loading);
    try {
      return await loading;
    } catch {
      files.delete(name);
      return undefined;
    }
  };
}

/** For files whose names contain a hash of their content, and for the style of an accent colour. */
export const KEEP_FOR_GOOD = 'public, max-age=31536000, immutable';
/** For all other files: clients cache a file, but ask each time whether it has changed. */
export const ASK_EACH_TIME = 'no-cache';

export function sendStaticFile(reply: FastifyReply, file: StaticFile, cacheControl: string): FastifyReply {
  const { headers } = reply.request;
  void reply
    .header('content-type', file.type)
    .header('cache-control', cacheControl)
    .header('etag', file.etag)
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff');
  if (String(headers['if-none-match'] ?? '').includes(file.etag)) return reply.code(304).send();
  const isCompressed = prefersBrotli(headers['accept-encoding']);
  if (isCompressed) void reply.header('content-encoding', 'br');
  return reply.send(isCompressed ? file.compressed : file.bytes);
}

/** Returns true if the client prefers brotli to plain bytes, or likes both equally. */
function prefersBrotli(header: string | string[] | undefined): boolean {
  const accepted = readAccepted(String(header ?? ''));
  const qualityOf = (name: string) => accepted.find((one) => one.name === name)?.quality;
  const brotli = qualityOf('br') ?? qualityOf('*') ?? 0;
  return brotli > 0 && brotli >= (qualityOf('identity') ?? 0);
}

/** Headers of the start page, the developers' pages and the console. `style`: permitted sources of styles. */
export const pageHeaders = (style = "'self'"): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${style}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
});
