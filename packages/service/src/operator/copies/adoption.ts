import { type Adoption, adoptDatabase } from '../../platform/installation/database-identity.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator } from '../operator.js';

export interface Adopted extends Partial<Adoption> {
  /** False if this database was the installation's own already, so that nothing changed. */
  readonly adopted: boolean;
}

/** Declares this database to be the installation's own, so that nodes that wait for the adoption start. */
export async function adoptInstallation(operator: Operator): Promise<Adopted> {
  return inTransaction(operator, async (tx) => {
    const adoption = await adoptDatabase(tx);
    if (!adoption) return { adopted: false };
    const { from, to } = adoption;
    const detail = { from, to };
    await recordAudit(tx, { actor: operator.actor, action: 'installation.adopt', subject: 'installation', detail });
    return { adopted: true, from, to };
  });
}
