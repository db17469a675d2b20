import { createHash } from 'node:crypto';
import { trimSlashes } from '@perennial/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createDevice } from '../../console/sessions/device.js';
import { beginSession, hashToken, type SignInDeps, type Visitor } from '../../console/sessions/sign-in.js';
import { insertSignOn, takeSignOn } from '../../console/sessions/single-sign-on-sql.js';
import { traceFailedSignIn } from '../../console/sessions/trace-failure.js';
import { recordAudit } from '../../operator/audit/audit.js';
import {
  findPerson,
  findPersonBySingleSignOn,
  type PersonRow,
  storeSingleSignOn,
} from '../../operator/people/people-sql.js';
import { keyPlaces, openStoredKey, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import type { SingleSignOnSettings } from '../../platform/settings/sign-in.js';
import { isThisMachine } from '../../platform/this-machine.js';
import { createMinuteLimit } from '../answers/minute-limit.js';
import { readCookie, setCookie } from './cookie.js';

export interface SingleSignOnDeps extends SignInDeps {
  readonly singleSignOn: SingleSignOnSettings | undefined;
  readonly consoleUrl: () => string;
  readonly log: Logger;
}

interface SignOnPages {
  visitorOf(request: FastifyRequest): Visitor;
  signedIn(
    reply: FastifyReply,
    cookies: { readonly token: string; readonly device: string },
    returnTo: string,
  ): FastifyReply;
}

/** Limit for one address. */
const BEGUN_PER_MINUTE = 30;

/** OpenID Connect with PKCE. The identity provider says who an operator is; our table says what they may do. */
export function createSingleSignOn(deps: SingleSignOnDeps) {
  const { singleSignOn: settings, vault, clock, consoleUrl, log } = deps;
  if (!settings) return undefined;
  const callback = () => `${consoleUrl()}/api/single-sign-on/callback`;
  const isSecure = () => consoleUrl().startsWith('https:');

  const begun = createMinuteLimit(BEGUN_PER_MINUTE, clock);
  let found: Promise<Provider> | undefined;
  /** Discovers the provider at the first sign-in, and again after a failure. */
  const provider = async (): Promise<Provider> => {
    found ??= discover(settings);
    try {
      return await found;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };

  return {
    name: settings.name,
    addRoutes(api: FastifyInstance, { visitorOf, signedIn }: SignOnPages): void {
      // With `prove`, the provider authenticates the operator again, and the new session has a confirmed identity.
      api.get<{ Querystring: { returnTo?: string; prove?: string } }>('/single-sign-on', async (request, reply) => {
        // Limited per address, because each request of an unknown client stores a row.
        begun.checkAndCount(visitorOf(request).address);
        const { database } = deps;
        const { client, config } = await provider();
        const verifier = client.randomPKCECodeVerifier();
        const state = client.randomState();
        const nonce = client.randomNonce();
        const isProof = request.query.prove !== undefined;
        // Stores now which session will be replaced, because the provider's redirect comes without the session's
        // cookie.
        const token = readCookie(request, 'session', isSecure());
        await insertSignOn(database, {
          stateHash: hashState(state),
          nonce,
          verifier: await wrapStoredKey(database, vault, Buffer.from(verifier), keyPlaces.signOn),
          returnTo: ownAddress(request.query.returnTo),
          isProof,
          replaces: token === undefined ? null : hashToken(token),
        });
        const to = client.buildAuthorizationUrl(config, {
          redirect_uri: callback(),
          scope: 'openid email profile',
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state,
          nonce,
          ...(isProof ? { prompt: 'login', max_age: '0' } : {}),
          ...(settings.acrValues.length > 0 ? { acr_values: settings.acrValues.join(' ') } : {}),
        });
        // Binds the state to this browser, so that nobody can begin a sign-in and make another person's browser
        // complete it.
        setCookie(reply, 'signOn', hashState(state).toString('base64url'), isSecure());
        return reply.redirect(to.href, 303);
      });
      api.get('/single-sign-on/callback', async (request, reply) => {
        const { database } = deps;
        const { client, config } = await provider();
        const address = new URL(callback());
        address.search = (request.raw.url ?? '').replace(/^[^?]*/, '');
        const state = address.searchParams.get('state') ?? '';
        const isOfBrowser = readCookie(request, 'signOn', isSecure()) === hashState(state).toString('base64url');
        const taken = isOfBrowser ? await takeSignOn(database, hashState(state)) : undefined;
        if (!taken) return reply.redirect(`${consolePath(consoleUrl())}/sign-in?problem=single-sign-on`, 303);
        const verifier = await openStoredKey(database, vault, taken.verifier, keyPlaces.signOn);
        const tokens = await client
          .authorizationCodeGrant(config, address, {
            pkceCodeVerifier: Buffer.from(verifier).toString(),
            expectedState: state,
            expectedNonce: taken.nonce,
            idTokenExpected: true,
            // Requires an `auth_time` after the sign-in began. A `maxAge` of 0 would refuse operators who take long to
            // enter a code.
            ...(taken.isProof ? { maxAge: taken.seconds } : {}),
          })
          .catch((err: unknown) => {
            log.warn({ err, requestId: request.id }, 'single sign-on failed');
            return undefined;
          });
        const claims = tokens?.claims();
        const person = claims && isFor(settings, claims) && (await findPersonOf(deps, settings.issuer, claims));
        if (!person) {
          await traceFailedSignIn(deps, `${claims?.email}`.replaceAll('\0', ''), visitorOf(request));
          return reply.redirect(`${consolePath(consoleUrl())}/sign-in?problem=single-sign-on`, 303);
        }
        const { isProof: isProven, replaces } = taken;
        const token = await beginSession(deps, person, visitorOf(request), {
          by: 'single sign-on',
          isProven,
          replaces,
        });
        const device = createDevice(vault, person.personId);
        return signedIn(reply, { token, device }, `${consolePath(consoleUrl())}${taken.returnTo}`);
      });
    },
  };
}

type Client = typeof import('openid-client');
interface Provider {
  readonly client: Client;
  readonly config: import('openid-client').Configuration;
}

async function discover({ issuer, clientId, clientSecret }: SingleSignOnSettings): Promise<Provider> {
  const client = await import('openid-client');
  const address = new URL(issuer);
  // Plain HTTP is allowed on this machine only, for trials.
  const isLocal = address.protocol === 'http:' && isThisMachine(address.hostname);
  // The signature of the ID token is verified, although it comes from the provider over TLS.
  const execute = [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])];
  return { client, config: await client.discovery(address, clientId, clientSecret, undefined, { execute }) };
}

interface Claims {
  readonly sub: string;
  readonly acr?: unknown;
  readonly azp?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** Returns true if the token was issued to this service, and the operator was authenticated as the settings require. */
function isFor({ acrValues, clientId }: SingleSignOnSettings, { acr, azp, sub, email }: Claims): boolean {
  const isStrong = acrValues.length === 0 || acrValues.includes(`${acr}`);
  // PostgreSQL does not store NUL in texts.
  return isStrong && (azp === undefined || azp === clientId) && !`${sub}${email}`.includes('\0');
}

/**
 * Finds an active operator by the subject. At the operator's first single sign-on, finds the operator whose name is the
 * verified e-mail address, and stores the subject.
 */
async function findPersonOf(
  { database }: SignInDeps,
  issuer: string,
  { sub, email, email_verified }: Claims,
): Promise<PersonRow | undefined> {
  const subject = `${issuer} ${sub}`;
  const known = await findPersonBySingleSignOn(database, subject);
  if (known) return known.status === 'ACTIVE' ? known : undefined;
  if (typeof email !== 'string' || email_verified !== true) return undefined;
  const person = await findPerson(database, email);
  if (person?.status !== 'ACTIVE') return undefined;
  return database.transaction(async (tx) => {
    if (!(await storeSingleSignOn(tx, person.personId, subject))) return undefined;
    const { name } = person;
    await recordAudit(tx, { actor: name, action: 'person.set-single-sign-on', subject: name, detail: { issuer } });
    return person;
  });
}

const hashState = (state: string) => createHash('sha256').update(state).digest();

/** Returns the given path if it is a path of the console, else `/`. */
function ownAddress(given: string | undefined): string {
  return given !== undefined && /^\/(?![/\\])[\w/?=&%.,:+-]*$/.test(given) ? given : '/';
}

const consolePath = (url: string) => trimSlashes(new URL(url).pathname);
