import { HEADERS } from '@perennial/wire';
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Probable mistakes in a request, for its developer. Null in production. */
    warnings: string[] | null;
  }
}

/** Appends the request's warnings to the message, and sets their header. */
export function addWarnings(reply: FastifyReply, message: string): string {
  const { warnings } = reply.request;
  if (warnings === null || warnings.length === 0) return message;
  const text = warnings.join('; ');
  void reply.header(HEADERS.warning, text);
  return `${message}; ${text}`;
}
