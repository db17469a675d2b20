import { isIP } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseCurrency } from '@perennial/wire/currency';
import { MAX_CELL, readCellsFile } from './cells.js';
import { readListeners } from './settings/listeners.js';
import { readMasterKeys } from './settings/master-keys.js';
import { readPeers } from './settings/peers.js';
import { readAlertEmail, readMessageHook, readWebhook } from './settings/receivers.js';
import { readRoles, readSingleSignOn } from './settings/sign-in.js';
import {
  type Env,
  isHttpsOrHere,
  readChoice,
  readInteger,
  readListOf,
  readName,
  readPublicUrl,
  readText,
  readToken,
  readUrl,
  SettingsError,
} from './settings/values.js';

export type Environment = 'sandbox' | 'production';

export type Settings = Readonly<ReturnType<typeof readSettings>>;

export const DEFAULT_DATABASE_POOL = 16;

export const DEFAULT_EVENTS_RETENTION_DAYS = 180;
export const DEFAULT_PUSHES_PER_ADDRESS = 8;
export const DEFAULT_AGREEMENT_DATA_DAYS = 30;

export const DEFAULT_REDEEM_OPENS_PER_MINUTE = 600;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

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
  const isProduction = environment === 'production';
  const listeners = readListeners(env, isProduction);
  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:']);
  const masterKeys = readMasterKeys(env, isProduction);
  return {
    environment,
    /** The currency of every amount. Unset: the currency of the installation, or CNY for a new installation. */
    currency: readCurrency(env),
    /** The cell of this node. Unset: 0 for a node; a command accepts any. */
    cell: readInteger(env, 'CELL', undefined, 0, MAX_CELL),
    /** All cells of the installation, for commands over several cells, notices and the console. Empty: only this one. */
    cells: readCells(env),
    ...listeners,
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
    ...masterKeys,
    /** auto: a node migrates the schema when it starts. never: only the command `migrate` does. */
    migrate: readChoice(env, 'MIGRATE', ['auto', 'never'], isProduction ? 'never' : 'auto'),
    /** The time for which a stopping node still serves requests, so that load balancers notice that it stops. */
    drainSeconds: readInteger(env, 'DRAIN_SECONDS', isProduction ? 5 : 0, 0, 300),
    metricsToken: readToken(env, 'METRICS_TOKEN'),
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    /** The format of log lines. Unset: pretty on a terminal, otherwise JSON. */
    logFormat: readChoice(env, 'LOG_FORMAT', LOG_FORMATS, undefined),
    /** Name of this node in the log. */
    nodeId: readName(env, 'NODE_ID') ?? `${os.hostname()}-${process.pid}`,
    /** Addresses of proxies whose X-Forwarded-For header is trusted. */
    trustedProxies: readListOf(env, 'TRUSTED_PROXIES', 'addresses or ranges such as 10.0.0.0/8', isAddressRange),
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

export const NO_DATABASE_URL = 'DATABASE_URL is required in production: the embedded database is for trials only';

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
    throw new SettingsError(NO_DATABASE_URL);
  }
  const { consolePort, consoleUrl } = settings;
  if (consoleUrl !== undefined && !isHttpsOrHere(new URL(consoleUrl))) {
    throw new SettingsError('CONSOLE_URL must start with https:// in production, or be on this machine');
  }
  const isOpen = (address: string) => address === '0.0.0.0' || address === '::';
  const metricsAddress = metricsPort === undefined ? host : metricsHost;
  return [
    settings.console === 'on' &&
      consolePort !== undefined &&
      consoleUrl === undefined &&
      `the console is on ${settings.consoleHost}:${consolePort} without CONSOLE_URL: operators can sign in only from this machine`,
    isOpen(host) &&
      trustedProxies.length === 0 &&
      'PORT listens on every address and TRUSTED_PROXIES is empty: all callers behind a proxy count as one address',
    isOpen(metricsAddress) &&
      metricsToken === undefined &&
      '/metrics listens on every address without METRICS_TOKEN: set it, or let only your own machines reach it',
  ].filter((warning) => warning !== false);
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

function isAddressRange(value: string): boolean {
  const [address = '', bits = '0', more] = value.split('/');
  const version = isIP(address);
  return version !== 0 && more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32);
}

const readCents = (env: Env, name: string, fallback: number) => readInteger(env, name, fallback, 0, 100_000_000_000);
