import { createKey, seal, unseal, type Vault } from '../../platform/secrets/vault.js';

/** The three secrets of a channel, as bytes. They are transmitted and displayed as base64. */
export interface Credentials {
  readonly appSecret: Uint8Array;
  readonly aesKey: Uint8Array;
  readonly callbackSecret: Uint8Array;
}

export type CredentialName = keyof Credentials;
export const CREDENTIAL_NAMES: readonly CredentialName[] = ['appSecret', 'aesKey', 'callbackSecret'];

/** Stored credentials: the channel's data key wrapped under the master key, the secrets sealed under the data key. */
export interface SealedCredentials extends Readonly<Record<CredentialName, string>> {
  readonly dataKey: string;
}

export function createCredentials(): Credentials {
  return { appSecret: createKey(), aesKey: createKey(), callbackSecret: createKey() };
}

/** Seals secrets under a new data key. Binds them to the app id, so that another channel's row cannot use them. */
export function sealCredentials(vault: Vault, appId: string, credentials: Credentials): SealedCredentials {
  const dataKey = createKey();
  return { dataKey: vault.wrapKey(dataKey), ...sealUnderKey(dataKey, appId, credentials) };
}

/**
 * Seals new secrets under the channel's existing data key, because other data is sealed under it. Wraps the key again.
 */
export function resealCredentials(
  vault: Vault,
  appId: string,
  wrappedKey: string,
  credentials: Credentials,
): SealedCredentials {
  const dataKey = vault.unwrapKey(wrappedKey);
  return { dataKey: vault.wrapKey(dataKey), ...sealUnderKey(dataKey, appId, credentials) };
}

export function openCredentials(vault: Vault, appId: string, sealed: SealedCredentials): Credentials {
  const dataKey = vault.unwrapKey(sealed.dataKey);
  const open = (name: CredentialName) => unseal(dataKey, sealed[name], credentialPlace(appId, name));
  return { appSecret: open('appSecret'), aesKey: open('aesKey'), callbackSecret: open('callbackSecret') };
}

/**
 * Opens the former app secret, which was sealed under the same data key and bound to the same place as the current app
 * secret.
 */
export function openFormerAppSecret(
  vault: Vault,
  appId: string,
  { dataKey, formerAppSecret }: { readonly dataKey: string; readonly formerAppSecret: string },
): Uint8Array {
  return unseal(vault.unwrapKey(dataKey), formerAppSecret, credentialPlace(appId, 'appSecret'));
}

function sealUnderKey(dataKey: Uint8Array, appId: string, credentials: Credentials): Record<CredentialName, string> {
  const sealed = (name: CredentialName) => seal(dataKey, credentials[name], credentialPlace(appId, name));
  return { appSecret: sealed('appSecret'), aesKey: sealed('aesKey'), callbackSecret: sealed('callbackSecret') };
}

const credentialPlace = (appId: string, name: CredentialName) => `${name} of ${appId}`;
