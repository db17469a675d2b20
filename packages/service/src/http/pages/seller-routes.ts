import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { findImage, type StoredImage } from '../../catalog/images-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { renderAccentCss } from '../../redeem/brand/tones.js';
import { NodeDraining, pageLine, toRefusal } from '../answers/respond.js';
import { KEEP_FOR_GOOD } from '../answers/static-files.js';
import type { RedeemLimits } from '../limits/redeem-limits.js';

export interface SellerDeps {
  readonly database: Queryable;
  readonly limits: RedeemLimits;
  readonly log: Logger;
}

interface Served {
  readonly type: string;
  readonly bytes: Buffer | string;
}

/** The maximum number of pictures in memory, and also the maximum number of styles. A picture has at most 64 KiB. */
const MAX_KEPT = 128;
/** Content security policy for a picture that is opened as a page: it can draw itself and load nothing. */
const PICTURE_POLICY = `default-src 'none'; style-src 'unsafe-inline'; sandbox`;
const ENDINGS: Readonly<Record<StoredImage['mediaType'], string>> = { 'image/png': 'png', 'image/svg+xml': 'svg' };

/** Adds the pictures of sellers and benefits, and the colours of sellers. The content of a URL never changes. */
export function addSellerRoutes(app: FastifyInstance, deps: SellerDeps, isDraining: () => boolean): void {
  const { database, limits, log } = deps;
  const pictures = createKept<Served>(MAX_KEPT);
  const styles = createKept<Served>(MAX_KEPT);

  async function makePicture(file: string): Promise<Served | undefined> {
    const [, hash, ending] = /^([0-9a-f]{64})\.(png|svg)$/.exec(file) ?? [];
    const image = hash === undefined ? undefined : await findImage(database, hash);
    return image && ENDINGS[image.mediaType] === ending ? { type: image.mediaType, bytes: image.bytes } : undefined;
  }

  async function makeStyle(file: string): Promise<Served | undefined> {
    const [, accent] = /^([0-9a-f]{6})\.css$/.exec(file) ?? [];
    return accent === undefined ? undefined : { type: 'text/css; charset=utf-8', bytes: renderAccentCss(accent) };
  }

  /** Sends a file from memory without limit. Looking for any other file counts against the address's limit. */
  async function serve(
    reply: FastifyReply,
    kept: Kept<Served>,
    file: string,
    make: () => Promise<Served | undefined>,
    headers: Record<string, string> = {},
  ): Promise<FastifyReply> {
    const served = await kept.find(file, () => {
      limits.checkAddress(reply.request.ip, 'open');
      return make();
    });
    if (!served) return sendPlain(reply, 404, 'not found');
    const own = { 'content-type': served.type, 'cache-control': KEEP_FOR_GOOD, 'x-content-type-options': 'nosniff' };
    return reply.headers({ ...own, ...headers }).send(served.bytes);
  }

  void app.register(async (files) => {
    files.addHook('onRequest', async () => {
      if (isDraining()) throw new NodeDraining();
    });
    files.addHook('onResponse', async (_request, reply) => log.info(pageLine(reply), 'page'));
    files.setErrorHandler((error, request, reply) => {
      const { result, headers, isFault } = toRefusal(error);
      if (isFault) log.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      return sendPlain(reply.headers(headers), result.http, result.message);
    });
    files.get<{ Params: { file: string } }>('/redeem/images/:file', async ({ params: { file } }, reply) =>
      serve(reply, pictures, file, () => makePicture(file), { 'content-security-policy': PICTURE_POLICY }),
    );
    files.get<{ Params: { file: string } }>('/redeem/accent-:file', async ({ params: { file } }, reply) =>
      serve(reply, styles, file, () => makeStyle(file)),
    );
  });
}

const sendPlain = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply
    .code(status)
    .headers({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(text);

interface Kept<T> {
  find(key: string, make: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** Creates an LRU cache. Concurrent requests for an entry share one load. Entries that do not exist are not cached. */
function createKept<T>(max: number): Kept<T> {
  const kept = new Map<string, T>();
  const making = new Map<string, Promise<T | undefined>>();

  function keep(key: string, one: T): T {
    kept.delete(key);
    kept.set(key, one);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
    return one;
  }

  return {
    async find(key, make) {
      const known = kept.get(key);
      if (known !== undefined) return keep(key, known);
      const loading = making.get(key) ?? make().finally(() => making.delete(key));
      making.set(key, loading);
      const made = await loading;
      return made === undefined ? undefined : keep(key, made);
    },
  };
}
