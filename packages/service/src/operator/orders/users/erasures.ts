import type { Queryable } from '../../../platform/db/database.js';
import { NotFoundError, type Operator, OperatorError } from '../../operator.js';
import { type EraseInput, eraseUser } from './erase-user.js';
import { hashUser, requireChannelOf } from './find-user.js';
import { listErasedUsers, listUserIds } from './user-data-sql.js';

/**
 * An erased user, identified by a hash of the id. Operators store the list outside the database, to repeat erasures
 * after a restore.
 */
export interface Erasure {
  readonly appId: string;
  readonly userHash: string;
  readonly erasedAt: string;
}

export async function listErasures({ database }: Operator): Promise<Erasure[]> {
  return listErasedUsers(database);
}

export type RepeatedErasures = Awaited<ReturnType<typeof repeatErasures>>;

/**
 * Erases the listed users whose data is in the database again after the restore of an older backup. Skips a user whose
 * rows are later than the erasure, because this user has come back after it.
 */
export async function repeatErasures(
  operator: Operator,
  erasures: readonly Erasure[],
  erase: (input: EraseInput) => Promise<unknown> = (input) => eraseUser(operator, input),
) {
  const refused: { appId: string; userHash: string; reason: string }[] = [];
  let erased = 0;
  for (const [appId, listed] of groupByChannel(erasures)) {
    const channel = await requireChannelOf(operator, appId).catch((error: unknown) => {
      // The channel was created after the backup, so the database has no data of its users.
      if (!(error instanceof NotFoundError)) throw error;
    });
    if (!channel) continue;
    for await (const { channelUserId, since } of readUserIds(operator.database, channel.channelId)) {
      const userHash = hashUser(channel, channelUserId).toString('hex');
      const erasedAt = listed.get(userHash);
      if (erasedAt === undefined || since > erasedAt) continue;
      listed.delete(userHash);
      try {
        await erase({ appId, channelUserId, reason: 'repeated after a restore' });
        erased += 1;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        refused.push({ appId, userHash, reason: error.message });
      }
    }
  }
  return { listed: erasures.length, erased, refused };
}

function groupByChannel(erasures: readonly Erasure[]): Map<string, Map<string, string>> {
  const groups = new Map<string, Map<string, string>>();
  for (const { appId, userHash, erasedAt } of erasures) {
    const group = groups.get(appId) ?? new Map<string, string>();
    groups.set(appId, group.set(userHash, erasedAt));
  }
  return groups;
}

/**
 * Yields the ids page by page. Erasures between two pages do no harm: they delete or rename rows, but do not change the
 * keys by which the pages are ordered.
 */
async function* readUserIds(db: Queryable, channelId: number) {
  for (const { first, list } of listUserIds) {
    for (let place: string | undefined = first; place !== undefined; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(db, channelId, place);
      yield* page;
      place = page.at(-1)?.place;
    }
  }
}
