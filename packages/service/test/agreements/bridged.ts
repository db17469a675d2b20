import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { cancelAtInstitutions } from '../../src/engine/recovery/cancellations.js';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../src/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { systemClock } from '../../src/platform/clock.js';
import type { ServiceDeps } from '../../src/service.js';
import { ledgerOf } from '../institution/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { demoChannel, encrypted, encryptedCard, mobileOf } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { testService } from '../support/service.js';

/**
 * Starts the service and the reference institution, which talk over real connections. Jobs run only when a test calls
 * them.
 */
export async function bridged(more: Partial<ServiceDeps> = {}) {
  const service = await testService({ clock: systemClock, ...more });
  service.clock.set(systemClock.now());
  const { operator, vault } = service;
  const { database } = service.fresh;
  const channel = await demoChannel(service);
  const port = await freePort();
  const { gatewayKey = '' } = await createPaymentChannel(operator, {
    code: 'BRIDGE',
    gateway: 'bridge',
    gatewayUrl: `http://127.0.0.1:${port}`,
    displayName: 'Bridge',
    supportedBanks: ['*'],
  });
  await authorizePaymentChannel(operator, { appId: channel.credentials.appId, code: 'BRIDGE', shareEnabled: true });
  const institution = await startInstitution({
    port,
    key: Buffer.from(gatewayKey, 'base64'),
    clock: systemClock,
    control: true,
    noticeUrl: `${service.baseUrl}/gateway/v1/notices/BRIDGE`,
    // The delay is so long that a pending debit gets its result only when a test sets it.
    delays: { settleMs: 3_600_000, lateNoticeMs: 50, noticeRetryMs: 20, longestNoticeRetryMs: 100 },
  });
  const gateways = createGatewayRegistry(
    { database, vault, environment: 'sandbox' },
    {
      sandbox: () => createSandboxGateway(systemClock),
      bridge: (url, key) => createBridgeGateway({ url, key, clock: systemClock }),
    },
  );
  const deps = {
    database,
    gateways,
    channels: createChannelRegistry(database, vault),
    log: pino({ level: 'silent' }),
  };
  return {
    service,
    channel,
    institution,
    /** Makes all waiting cancellations due, and runs once the job that sends them to the institution. */
    async cancelAgreements() {
      await database.query('update agreements set cancel_at = now() where cancel_at is not null');
      return cancelAtInstitutions(deps);
    },
    async close() {
      await gateways.close?.();
      await institution.stop();
      await service.close();
    },
  };
}

/** Returns a test card number. Its last digits select the institution's behaviour. */
export const cardOf = (tail: string): string => `622202000000${tail}`;

export interface Card {
  readonly channelUserId: string;
  readonly bankCardNo: string;
  readonly paymentChannelCode: string;
}

export const askForCode = (channel: ChannelClient, which: Card, more: object = {}) =>
  channel.call('agreements/bind-sms', {
    channelUserId: which.channelUserId,
    paymentChannelCode: which.paymentChannelCode,
    mobileEncrypted: encrypted(channel, mobileOf(which.channelUserId)),
    ...encryptedCard(channel, which.bankCardNo),
    ...more,
  });

export const confirm = (channel: ChannelClient, bindOrderNo: string, code = '123456') =>
  channel.call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted: encrypted(channel, code) });

/** Mode A.1: binds a card and returns its bindOrderNo. */
export async function bind(channel: ChannelClient, which: Card): Promise<string> {
  const sent = await askForCode(channel, which);
  expect(sent.code, sent.text).toBe('0');
  const bound = await confirm(channel, sent.data.bindOrderNo);
  expect(bound.data?.agreementStatus, bound.text).toBe('BIND_SUCCESS');
  return sent.data.bindOrderNo;
}

/** Returns the agreement numbers on which an order was debited, one per debit. */
export async function debitedOn(institution: ReferenceProgram, orderNo: string): Promise<string[]> {
  const { debits } = await ledgerOf(institution);
  return debits.filter(({ attemptNo }) => attemptNo.startsWith(orderNo)).map(({ institutionNo }) => institutionNo);
}
