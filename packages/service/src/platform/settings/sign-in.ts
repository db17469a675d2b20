import { type Env, readListOf, readText, readUrl, SettingsError } from './values.js';

export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly name: string;
  /** Authentication methods, of which the provider must have used one. Empty: any method. */
  readonly acrValues: readonly string[];
}

export function readSingleSignOn(env: Env): SingleSignOnSettings | undefined {
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

const CONSOLE_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

type ConsoleRole = (typeof CONSOLE_ROLES)[number];

export function readRoles(env: Env, name: string, fallback: readonly ConsoleRole[]): readonly ConsoleRole[] {
  const allowed = [...CONSOLE_ROLES, 'none'];
  const kind = `a list of ${CONSOLE_ROLES.join(', ')}, or none`;
  const values = readListOf(env, name, kind, (value) => allowed.includes(value));
  return values.length === 0 ? fallback : CONSOLE_ROLES.filter((role) => values.includes(role));
}
