import type { Logger } from 'pino';
import { alertText } from '../alerts/alert-wordings.js';
import { raiseAlertDaily } from '../alerts/alerts-sql.js';
import type { Queryable } from '../platform/db/database.js';
import { openStoredKey } from '../platform/secrets/stored-keys.js';
import { MisplacedKey, type Vault } from '../platform/secrets/vault.js';
import type { Environment } from '../platform/settings.js';

export interface PeerKeyDeps {
  readonly database: Queryable;
  readonly vault: Vault;
  readonly environment: Environment;
  /** Unset for commands, which print the error. */
  readonly log?: Logger;
}

/** A stored bridge or supplier. `subject` is the payment channel or benefit that an alert names. */
export interface StoredPeer {
  readonly subject: string;
  readonly url: string;
  readonly wrappedKey: string;
  readonly place: string;
}

/**
 * Opens the key of a bridge or a supplier. Throws and raises an alert if the key was not stored for this address:
 * somebody may have changed the address in the database to receive card data. In production, also throws if the address
 * is not https. `db` is the caller's transaction, if there is one.
 */
export async function openPeerKey(
  { database, vault, environment, log }: PeerKeyDeps,
  { subject, url, wrappedKey, place }: StoredPeer,
  db: Queryable = database,
): Promise<Uint8Array> {
  const refuse = (err: MisplacedKey, sentence: 'peer-refused' | 'peer-refused|not-https'): never => {
    log?.error(
      { err, peer: subject, cause: `peer ${subject}` },
      'the address of a bridge or supplier is refused: nothing is sent to it',
    );
    // Not awaited, because the caller may hold a connection. If such callers held all connections, none would be free
    // for the alert.
    raiseAlertDaily(database, 'peer-refused', subject, alertText(sentence)).catch((error: unknown) =>
      log?.error({ err: error }, 'an alert could not be stored'),
    );
    throw err;
  };
  if (environment === 'production' && !url.startsWith('https://')) {
    refuse(new MisplacedKey(`the address of ${subject} must start with https://`), 'peer-refused|not-https');
  }
  try {
    return await openStoredKey(db, vault, wrappedKey, place);
  } catch (error) {
    return error instanceof MisplacedKey ? refuse(error, 'peer-refused') : Promise.reject(error);
  }
}
