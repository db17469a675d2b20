import { once } from 'node:events';
import type http from 'node:http';
import type net from 'node:net';
import { onTestFinished } from 'vitest';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { TestService } from '../support/service.js';

/** Starts a server and returns its port. The server is closed after the test. */
export async function listen(server: net.Server & Partial<Pick<http.Server, 'closeAllConnections'>>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as net.AddressInfo).port;
}

/** Creates a payment channel behind an unreachable bridge. Returns the key of its notices. */
export async function addBank({ operator }: TestService, code: string): Promise<Buffer> {
  const { gatewayKey } = await createPaymentChannel(operator, {
    code,
    gateway: 'bridge',
    gatewayUrl: 'http://127.0.0.1:9',
    displayName: 'Bank',
    supportedBanks: ['*'],
  });
  return Buffer.from(gatewayKey ?? '', 'base64');
}

/** Returns a bridge's notice about a paid debit. */
export const paidNotice = ({ clock }: TestService, more: object = {}) => ({
  kind: 'DEBIT',
  noticeNo: 'N-1',
  attemptNo: '100000000001000101',
  status: 'SUCCESS',
  amountCent: 1990,
  paidAt: clock.now(),
  institutionRef: 'R-1',
  ...more,
});
