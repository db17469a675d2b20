import { columns } from '../../platform/db/database.js';
import { declareFind, declareWrite } from '../../platform/db/declared.js';

/** Stores a sign-in that is in progress at the identity provider. The verifier is wrapped under the master key. */
export const insertSignOn = declareWrite({
  text: `insert into single_sign_on_tries (state_hash, nonce, verifier, return_to, is_proof, replaces)
     values ($1, $2, $3, $4, $5, $6)`,
  parameters: {
    stateHash: 'bytea',
    nonce: 'text',
    verifier: 'text',
    returnTo: 'text',
    isProof: 'boolean',
    replaces: 'bytea?',
  },
});

/** Deletes and returns a sign-in in progress, so that it can be used only once and within ten minutes. */
export const takeSignOn = declareFind({
  text: `delete from single_sign_on_tries where state_hash = $1 and began_at > now() - interval '10 minutes'
     returning nonce, verifier, return_to as "returnTo", is_proof as "isProof", replaces,
       ceil(extract(epoch from now() - began_at))::integer as seconds`,
  parameters: ['bytea'],
  columns: columns({
    nonce: 'text',
    verifier: 'text',
    returnTo: 'text',
    isProof: 'boolean',
    replaces: 'bytea?',
    /** The time since the sign-in began. */
    seconds: 'integer',
  }),
});
