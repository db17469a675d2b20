// The shop's data, in one small file. In production use a database, and store an event's id in the same transaction as
// its changes.
import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';

/** How long the shop keeps event ids: the service recommends 30 days. */
const EVENT_IDS_MS = 30 * 24 * 60 * 60 * 1000;

export async function openStore(file) {
  const kept = await readKept(file);
  const store = {
    /** The key that signs the tokens in forms. */
    formKey: kept.formKey ?? randomBytes(32).toString('hex'),
    /** Users by id: { id, name, mobile, binding?, card? }. Of a card number, only the last digits are stored. */
    users: new Map(kept.users),
    /** The user's id, by the value of the session cookie. */
    sessions: new Map(kept.sessions),
    /** The orders by the shop's own number, externalOrderNo. */
    orders: new Map(kept.orders),
    /** The times at which events were processed, by event id. */
    eventIds: new Map(kept.eventIds?.filter(([, at]) => at > Date.now() - EVENT_IDS_MS)),
    save,
  };

  let last = Promise.resolve();
  /** Saves the current state. Saves run one after the other, so that an older state never replaces a newer state. */
  function save() {
    const { save: _, ...content } = store;
    const text = JSON.stringify(content, (_name, value) => (value instanceof Map ? [...value] : value), 2);
    last = last.catch(() => {}).then(() => replaceFile(file, text));
    return last;
  }

  return store;
}

async function readKept(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

/** Replaces the file atomically: writes a file with a different name first, then renames it. */
async function replaceFile(file, text) {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
