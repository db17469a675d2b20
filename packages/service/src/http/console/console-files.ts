import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PACKAGE_FOLDER } from '../../platform/package-folder.js';
import { createStaticFiles, KEEP_FOR_GOOD, pageHeaders, sendStaticFile } from '../answers/static-files.js';

const FOLDER = new URL('dist/pages/console/', PACKAGE_FOLDER);

const findFile = createStaticFiles(new URL('assets/', FOLDER));

/** Sends a file of the console. Returns undefined if the build has no file with this name. */
export async function sendConsoleFile(reply: FastifyReply, name: string): Promise<FastifyReply | undefined> {
  const file = await findFile(name);
  return file && sendStaticFile(reply, file, KEEP_FOR_GOOD);
}

let page: Promise<string> | undefined;

/** Sends the page that all console URLs share. It loads only its own files and runs no inline script. */
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
      ...pageHeaders(`'self' 'nonce-${nonce}'; font-src 'self'`),
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(text.replaceAll('__CSP_NONCE__', nonce));
}
