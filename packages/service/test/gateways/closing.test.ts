import { expect, it, onTestFinished } from 'vitest';
import { createGatewayRegistry, type Gateways } from '../../src/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { testService } from '../support/service.js';
import { addBank } from './support.js';

it('gateways close although one of them fails to open at that moment', async () => {
  const service = await testService();
  onTestFinished(() => service.close());
  await addBank(service, 'BANK');
  const { database } = service.fresh;
  let closing: Promise<void> | undefined;
  const gateways: Gateways = createGatewayRegistry(
    { database, vault: service.vault, environment: 'sandbox' },
    {
      sandbox: () => createSandboxGateway(service.clock),
      bridge: () => {
        closing = gateways.close?.();
        throw new Error('cannot open');
      },
    },
  );
  await expect(gateways.of('BANK')).rejects.toThrow('cannot open');
  await expect(closing).resolves.toBeUndefined();
});
