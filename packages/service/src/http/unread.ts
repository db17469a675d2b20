import type { FastifyReply } from 'fastify';

/** So often within the time that a caller has: it is cut off after that time, and at most a quarter later. */
const LOOKS = 4;

interface Taken {
  /** Bytes that the connection had taken at the last look, and for how many looks it has taken no more. */
  readonly bytes: number;
  readonly looks: number;
}

/**
 * Ends the connections of callers who take in nothing of their answers, long or short. One timer looks after all of them: a
 * timeout for each answer was measured at a hundredth of what a request costs.
 */
export function closeUnread(writeTimeout: number) {
  const unfinished = new Map<FastifyReply, Taken>();
  const timer = setInterval(() => {
    for (const [reply, before] of unfinished) {
      const now = look(reply, before);
      unfinished.set(reply, now);
      if (now.looks < LOOKS) continue;
      reply.cut ??= 'unread';
      reply.request.raw.socket.resetAndDestroy();
    }
  }, writeTimeout / LOOKS);
  timer.unref();
  return {
    watch: (reply: FastifyReply) => void unfinished.set(reply, NOTHING),
    forget: (reply: FastifyReply) => void unfinished.delete(reply),
    stop: () => clearInterval(timer),
  };
}

const NOTHING: Taken = { bytes: -1, looks: 0 };

function look({ raw, request }: FastifyReply, before: Taken): Taken {
  const { bytesWritten, writableLength } = request.raw.socket;
  const bytes = bytesWritten - writableLength;
  // Nothing to take is not the caller's doing.
  return { bytes, looks: bytes === before.bytes && raw.writableLength > 0 ? before.looks + 1 : 0 };
}
