import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';

/** What the build of the console's pages has made. */
const FOLDER = new URL('../console/dist/', PACKAGE_FOLDER);

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
  json: 'application/json; charset=utf-8',
};

const compress = promisify(brotliCompress);

interface StoredFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
}

/** Read and compressed when it is first asked for, and kept: names hold a hash of the content. */
const files = new Map<string, Promise<StoredFile>>();

async function load(name: string): Promise<StoredFile> {
  const bytes = await readFile(new URL(`assets/${name}`, FOLDER));
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const compressed = await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  return { type, bytes, compressed };
}

/** Undefined for a name that the build has not made. */
export async function sendConsoleFile(reply: FastifyReply, name: string): Promise<FastifyReply | undefined> {
  if (!/^[\w-]+(\.[\w-]+)+$/.test(name)) return undefined;
  const loading = files.get(name) ?? load(name);
  files.set(name, loading);
  let file: StoredFile;
  try {
    file = await loading;
  } catch {
    files.delete(name);
    return undefined;
  }
  const takesBrotli = /\bbr\b/.test(String(reply.request.headers['accept-encoding'] ?? ''));
  void reply
    .header('content-type', file.type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff');
  if (takesBrotli) void reply.header('content-encoding', 'br');
  return reply.send(takesBrotli ? file.compressed : file.bytes);
}

let page: Promise<string> | undefined;

/** The page that all addresses of the console begin with. Only its own files are loaded, and no script that stands in it. */
export async function sendConsolePage(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  page ??= readFile(new URL('index.html', FOLDER), 'utf8');
  let text: string;
  try {
    text = await page;
  } catch {
    page = undefined;
    return reply.code(503).type('text/plain; charset=utf-8').send('The console is not built: run npm run build.\n');
  }
  const nonce = randomBytes(16).toString('base64');
  return reply
    .headers({
      ...PAGE_HEADERS,
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ].join('; '),
    })
    .type('text/html; charset=utf-8')
    .send(text.replaceAll('__CSP_NONCE__', nonce));
}

const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
};
