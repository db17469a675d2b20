import type { FastifyReply } from 'fastify';
import type { Channel } from '../../catalog/channels/channel.js';
import type { Asset } from '../../redeem/page/assets.js';
import type { Texts } from '../../redeem/texts/en.js';
import { answerAndHalfClose } from '../requests/half-close.js';

type PageHeaders = Readonly<Record<string, string>>;

const NO_ORIGINS: readonly string[] = [];
/** Cached page headers, by the list of frame origins (a new list for each version of a channel) and by language. */
const known = new WeakMap<readonly string[], Map<string, PageHeaders>>();

/**
 * Returns the headers of a page. The channel decides which origins may frame the page. If the link is unknown, no
 * origin may frame the page.
 */
function pageHeaders(texts: Texts, frameOrigins: readonly string[]): PageHeaders {
  const byLanguage = known.get(frameOrigins) ?? new Map<string, PageHeaders>();
  known.set(frameOrigins, byLanguage);
  const headers = byLanguage.get(texts.lang) ?? createPageHeaders(texts, frameOrigins);
  byLanguage.set(texts.lang, headers);
  return headers;
}

function createPageHeaders(texts: Texts, frameOrigins: readonly string[]): PageHeaders {
  const ancestors = frameOrigins.length === 0 ? `'none'` : frameOrigins.join(' ');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': texts.lang,
    vary: 'Accept-Language',
    'cache-control': 'no-store',
    'content-security-policy':
      `default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; ` +
      `frame-ancestors ${ancestors}`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    ...(frameOrigins.length === 0 ? { 'x-frame-options': 'DENY' } : {}),
  };
}

export interface PageAnswer {
  readonly status: number;
  readonly texts: Texts;
  readonly page: string;
  readonly channel?: Pick<Channel, 'frameOrigins'>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Allows a style inside the page, in place of the page's style file. */
  readonly styleSource?: string;
}

export function sendPage(reply: FastifyReply, answer: PageAnswer, halfCloseMs: number): FastifyReply {
  const { status, texts, page, channel, headers, styleSource } = answer;
  void reply.code(status).headers(pageHeaders(texts, channel?.frameOrigins ?? NO_ORIGINS));
  if (styleSource) {
    const policy = String(reply.getHeader('content-security-policy'));
    void reply.header('content-security-policy', policy.replace(`style-src 'self'`, `style-src ${styleSource}`));
  }
  if (headers) void reply.headers(headers);
  return reply.getHeader('connection') === 'close' ? answerAndHalfClose(reply, page, halfCloseMs) : reply.send(page);
}

export function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply
    .code(303)
    .headers({ location: address, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    .send();
}

export function sendAsset(reply: FastifyReply, { type, bytes }: Asset): FastifyReply {
  return reply
    .headers({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    .send(bytes);
}
