import { columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';

/** A sign-in that was begun here and is under way at the identity provider. */
export type SignOn = RowOf<typeof TAKE_SIGN_ON>;

const INSERT_SIGN_ON = statement({
  text: 'insert into single_sign_on_tries (state_hash, nonce, verifier, return_to) values ($1, $2, $3, $4)',
  parameters: ['bytea', 'text', 'text', 'text'],
});

export async function insertSignOn(
  db: Queryable,
  { stateHash, nonce, verifier, returnTo }: SignOn & { readonly stateHash: Buffer },
): Promise<void> {
  await db.query(INSERT_SIGN_ON, [stateHash, nonce, verifier, returnTo]);
}

const TAKE_SIGN_ON = statement({
  text: `delete from single_sign_on_tries where state_hash = $1 and began_at > now() - interval '10 minutes'
     returning nonce, verifier, return_to as "returnTo"`,
  parameters: ['bytea'],
  columns: columns({
    nonce: 'text',
    /** Wrapped under the master key. */
    verifier: 'text',
    returnTo: 'text',
  }),
});

/** Once, and for ten minutes. */
export async function takeSignOn(db: Queryable, stateHash: Buffer): Promise<SignOn | undefined> {
  const [begun] = await db.query(TAKE_SIGN_ON, [stateHash]);
  return begun;
}
