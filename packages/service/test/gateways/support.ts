import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import type { TestService } from '../support/service.js';

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
