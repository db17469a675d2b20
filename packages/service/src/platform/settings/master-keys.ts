import { existsSync } from 'node:fs';
import path from 'node:path';
import { trimSlashes } from '@perennial/wire';
import { type Env, isHttpsOrHere, readList, readSettingFile, readText, SettingsError } from './values.js';

export type KeyServiceSettings =
  | { readonly kind: 'command'; readonly path: string }
  /** `url` is the address of the transit engine, without the path of an operation. */
  | { readonly kind: 'vault'; readonly url: string; readonly keyName: string; readonly tokenFile: string };

/** The name of the credential in systemd's LoadCredential. */
const CREDENTIAL = 'master-key';

/** Reads the master keys, and the address of the key service, which may have the current master key. */
export function readMasterKeys(env: Env, isProduction: boolean) {
  const keyService = readKeyService(env);
  const value = readText(env, 'MASTER_KEY');
  const credentials = readText(env, 'CREDENTIALS_DIRECTORY');
  const credential = credentials === undefined ? undefined : path.join(credentials, CREDENTIAL);
  const file = readText(env, 'MASTER_KEY_FILE') ?? (credential && existsSync(credential) ? credential : undefined);
  if (value !== undefined && file !== undefined) {
    throw new SettingsError(`MASTER_KEY and MASTER_KEY_FILE (${file}) exclude each other`);
  }
  const previous = readList(env, 'MASTER_KEY_PREVIOUS').map((key) => decodeMasterKey('MASTER_KEY_PREVIOUS', key));
  const current = file === undefined ? value && [decodeMasterKey('MASTER_KEY', value)] : readMasterKeyFile(file);
  if (!current && !keyService) {
    if (previous.length > 0) throw new SettingsError('MASTER_KEY_PREVIOUS requires MASTER_KEY');
    if (isProduction) {
      throw new SettingsError(
        'MASTER_KEY is required in production: 32 random bytes in base64 (or MASTER_KEY_FILE, or KEY_SERVICE)',
      );
    }
  }
  return {
    /**
     * First the current master key, if no key service wraps it. Then the previous master keys, under which some keys
     * may still be wrapped. Undefined: a key file is created in `dataDir`.
     */
    masterKeys: current || keyService ? [...(current || []), ...previous] : undefined,
    /** Wraps another master key, which is the current one unless MASTER_KEY or MASTER_KEY_FILE is set. */
    keyService: keyService && { ...keyService, isCurrent: !current },
  };
}

/** Reads the current master key from the first line, and previous master keys from the other lines. */
function readMasterKeyFile(file: string): Uint8Array[] {
  return readSettingFile('MASTER_KEY_FILE', file)
    .trim()
    .split(/\s+/)
    .map((line) => decodeMasterKey(`MASTER_KEY_FILE ${file}`, line));
}

function decodeMasterKey(name: string, value: string): Uint8Array {
  const bytes = Buffer.from(value, 'base64');
  // Encodes the bytes again and compares the result with the value, because Node's decoder skips invalid characters.
  if (bytes.length !== 32 || bytes.toString('base64') !== value) {
    throw new SettingsError(`${name} must be 32 bytes in base64`);
  }
  return bytes;
}

/** Reads `command:/path` or `vault:https://host/v1/transit#key`. */
function readKeyService(env: Env): KeyServiceSettings | undefined {
  const value = readText(env, 'KEY_SERVICE');
  const tokenFile = readText(env, 'VAULT_TOKEN_FILE');
  if (value === undefined) return undefined;
  const [, kind, place = ''] = /^(command|vault):(.+)$/.exec(value) ?? [];
  if (kind === 'command' && path.isAbsolute(place)) return { kind, path: place };
  const url = kind === 'vault' && URL.canParse(place) ? new URL(place) : undefined;
  if (!url || !isHttpsOrHere(url) || url.hash.length < 2 || url.search !== '' || url.username !== '') {
    throw new SettingsError(
      'KEY_SERVICE must be command:/path, or vault:https://host/v1/transit#key (http only on this machine)',
    );
  }
  if (tokenFile === undefined) throw new SettingsError('VAULT_TOKEN_FILE is missing: KEY_SERVICE requires it');
  const keyName = decodeURIComponent(url.hash.slice(1));
  return { kind: 'vault', url: trimSlashes(`${url.origin}${url.pathname}`), keyName, tokenFile };
}
