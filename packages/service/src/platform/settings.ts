import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseCurrency } from '@perennial/wire/currency';
import { MAX_CELL, readCellsFile } from './cells.js';
import { PlainError } from './plain-error.js';
import type { SignedReceiver } from './signed-post.js';
import { isThisMachine } from './this-machine.js';

export type Environment = 'sandbox' | 'production';

export type Settings = Readonly<ReturnType<typeof readSettings>>;

export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly name: string;
  /** Authentication methods, of which the provider must have used one. Empty: any method. */
  readonly acrValues: readonly string[];
}

export type KeyServiceSettings =
  | { readonly kind: 'command'; readonly path: string }
  /** `url` is the address of the transit engine, without the path of an operation. */
  | { readonly kind: 'vault'; readonly url: string; readonly keyName: string; readonly tokenFile: string };

/** How bridges and suppliers are reached. */
export interface PeerSettings {
  /** The client certificate and its key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The only authorities to trust. Unset: the authorities that Node trusts. */
  readonly caFile?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
}

export interface ProxySettings {
  readonly url: URL;
  /** The header Proxy-Authorization, a secret. */
  readonly authorization: string | undefined;
}

export const DEFAULT_DATABASE_POOL = 16;

export const DEFAULT_EVENTS_RETENTION_DAYS = 180;
export const DEFAULT_PUSHES_PER_ADDRESS = 8;
export const DEFAULT_AGREEMENT_DATA_DAYS = 30;

export const DEFAULT_REDEEM_OPENS_PER_MINUTE = 600;

const CONSOLE_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

const MIGRATE_MODES = ['auto', 'never'] as const;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Thrown if a setting has an unusable value, or names something unusable. The message is one line for operators. */
export class SettingsError extends PlainError {}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Settings that were removed, each with its replacement or the rule that applies now. If one of them is set, the
 * service does not start, because the setting would have no effect.
 */
const REMOVED: Readonly<Record<string, string>> = {
  ALERT_EMAIL_FROM: 'add it to SMTP_URL, as ?from=alerts@example.com',
  AUTH_FAILURES_PER_MINUTE: 'an address may fail 600 times a minute for each app id',
  CONSOLE_HOST: 'write it before the port, as CONSOLE_PORT=0.0.0.0:8081',
  DATABASE_SHARE: 'one channel may use a third of DATABASE_POOL at a time',
  HOST: 'write it before the port, as PORT=0.0.0.0:8080',
  METRICS_HOST: 'write it before the port, as METRICS_PORT=0.0.0.0:9464',
  OIDC_NAME: 'the button shows the host of OIDC_ISSUER',
  REQUEST_LOG: 'the calls of channels are kept for 7 days',
  WORKERS: 'start several nodes behind a proxy (deploy/systemd/perennial@.service, deploy/docker/compose.yaml)',
};

function refuseRemoved(env: Env): void {
  for (const [name, advice] of Object.entries(REMOVED)) {
    if (name in env && readText(env, name)) throw new SettingsError(`${name} is no longer a setting: ${advice}`);
  }
}

/** Reads all settings of the service from the environment. */
export function readSettings(env: Env = process.env) {
  refuseRemoved(env);
  const environment = readChoice(env, 'SVC_ENVIRONMENT', ['sandbox', 'production'], 'sandbox');
  const { host, port } = readListener(env, 'PORT') ?? { host: LOCAL, port: 8080 };
  const isProduction = environment === 'production';
  /** In production, the console and /metrics are reachable from this machine only, unless a setting says otherwise. */
  const readApart = (name: string, offset: number) => {
    if (readText(env, name) === 'same') return undefined;
    const own = { host: LOCAL, port: port === 0 ? 0 : port + (port > 60_000 ? -offset : offset) };
    return readListener(env, name) ?? (isProduction ? own : undefined);
  };
  const { host: metricsHost = LOCAL, port: metricsPort } = readApart('METRICS_PORT', 2000) ?? {};
  if (metricsPort === port && port !== 0) {
    throw new SettingsError(`METRICS_PORT must be another port than PORT, which is ${port}`);
  }
  const { host: consoleHost = LOCAL, port: consolePort } = readApart('CONSOLE_PORT', 1000) ?? {};
  if (consolePort !== undefined && consolePort !== 0 && (consolePort === port || consolePort === metricsPort)) {
    throw new SettingsError('CONSOLE_PORT must be another port than PORT and METRICS_PORT');
  }
  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:']);
  const keyService = readKeyService(env);
  const { masterKeys, isFirst } = readMasterKeys(env, keyService !== undefined);
  if (isProduction && !masterKeys) {
    throw new SettingsError(
      'MASTER_KEY is required in production: 32 random bytes in base64 (or MASTER_KEY_FILE, or KEY_SERVICE)',
    );
  }
  return {
    environment,
    /** The currency of every amount. Unset: the currency of the installation, or CNY for a new installation. */
    currency: readCurrency(env),
    /** The cell of this node. Unset: 0 for a node; a command accepts any. */
    cell: readOptionalInteger(env, 'CELL', 0, MAX_CELL),
    /** All cells of the installation, for commands over several cells, notices and the console. Empty: only this one. */
    cells: readCells(env),
    host,
    port,
    /** The URL of the API. Unset: http:// with the address and the actual port on which the node listens. */
    publicUrl: readPublicUrl(env, 'PUBLIC_URL'),
    /** The URL of redemption links, if it differs from the URL of the API. Unset: `publicUrl`. */
    redeemUrl: readPublicUrl(env, 'REDEEM_URL'),
    /** How often an address may open redemption pages per minute. It may post a fifth as often. */
    redeemOpensPerMinute: readInteger(env, 'REDEEM_OPENS_PER_MINUTE', DEFAULT_REDEEM_OPENS_PER_MINUTE, 5, 1_000_000),
    dataDir: path.resolve(readText(env, 'DATA_DIR') ?? 'data'),
    /** The database. Unset: the embedded server in `dataDir`. */
    databaseUrl,
    // A node needs at least two connections to start.
    databasePool: readInteger(env, 'DATABASE_POOL', DEFAULT_DATABASE_POOL, 2, 1000),
    /**
     * First the current master key, if no key service wraps it. Then the previous master keys, under which some keys
     * may still be wrapped. Undefined: a key file is created in `dataDir`.
     */
    masterKeys,
    /** Wraps another master key, which is the current one unless MASTER_KEY or MASTER_KEY_FILE is set. */
    keyService: keyService && { ...keyService, isCurrent: !isFirst },
    /** auto: a node migrates the schema when it starts. never: only the command `migrate` does. */
    migrate: readChoice(env, 'MIGRATE', MIGRATE_MODES, isProduction ? 'never' : 'auto'),
    /** The time for which a stopping node still serves requests, so that load balancers notice that it stops. */
    drainSeconds: readInteger(env, 'DRAIN_SECONDS', isProduction ? 5 : 0, 0, 300),
    /** The port of a separate listener for /metrics and /healthz. Undefined: they are served on the port of the API. */
    metricsPort,
    metricsHost,
    metricsToken: readToken(env, 'METRICS_TOKEN'),
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    /** The format of log lines. Unset: pretty on a terminal, otherwise JSON. */
    logFormat:
      readText(env, 'LOG_FORMAT') === undefined ? undefined : readChoice(env, 'LOG_FORMAT', LOG_FORMATS, 'json'),
    /** Name of this node in the log. */
    nodeId: readName(env, 'NODE_ID') ?? `${os.hostname()}-${process.pid}`,
    /** Addresses of proxies whose X-Forwarded-For header is trusted. */
    trustedProxies: readAddressRanges(env, 'TRUSTED_PROXIES'),
    /** Days for which events are kept, counted from the end of the week in which they were written. */
    eventsRetentionDays: readInteger(env, 'EVENTS_RETENTION_DAYS', DEFAULT_EVENTS_RETENTION_DAYS, 30, 3650),
    /** The maximum number of pushes in flight to one address of a channel. */
    pushesPerAddress: readInteger(env, 'PUSHES_PER_ADDRESS', DEFAULT_PUSHES_PER_ADDRESS, 1, 64),
    /** Days for which card, document, name and bank mobile are kept after their agreement ended. */
    agreementDataDays: readInteger(env, 'AGREEMENT_DATA_DAYS', DEFAULT_AGREEMENT_DATA_DAYS, 1, 3650),
    /** Where alerts are sent, besides the console's list. */
    alertWebhook: readWebhook(env, 'ALERT_WEBHOOK'),
    alertEmail: readAlertEmail(env),
    /** Sends text messages to users. Unset: the redemption page sends nothing. */
    messageHook: readMessageHook(env),
    developers: readChoice(env, 'DEVELOPERS', ['on', 'off'], 'on'),
    /** on: serves the console, on the port of the API or on its own port. */
    console: readChoice(env, 'CONSOLE', ['on', 'off'], 'on'),
    consolePort,
    consoleHost,
    /** The URL of the console. Unset: /console below `publicUrl`, or on the console's own port. */
    consoleUrl: readPublicUrl(env, 'CONSOLE_URL'),
    /** Refunds of one period above this amount, in cents, need a second operator. 0: no refund needs one. */
    refundApprovalCent: readCents(env, 'CONSOLE_REFUND_APPROVAL_CENT', isProduction ? 50_000 : 0),
    /**
     * If the refunds that one operator makes alone in 24 hours exceed this sum, in cents, a second operator is needed.
     * 0: no limit.
     */
    refundDailyCent: readCents(env, 'CONSOLE_REFUND_DAILY_CENT', isProduction ? 500_000 : 0),
    singleSignOn: readSingleSignOn(env),
    peers: readPeers(env),
    /** Roles that need a second factor, unless the identity provider has authenticated the operator. */
    totpRoles: readRoles(env, 'CONSOLE_TOTP_ROLES', isProduction ? ['finance', 'admin'] : []),
    /** ENGINE=off: the node serves reads only and runs no jobs. */
    readsOnly: readChoice(env, 'ENGINE', ['on', 'off'], 'on') === 'off',
  };
}

/**
 * Checks settings that matter only for a node in production. Returns warnings for settings that may be intended. Throws
 * for URLs without HTTPS, and for the embedded database.
 */
export function checkNodeSettings(settings: Settings): string[] {
  const { environment, host, trustedProxies, databaseUrl, metricsPort, metricsHost, metricsToken } = settings;
  if (environment !== 'production') return [];
  for (const [name, value] of [
    ['PUBLIC_URL', settings.publicUrl],
    ['REDEEM_URL', settings.redeemUrl ?? settings.publicUrl],
  ] as const) {
    if (!value?.startsWith('https://')) throw new SettingsError(`${name} must start with https:// in production`);
  }
  if (databaseUrl === undefined) {
    throw new SettingsError('DATABASE_URL is required in production: the embedded database is for trials only');
  }
  const isOpen = (address: string) => address === '0.0.0.0' || address === '::';
  const metricsAddress = metricsPort === undefined ? host : metricsHost;
  const { consolePort, consoleUrl } = settings;
  if (consoleUrl !== undefined && !isHttpsOrHere(new URL(consoleUrl))) {
    throw new SettingsError('CONSOLE_URL must start with https:// in production, or be on this machine');
  }
  return [
    ...(settings.console === 'on' && consolePort !== undefined && consoleUrl === undefined
      ? [
          `the console is on ${settings.consoleHost}:${consolePort} without CONSOLE_URL: operators can sign in only from this machine`,
        ]
      : []),
    ...(isOpen(host) && trustedProxies.length === 0
      ? ['PORT listens on every address and TRUSTED_PROXIES is empty: all callers behind a proxy count as one address']
      : []),
    ...(isOpen(metricsAddress) && metricsToken === undefined
      ? ['/metrics listens on every address without METRICS_TOKEN: set it, or let only your own machines reach it']
      : []),
  ];
}

function readText(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

function readName(env: Env, variable: string): string | undefined {
  const value = readText(env, variable);
  if (value !== undefined && !/^[!-~]{1,64}$/.test(value)) {
    throw new SettingsError(`${variable} must be 1 to 64 visible ASCII characters`);
  }
  return value;
}

function readList(env: Env, name: string): string[] {
  const value = readText(env, name);
  return value === undefined ? [] : value.split(',').map((part) => part.trim());
}

type ConsoleRole = (typeof CONSOLE_ROLES)[number];

function readRoles(env: Env, name: string, fallback: readonly ConsoleRole[]): readonly ConsoleRole[] {
  const values = readList(env, name);
  if (values.length === 0) return fallback;
  const wrong = values.find((value) => ![...CONSOLE_ROLES, 'none'].includes(value));
  if (wrong !== undefined)
    throw new SettingsError(`${name} must be a list of ${CONSOLE_ROLES.join(', ')}, or none, but contains "${wrong}"`);
  return CONSOLE_ROLES.filter((role) => values.includes(role));
}

function readCurrency(env: Env): string | undefined {
  const value = readText(env, 'CURRENCY');
  try {
    return value === undefined ? undefined : parseCurrency(value);
  } catch (error) {
    throw new SettingsError(`CURRENCY: ${error instanceof Error ? error.message : error}`);
  }
}

function readCells(env: Env) {
  const file = readText(env, 'CELLS_FILE');
  return file === undefined ? [] : readCellsFile(file);
}

function readAddressRanges(env: Env, name: string): string[] {
  const values = readList(env, name);
  const wrong = values.find((value) => {
    const [address = '', bits = '0', more] = value.split('/');
    return (
      isIP(address) === 0 ||
      more !== undefined ||
      !/^\d{1,3}$/.test(bits) ||
      Number(bits) > (isIP(address) === 6 ? 128 : 32)
    );
  });
  if (wrong !== undefined)
    throw new SettingsError(`${name} must be addresses or ranges such as 10.0.0.0/8, but contains "${wrong}"`);
  return values;
}

const LOCAL = '127.0.0.1';

/** Reads a port, or an address and a port: `8080`, `0.0.0.0:8080`, `[::]:8080`. */
function readListener(env: Env, name: string): { readonly host: string; readonly port: number } | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  const [, ipv6, host = ipv6 ?? LOCAL, digits = ''] = /^(?:(?:\[(.+)\]|([^:]+)):)?(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) {
    throw new SettingsError(`${name} must be a port from 0 to 65535, or an address and a port, but is "${value}"`);
  }
  return { host, port };
}

function readInteger(env: Env, name: string, fallback: number, min: number, max: number): number {
  return readOptionalInteger(env, name, min, max) ?? fallback;
}

const readCents = (env: Env, name: string, fallback: number) => readInteger(env, name, fallback, 0, 100_000_000_000);

function readOptionalInteger(env: Env, name: string, min: number, max: number): number | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new SettingsError(`${name} must be a whole number from ${min} to ${max}, but is "${value}"`);
  }
  return number;
}

function readChoice<T extends string>(env: Env, name: string, allowed: readonly T[], fallback: T): T {
  const value = readText(env, name);
  if (value === undefined) return fallback;
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new SettingsError(`${name} must be one of ${allowed.join(', ')}, but is "${value}"`);
  return found;
}

/** Reads a secret token. Error messages never quote the value. */
function readToken(env: Env, name: string): string | undefined {
  const value = readText(env, name);
  if (value !== undefined && !/^[\x21-\x7e]{16,}$/.test(value)) {
    throw new SettingsError(`${name} must be at least 16 characters, without spaces`);
  }
  return value;
}

/** Reads a URL. Error messages never quote the value, because a connection string may contain a password. */
function readUrl(env: Env, name: string, protocols: readonly string[]): string | undefined {
  const value = readText(env, name);
  if (value === undefined) return undefined;
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
    throw new SettingsError(`${name} must be a URL that starts with ${protocols.join('// or ')}//`);
  }
  return value;
}

/** Reads a URL to which paths are appended. It is no secret: callers, users and the log see it. */
function readPublicUrl(env: Env, name: string): string | undefined {
  const value = readUrl(env, name, ['http:', 'https:']);
  if (value === undefined) return undefined;
  const { username, password } = new URL(value);
  if (username !== '' || password !== '' || /[?#]/.test(value)) {
    throw new SettingsError(`${name} must be a URL without a user, a password, a query or a fragment`);
  }
  return value.replace(/\/+$/, '');
}

/** A shorter secret could be found by trying all values against one signed message. */
const MIN_SECRET_LENGTH = 16;

/** Reads the URL and the secret of a receiver of signed messages. */
function readWebhook(env: Env, name: string): SignedReceiver | undefined {
  const address = readUrl(env, `${name}_URL`, ['http:', 'https:']);
  const secret = readText(env, `${name}_SECRET`);
  if (address === undefined && secret === undefined) return undefined;
  if (address === undefined) throw new SettingsError(`${name}_URL is missing: ${name}_SECRET requires it`);
  if (secret === undefined || secret.length < MIN_SECRET_LENGTH) {
    throw new SettingsError(`${name}_SECRET must have ${MIN_SECRET_LENGTH} characters or more`);
  }
  return { url: address, secret };
}

function readMessageHook(env: Env): SignedReceiver | undefined {
  const hook = readWebhook(env, 'MESSAGE_HOOK');
  if (hook && !isHttpsOrHere(new URL(hook.url))) {
    throw new SettingsError(
      'MESSAGE_HOOK_URL must start with https://, or be on this machine: messages contain mobile numbers and links',
    );
  }
  return hook;
}

function readAlertEmail(env: Env) {
  const server = readUrl(env, 'SMTP_URL', ['smtp:', 'smtps:']);
  const to = readMailAddresses(env, 'ALERT_EMAIL');
  if (server === undefined && to.length === 0) return undefined;
  if (server === undefined) throw new SettingsError('SMTP_URL is missing: ALERT_EMAIL requires it');
  const from = new URL(server).searchParams.get('from') ?? to[0];
  if (from === undefined) throw new SettingsError('ALERT_EMAIL is missing: SMTP_URL requires it');
  if (!MAIL_ADDRESS.test(from)) throw new SettingsError('SMTP_URL: its "from" must be a mail address');
  return { url: server, from, to };
}

function readSingleSignOn(env: Env): SingleSignOnSettings | undefined {
  const issuer = readUrl(env, 'OIDC_ISSUER', ['http:', 'https:']);
  const clientId = readText(env, 'OIDC_CLIENT_ID');
  const clientSecret = readText(env, 'OIDC_CLIENT_SECRET');
  const acrValues = readText(env, 'OIDC_ACR_VALUES')?.split(/\s+/) ?? [];
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    throw new SettingsError('OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together');
  }
  return { issuer, clientId, clientSecret, name: new URL(issuer).hostname, acrValues };
}

const MAIL_ADDRESS = /^[^\s@<>,"]+@[^\s@<>,"]+$/;

function readMailAddresses(env: Env, name: string): string[] {
  const values = readList(env, name);
  const wrong = values.find((value) => !MAIL_ADDRESS.test(value));
  if (wrong !== undefined)
    throw new SettingsError(`${name} must be mail addresses separated by commas, but contains "${wrong}"`);
  return values;
}

/** The name of the credential in systemd's LoadCredential. */
const CREDENTIAL = 'master-key';

/**
 * `isFirst` is true if the first key is the current master key. It is false if a key service has the current one: then
 * all keys in the settings are previous keys.
 */
function readMasterKeys(env: Env, hasKeyService: boolean) {
  const current = readText(env, 'MASTER_KEY');
  const credentials = readText(env, 'CREDENTIALS_DIRECTORY');
  const credential = credentials === undefined ? undefined : path.join(credentials, CREDENTIAL);
  const file = readText(env, 'MASTER_KEY_FILE') ?? (credential && existsSync(credential) ? credential : undefined);
  if (current !== undefined && file !== undefined) {
    throw new SettingsError(`MASTER_KEY and MASTER_KEY_FILE (${file}) exclude each other`);
  }
  const previous = readList(env, 'MASTER_KEY_PREVIOUS').map((value) => decodeMasterKey('MASTER_KEY_PREVIOUS', value));
  if (file !== undefined) return { masterKeys: [...readMasterKeyFile(file), ...previous], isFirst: true };
  if (current !== undefined)
    return { masterKeys: [decodeMasterKey('MASTER_KEY', current), ...previous], isFirst: true };
  if (hasKeyService) return { masterKeys: previous, isFirst: false };
  if (previous.length > 0) throw new SettingsError('MASTER_KEY_PREVIOUS requires MASTER_KEY');
  return { masterKeys: undefined, isFirst: true };
}

/** Reads the current master key from the first line, and previous master keys from the other lines. */
function readMasterKeyFile(file: string): Uint8Array[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`MASTER_KEY_FILE cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return text
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

/** Returns true for an https URL, and for an http URL of this machine. */
const isHttpsOrHere = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname));

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
  return { kind: 'vault', url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), keyName, tokenFile };
}

/** Reads the settings of calls to bridges and suppliers, and checks their files. */
export function readPeers(env: Env): PeerSettings {
  const certFile = readText(env, 'PEER_TLS_CERT_FILE');
  const keyFile = readText(env, 'PEER_TLS_KEY_FILE');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new SettingsError('PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE must be set together');
  }
  const peers = { certFile, keyFile, caFile: readText(env, 'PEER_TLS_CA_FILE'), proxy: readProxy(env) };
  readPeerFiles(peers);
  return peers;
}

/** Reads the certificates and the key. Throws SettingsError, which never quotes a file, if they cannot be used. */
export function readPeerFiles({ certFile, keyFile, caFile }: PeerSettings) {
  const ca = caFile === undefined ? undefined : readPem('PEER_TLS_CA_FILE', caFile, parseCertificates).text;
  if (certFile === undefined || keyFile === undefined) return { ca };
  const cert = readPem('PEER_TLS_CERT_FILE', certFile, parseCertificates);
  const key = readPem('PEER_TLS_KEY_FILE', keyFile, createPrivateKey);
  if (!cert.parsed[0]?.checkPrivateKey(key.parsed)) {
    throw new SettingsError(`PEER_TLS_KEY_FILE ${keyFile} is not the key of the first certificate in ${certFile}`);
  }
  return { ca, cert: cert.text, key: key.text };
}

function readPem<T>(
  name: string,
  file: string,
  parse: (text: string) => T,
): { readonly text: string; readonly parsed: T } {
  const read = (): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw new SettingsError(`${name} cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  };
  const text = read();
  try {
    return { text, parsed: parse(text) };
  } catch {
    throw new SettingsError(`${name} ${file} must be in PEM: certificates, or a key without a passphrase`);
  }
}

/** Parses each certificate, because TLS would ignore an unreadable certificate that follows the first one. */
function parseCertificates(text: string): X509Certificate[] {
  const parts = text.split(/(?=-----BEGIN )/).filter((part) => part.startsWith('-----BEGIN CERTIFICATE-----'));
  if (parts.length === 0) throw new SettingsError('there is no certificate');
  return parts.map((part) => new X509Certificate(part));
}

/** Reads the proxy's URL. The returned URL has no user and password, so that it may be logged. */
function readProxy(env: Env): PeerSettings['proxy'] {
  const value = readUrl(env, 'PEER_PROXY_URL', ['http:', 'https:']);
  if (value === undefined) return undefined;
  const url = new URL(value);
  const { username, password, pathname, search, hash } = url;
  if (`${pathname}${search}${hash}` !== '/') {
    throw new SettingsError('PEER_PROXY_URL must be a URL without a path, a query or a fragment');
  }
  try {
    const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const authorization = `${username}${password}` === '' ? undefined : `Basic ${user.toString('base64')}`;
    return { url: new URL(url.origin), authorization };
  } catch {
    throw new SettingsError('PEER_PROXY_URL: a % in its user or password must be written as %25');
  }
}
