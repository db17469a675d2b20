import { HEADERS } from '@perennial/wire';
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Probable mistakes in a request, for its developer. Null in production, undefined for an unreadable path. */
    warnings: string[] | null | undefined;
  }
}

/** Appends the request's warnings to the message, and sets their header. */
export function addWarnings(reply: FastifyReply, message: string): string {
  const { warnings } = reply.request;
  if (!warnings?.length) return message;
  const text = warnings.join('; ');
  void reply.header(HEADERS.warning, text);
  return `${message}; ${text}`;
}
