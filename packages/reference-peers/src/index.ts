/** An institution and a supplier to try the service against, and the parts of the institution for whoever simulates one. */
export { Desk } from './institution/desk.js';
export { FAULTS, type FaultName, type Occasion } from './institution/faults.js';
export {
  type Institution,
  type InstitutionOptions,
  JOURNAL_FILE,
  startInstitution,
} from './institution/institution.js';
export { type Debit, Ledger } from './institution/ledger.js';
export { debitMessage } from './institution/results.js';
export { institutionServer } from './institution/server.js';
export type { Agenda } from './shared/agenda.js';
export { lockFile } from './shared/lock.js';
export { PeerError } from './shared/peer-error.js';
export { SUPPLIER_FAULTS } from './supplier/faults.js';
export { SUPPLIER_OPERATIONS } from './supplier/operations.js';
export {
  SUPPLIER_JOURNAL,
  type SupplierProgram,
  type SupplierProgramOptions,
  startSupplier,
} from './supplier/supplier.js';
