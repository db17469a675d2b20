// What the shop remembers, in one small file. In earnest this is a database, and an event's id is stored in the transaction of what
// the event changes.
import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';

/** An event may come again for so long. */
const EVENT_IDS_MS = 30 * 24 * 60 * 60 * 1000;

export async function openStore(file) {
  const kept = await readKept(file);
  const store = {
    /** Signs the tokens in forms. */
    formKey: kept.formKey ?? randomBytes(32).toString('hex'),
    /** By id: { id, name, mobile, binding?, card? }. No card number is kept, only its last digits. */
    users: new Map(kept.users),
    /** By the value of the cookie: the user's id. */
    sessions: new Map(kept.sessions),
    /** By the shop's own number, externalOrderNo. */
    orders: new Map(kept.orders),
    /** Events that were dealt with, by id: when. */
    eventIds: new Map(kept.eventIds?.filter(([, at]) => at > Date.now() - EVENT_IDS_MS)),
    save,
  };

  let last = Promise.resolve();
  /** Everything, as it is at this moment. One after the other, so that an older state never replaces a newer one. */
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

/** Wholly or not at all: a file that is cut off by a crash has another name. */
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
