import type { Static } from '@perennial/wire';
import { ANY_BANK } from '@perennial/wire/enums';
import {
  describePaymentChannels,
  findGatewayKey,
  GATEWAYS,
  type GatewayName,
  insertPaymentChannel,
  lockPaymentChannel,
  type PaymentChannelFields,
  type PaymentChannelView,
  raiseVersionsOfAuthorizedChannels,
  storeGatewayKey,
  storePaymentChannel,
} from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { findStoredKey, keyPlaces, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import { createKey } from '../../platform/secrets/vault.js';
import type { Environment } from '../../platform/settings.js';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator, refusal } from '../operator.js';
import {
  createNotFound,
  quoted,
  requireAtMost,
  requireCode,
  requireFound,
  requireInteger,
  requireName,
  requireOneOf,
  requireUnique,
} from '../rules.js';
import type { Asked } from '../schemas/parts.js';
import type { paymentChannelChange, paymentChannelRequest } from '../schemas/setup.js';
import { requirePeerUrl } from './addresses/peer-url.js';
import { describeChange } from './seller-values.js';

/**
 * The key with which the service and a bridge sign their messages, in base64. It is shown only once. As an input it is
 * the key that another cell has, because all cells use one bridge.
 */
export interface OneTimeGatewayKey {
  readonly gatewayKey?: string;
}

/**
 * Creates a payment channel. Defaults: no bank code is required, debits are not limited, and no two channels may use
 * the same agreement number.
 */
export async function createPaymentChannel(
  operator: Operator,
  {
    code: subject,
    gateway: asked,
    gatewayKey,
    ...given
  }: Asked<Static<typeof paymentChannelRequest>> & OneTimeGatewayKey,
): Promise<PaymentChannelView & OneTimeGatewayKey> {
  requireCode('the payment channel code', subject);
  const gateway = requireOneOf('the gateway', asked, GATEWAYS);
  if (gateway === 'sandbox' && operator.environment !== 'sandbox') {
    throw refusal(
      'sandbox-gateway-only',
    )`the sandbox gateway charges nobody and exists only in the sandbox environment`;
  }
  const blank = {
    gatewayUrl: null,
    bankCodeRequired: false,
    debitsPerSecond: null,
    debitHours: null,
    commonNumbers: false,
  };
  const fields = requireFields(operator.environment, gateway, { ...blank, ...given });
  const key = gateway === 'bridge' ? toKey(gatewayKey) : undefined;
  return inTransaction(operator, async (tx) => {
    if (!(await insertPaymentChannel(tx, subject, gateway, fields))) {
      throw refusal('payment-channel-exists')`there is already a payment channel ${quoted(subject)}`;
    }
    if (key) await storeGatewayKey(tx, subject, await wrapGatewayKey(tx, operator, subject, fields, key));
    const detail = { gateway, ...fields };
    await recordAudit(tx, { actor: operator.actor, action: 'payment-channel.create', subject, detail });
    return { ...(await requirePaymentChannelView(tx, subject)), ...toOneTimeKey(key) };
  });
}

/** Replaces the key of a bridge. The old key becomes invalid at once, for messages in both directions. */
export async function resetGatewayKey(
  operator: Operator,
  { code: subject, gatewayKey }: { readonly code: string } & OneTimeGatewayKey,
): Promise<PaymentChannelView & OneTimeGatewayKey> {
  const key = toKey(gatewayKey);
  return inTransaction(operator, async (tx) => {
    await requireLockedPaymentChannel(tx, subject, 'change');
    const view = await requirePaymentChannelView(tx, subject);
    if (view.gateway !== 'bridge') throw refusal('gateway-without-key')`the ${view.gateway} gateway has no key`;
    if ((await findFormerKey(tx, operator, subject, view)) === 'misplaced') {
      throw refusal(
        'address-not-set-here',
      )`the address of ${quoted(subject)} was changed in the database; set the right address first`;
    }
    await storeGatewayKey(tx, subject, await wrapGatewayKey(tx, operator, subject, view, key));
    // Names the address, so that the second admin sees where the new key will be used.
    const detail = { gatewayUrl: view.gatewayUrl };
    await recordAudit(tx, { actor: operator.actor, action: 'payment-channel.reset-key', subject, detail });
    return { ...view, ...toOneTimeKey(key) };
  });
}

type Addressed = Pick<PaymentChannelFields, 'gatewayUrl'>;

const bridgePlace = (code: string, { gatewayUrl }: Addressed) => keyPlaces.bridge(code, gatewayUrl ?? '');

function wrapGatewayKey(tx: Queryable, { vault }: Operator, code: string, to: Addressed, key: Uint8Array) {
  return wrapStoredKey(tx, vault, key, bridgePlace(code, to));
}

/** Returns the stored key, 'misplaced' if it belongs to none of the addresses, or undefined if there is no key. */
async function findFormerKey(tx: Queryable, { vault }: Operator, code: string, ...of: readonly Addressed[]) {
  const wrapped = await findGatewayKey(tx, code);
  if (wrapped == null) return undefined;
  const places = of.map((one) => bridgePlace(code, one));
  return (await findStoredKey(tx, vault, wrapped, places)) ?? 'misplaced';
}

/** Returns the key of the first cell for the others, or a new one. */
const toKey = (given: string | undefined): Uint8Array => (given ? Buffer.from(given, 'base64') : createKey());

function toOneTimeKey(key: Uint8Array | undefined): OneTimeGatewayKey {
  return key ? { gatewayKey: Buffer.from(key).toString('base64') } : {};
}

/** Changes the given fields. Nodes then reload the channels that are authorized for this payment channel. */
export async function updatePaymentChannel(
  operator: Operator,
  { code: subject, ...given }: Asked<Static<typeof paymentChannelChange>> & { readonly code: string },
): Promise<Changed<PaymentChannelView>> {
  if (Object.keys(given).length === 0)
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  return inTransaction(operator, async (tx) => {
    await requireLockedPaymentChannel(tx, subject, 'change');
    const former = await requirePaymentChannelView(tx, subject);
    const to = requireFields(operator.environment, former.gateway, { ...former, ...given });
    const detail = describeChange<PaymentChannelFields>(former, to);
    if (!detail) return { ...former, changed: false };
    if (to.gatewayUrl !== former.gatewayUrl) {
      // Removes a key that belongs to neither address: the database was changed, and the key may belong to another
      // bridge.
      const key = await findFormerKey(tx, operator, subject, former, to);
      const isKept = key !== undefined && key !== 'misplaced';
      await storeGatewayKey(tx, subject, isKept ? await wrapGatewayKey(tx, operator, subject, to, key) : null);
    }
    await storePaymentChannel(tx, subject, to);
    await raiseVersionsOfAuthorizedChannels(tx, subject);
    await recordAudit(tx, { actor: operator.actor, action: 'payment-channel.update', subject, detail });
    return { ...(await requirePaymentChannelView(tx, subject)), changed: true };
  });
}

export async function listPaymentChannels(operator: Operator): Promise<PaymentChannelView[]> {
  return describePaymentChannels(operator.database);
}

export async function requirePaymentChannelView(db: Queryable, code: string): Promise<PaymentChannelView> {
  return requireFound(await describePaymentChannels(db, code), 'payment channel', code);
}

/** Locks a payment channel, to change it (`change`) or to keep it unchanged during an authorization (`share`). */
export async function requireLockedPaymentChannel(tx: Queryable, code: string, strength: 'change' | 'share') {
  if (!(await lockPaymentChannel(tx, code, strength))) throw createNotFound('payment channel', code);
}

const MAX_BANKS = 1000;

function requireFields(
  environment: Environment,
  gateway: GatewayName,
  fields: PaymentChannelFields,
): PaymentChannelFields {
  const { debitsPerSecond, debitHours } = fields;
  return {
    displayName: requireName('the display name', fields.displayName),
    gatewayUrl: requireGatewayUrl(environment, gateway, fields.gatewayUrl),
    supportedBanks: requireBanks(fields.supportedBanks),
    bankCodeRequired: fields.bankCodeRequired,
    debitsPerSecond:
      debitsPerSecond === null ? null : requireInteger('debits per second', debitsPerSecond, 1, 1_000_000),
    debitHours: debitHours === null ? null : requireHours(debitHours),
    commonNumbers: fields.commonNumbers,
  };
}

function requireBanks(banks: readonly string[]): readonly string[] {
  requireAtMost('banks', banks, MAX_BANKS);
  if (banks.length === 0) throw refusal('banks-missing')`banks must be ${ANY_BANK} or a list of bank codes`;
  if (banks.length === 1 && banks[0] === ANY_BANK) return banks;
  if (banks.includes(ANY_BANK))
    throw refusal('banks-not-alone')`${ANY_BANK} already includes every bank; give it alone`;
  requireUnique('bank', banks);
  return banks.map((bank) => requireCode('a bank code', bank));
}

function requireHours({ from, to }: { readonly from: number; readonly to: number }): { from: number; to: number } {
  requireInteger('the first debit hour', from, 0, 23);
  requireInteger('the hour in which debits end', to, 1, 24);
  if (from === to) throw refusal('debit-hours-empty')`debit hours ${from}-${to} are empty`;
  return { from, to };
}

function requireGatewayUrl(environment: Environment, gateway: GatewayName, text: string | null): string | null {
  if (gateway !== 'bridge') {
    if (text !== null) throw refusal('gateway-without-address')`the ${gateway} gateway takes no address`;
    return null;
  }
  if (text === null) throw refusal('bridge-needs-address')`the bridge gateway needs an address`;
  return requirePeerUrl('the gateway address', text, environment);
}
