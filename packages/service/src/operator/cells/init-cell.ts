import { columns, type Database, declareWrite, queryOne, statement } from '../../platform/db/database.js';
import { setCell } from '../../platform/installation/cell-sql.js';
import { readOrCreateInstallationKey, signAuditLog } from '../../platform/secrets/keyed-hasher.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { recordAudit } from '../audit/audit.js';
import { OperatorError } from '../operator.js';
import { CATALOGUE, copyTable } from './catalogue-sql.js';

const IS_USED = statement({
  text: `select exists (select from channels) or exists (select from products) or exists (select from audit_log)
       or exists (select from people) as used`,
  parameters: [],
  columns: columns({ used: 'boolean' }),
});

const deleteInstallation = declareWrite({ text: 'delete from installation', parameters: [] });
const deleteLookUpKeys = declareWrite({ text: 'delete from look_up_keys', parameters: [] });
const forgetIdentity = declareWrite({
  text: 'update installation set created_at = now(), database_identity = null',
  parameters: [],
});

const HAS_ENTRIES = statement({
  text: 'select exists (select from audit_log) as found',
  parameters: [],
  columns: columns({ found: 'boolean' }),
});

const READ_INSTALLATION = statement({
  text: `select cell, master_key_check as "check" from installation`,
  parameters: [],
  columns: columns({ cell: 'smallint', check: 'text' }),
});

export interface CellToInit {
  readonly cell: number;
  readonly actor: string;
  /** A cell of the installation. */
  readonly like: { readonly database: Database; readonly vault: Vault };
  /** The new cell's database, migrated. */
  readonly database: Database;
}

export interface InitedCell {
  readonly cell: number;
  /** False if the database was this cell already. */
  readonly created: boolean;
}

/**
 * Makes an unused database a cell: with the keys and the catalogue of another cell, and numbers of its own. Copies
 * nothing of channels, operators or orders. May be repeated.
 */
export async function initCell({ cell, actor, like, database }: CellToInit): Promise<InitedCell> {
  const { vault } = like;
  const model = await queryOne(like.database, READ_INSTALLATION);
  if (!model) throw new OperatorError('the database of --like is not in use yet: give a database of the installation');
  if (model.cell === cell) throw new OperatorError(`the database of --like is cell ${cell} itself`);
  // Created before it is copied, so that all cells have the same.
  await readOrCreateInstallationKey(like.database, vault, 'cells');
  const created = await database.transaction(async (tx) => {
    const found = await queryOne(tx, READ_INSTALLATION);
    const isSame = found?.cell === cell && found.check === model.check && cell !== 0;
    if (isSame) return false;
    if ((await queryOne(tx, IS_USED))?.used) {
      throw new OperatorError(
        `the database of DATABASE_URL is cell ${found?.cell ?? 0} and in use: create an empty database for cell ${cell}`,
      );
    }
    // An installation without channels or operators has protected nothing with its keys yet.
    await deleteInstallation(tx);
    await deleteLookUpKeys(tx);
    for (const table of ['installation', 'look_up_keys', ...CATALOGUE.map((one) => one.table)]) {
      await copyTable(like.database, tx, table);
    }
    await forgetIdentity(tx);
    await setCell(tx, cell);
    return true;
  });
  signAuditLog(database, vault);
  // After an interruption, the entry of the earlier call may be missing.
  if (!(await queryOne(database, HAS_ENTRIES))?.found) {
    await database.transaction((tx) =>
      recordAudit(tx, { actor, action: 'cell.init', subject: 'installation', detail: { cell, like: model.cell } }),
    );
  }
  return { cell, created };
}
