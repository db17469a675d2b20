import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { PlainError } from '../plain-error.js';
import type { KeyServiceSettings } from '../settings/master-keys.js';

/** Wraps the master key of the installation outside of this process. The wrapped form is any text. */
export interface KeyService {
  wrap(key: Uint8Array): Promise<string>;
  unwrap(wrapped: string): Promise<Uint8Array>;
}

/** Thrown if the key service does not answer, or refuses. A later attempt may succeed. */
export class KeyServiceError extends PlainError {
  constructor(why: string, options?: ErrorOptions) {
    super(`the key service of KEY_SERVICE cannot be used (${why})`, options);
  }
}

const TIMEOUT_MS = 10_000;
const KEY_BYTES = 32;

/** Remembers the last key that was unwrapped, so that a start calls the service once. */
export function createKeyService(settings: KeyServiceSettings): KeyService {
  const call = settings.kind === 'vault' ? createTransitCall(settings) : createCommandCall(settings);
  let known: { readonly wrapped: string; readonly key: Uint8Array } | undefined;
  return {
    wrap: (key) => call('wrap', Buffer.from(key).toString('base64')),
    async unwrap(wrapped) {
      if (known?.wrapped === wrapped) return known.key;
      const key = Buffer.from(await call('unwrap', wrapped), 'base64');
      if (key.length !== KEY_BYTES) throw new KeyServiceError(`its answer is not a key of ${KEY_BYTES} bytes`);
      known = { wrapped, key };
      return key;
    },
  };
}

/** Turns a key in base64 into its wrapped form, or the reverse. */
type Call = (act: 'wrap' | 'unwrap', text: string) => Promise<string>;

/** Runs `PATH wrap` or `PATH unwrap`: the text goes to its standard input and comes from its standard output. */
function createCommandCall({ path }: { readonly path: string }): Call {
  return async (act, text) => {
    // The command's error output goes to the error output of this process.
    const child = spawn(path, [act], { stdio: ['pipe', 'pipe', 'inherit'], timeout: TIMEOUT_MS });
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
    });
    // A command that ends without reading its input breaks the pipe. Its exit code is reported instead.
    child.stdin.on('error', () => undefined).end(`${text}\n`);
    const ended = await new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('close', (code, signal) => resolve(code === 0 ? '' : `ended with ${signal ?? code}`));
    });
    if (ended !== '' || answer.trim() === '') throw new KeyServiceError(`${path} ${act}: ${ended || 'no output'}`);
    return answer.trim();
  };
}

const TRANSIT = {
  wrap: { path: 'encrypt', given: 'plaintext', got: 'ciphertext' },
  unwrap: { path: 'decrypt', given: 'ciphertext', got: 'plaintext' },
} as const;

interface TransitSettings {
  readonly url: string;
  readonly keyName: string;
  readonly tokenFile: string;
}

/**
 * Calls the transit engine of HashiCorp Vault or OpenBao. Reads the token for each call, because an agent renews it.
 */
function createTransitCall({ url, keyName, tokenFile }: TransitSettings): Call {
  return async (act, text) => {
    const { path, given, got } = TRANSIT[act];
    const token = await readFile(tokenFile, 'utf8').catch((error: Error) => {
      throw new KeyServiceError(`VAULT_TOKEN_FILE: ${error.message}`);
    });
    const response = await fetch(`${url}/${path}/${encodeURIComponent(keyName)}`, {
      method: 'POST',
      headers: { 'x-vault-token': token.trim(), 'x-vault-request': 'true', 'content-type': 'application/json' },
      body: JSON.stringify({ [given]: text }),
      // The token must not follow a redirect to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new KeyServiceError(`${path}: ${describeFailure(error)}`, { cause: error });
    });
    const answer: unknown = await response.json().catch(() => undefined);
    const value = (answer as { data?: Record<string, unknown> } | undefined)?.data?.[got];
    // The error does not quote the body, because the answer to a decryption contains the key.
    if (!response.ok || typeof value !== 'string') throw new KeyServiceError(`${path}: status ${response.status}`);
    return value;
  };
}

function describeFailure(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
