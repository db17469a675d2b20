import { createKey, seal, unseal } from '../../platform/secrets/vault.js';

/** The three secrets of a channel, as bytes. They are transmitted and displayed as base64. */
export interface Credentials {
  readonly appSecret: Uint8Array;
  readonly aesKey: Uint8Array;
  readonly callbackSecret: Uint8Array;
}

export type CredentialName = keyof Credentials;
export const CREDENTIAL_NAMES: readonly CredentialName[] = ['appSecret', 'aesKey', 'callbackSecret'];

/** Stored credentials, sealed under the channel's data key. */
export type SealedCredentials = Readonly<Record<CredentialName, string>>;

export function createCredentials(): Credentials {
  return { appSecret: createKey(), aesKey: createKey(), callbackSecret: createKey() };
}

/** Seals secrets under the data key. Binds them to the app id, so that another channel's row cannot use them. */
export function sealCredentials(dataKey: Uint8Array, appId: string, credentials: Credentials): SealedCredentials {
  const sealed = (name: CredentialName) => seal(dataKey, credentials[name], credentialPlace(appId, name));
  return { appSecret: sealed('appSecret'), aesKey: sealed('aesKey'), callbackSecret: sealed('callbackSecret') };
}

export function openCredentials(dataKey: Uint8Array, appId: string, sealed: SealedCredentials): Credentials {
  const open = (name: CredentialName) => unseal(dataKey, sealed[name], credentialPlace(appId, name));
  return { appSecret: open('appSecret'), aesKey: open('aesKey'), callbackSecret: open('callbackSecret') };
}

/**
 * Opens the former app secret, which was sealed under the same data key and bound to the same place as the current app
 * secret.
 */
export function openFormerAppSecret(dataKey: Uint8Array, appId: string, sealed: string): Uint8Array {
  return unseal(dataKey, sealed, credentialPlace(appId, 'appSecret'));
}

export function sealFormerAppSecret(dataKey: Uint8Array, appId: string, secret: Uint8Array): string {
  return seal(dataKey, secret, credentialPlace(appId, 'appSecret'));
}

const credentialPlace = (appId: string, name: CredentialName) => `${name} of ${appId}`;
