import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { SessionRow } from '../../console/sessions/sessions-sql.js';
import { type Context, FileAnswer, type SignedInPerson } from '../../operations/operation.js';
import { createFindStep, runRow } from '../../operations/second-person.js';
import { OPERATIONS } from '../../operations/table.js';
import { maskTexts, refuseWrittenNumbers } from '../../operator/masking.js';
import type { OperatorWithGateways } from '../../operator/operator.js';
import { mayDo } from '../../operator/people/roles.js';
import type { Transactional } from '../../platform/db/database.js';
import { NodeReadsOnly } from '../answers/respond.js';
import type { ConsoleDeps } from './console-deps.js';
import { type Guards, needsTotp, requireOpen } from './guards.js';
import { Problem, sendJson } from './problem.js';
import { createQueryReader, createReader } from './read-input.js';

const MAX_BODY_BYTES = 1_000_000;

/** Adds a route for each operation of the table, with the checks that the operation declares. */
export function addOperationRoutes(api: FastifyInstance, deps: ConsoleDeps, guards: Guards, readsOnly: boolean): void {
  const { requireSession, requireSessionStill, requireCsrfToken } = guards;
  for (const one of OPERATIONS) {
    const readQuery = createQueryReader(one.query);
    const readBody = one.body ? createReader(one.body) : () => ({});
    const isWrite = one.method !== 'GET';
    const requireRole = async ({ consoleSession }: FastifyRequest) => {
      const session = requireOpen(consoleSession);
      if (!one.isOwn && needsTotp(deps, session)) throw new Problem('codes-needed');
      if (!mayDo(session.role, one.role)) throw new Problem('not-allowed');
    };
    api.route<{ Params: Record<string, string> }>({
      method: one.method,
      url: one.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: one.maxBodyBytes ?? MAX_BODY_BYTES,
      onRequest: [
        requireSession,
        requireCsrfToken,
        requireRole,
        async () => {
          if (readsOnly && isWrite && !one.isOwn) throw new NodeReadsOnly();
        },
      ],
      preHandler: isWrite ? [requireSessionStill, requireRole] : [],
      async handler(request, reply) {
        const session = requireOpen(request.consoleSession);
        // A path parameter with NUL names nothing, because PostgreSQL cannot store NUL.
        if (Object.values(request.params).some((one) => one.includes('\0'))) throw new Problem('not-found');
        // Path parameters come last, so that they override fields of the same name.
        const input = { ...readQuery(request), ...readBody(request), ...request.params };
        if (isWrite) refuseWrittenNumbers(input);
        if (one.needsProof && !session.isProven) throw new Problem('proof-needed');
        const operator = operatorOf(request, session);
        const context: Context = {
          ...deps,
          person: personOf(session),
          findStep: createFindStep(OPERATIONS, () => context),
        };
        const result = await runRow(one, operator, input as never, context, 'console');
        const answer = one.toAnswer ? await one.toAnswer(result as never, context, operator) : result;
        if (answer instanceof FileAnswer) return sendFile(reply, answer, deps.log);
        return sendJson(reply, maskTexts(answer, session.role));
      },
    });
  }

  const operatorOf = ({ ip }: FastifyRequest, { name, personId }: SessionRow): OperatorWithGateways => ({
    ...deps.operator,
    database: withAddress(deps.databaseOf(personId), ip),
    actor: name,
  });
}

const personOf = ({ personId, name, role, sessionId }: SessionRow): SignedInPerson => ({
  personId,
  name,
  role,
  sessionId,
});

function sendFile(reply: FastifyReply, { name, type, pieces, headers }: FileAnswer, log: Logger): FastifyReply {
  const stream = Readable.from(pieces);
  stream.on('error', (err) => log.error({ err, requestId: reply.request.id }, 'fault'));
  return reply
    .header('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`)
    .headers(headers)
    .type(type)
    .send(stream);
}

/** Adds the operator's address to audit entries written in transactions of the database. */
function withAddress(database: Transactional, address: string): Transactional {
  return {
    query: database.query,
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        // The address is part of the text, because `set` accepts no parameters. `select set_config(…)` would accept
        // them, but no query is allowed before the `set transaction` of some steps. The filtered address needs no
        // escaping.
        await tx.query(`set local perennial.address = '${address.replaceAll(/[^\w:.]/g, '')}'`);
        return work(tx);
      }, options),
  };
}
