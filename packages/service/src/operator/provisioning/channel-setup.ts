import type { Static } from '@perennial/wire';
import type { Operator } from '../operator.js';
import { createNotFound } from '../rules.js';
import type { channelSetup } from '../schemas/health.js';
import { findChannelSetup } from './channel-setup-sql.js';

type Setup = Static<typeof channelSetup>;

/** Returns the steps from a new channel to its first order, with those that the data shows to be done. */
export async function readChannelSetup({ database }: Operator, { appId }: { readonly appId: string }): Promise<Setup> {
  const found = await findChannelSetup(database, appId);
  if (!found) throw createNotFound('channel', appId);
  const done = (isDone: boolean) => (isDone ? 'DONE' : 'OPEN');
  return {
    isLive: found.hasOrder,
    steps: [
      { step: 'credentials', state: done(found.hasCalled) },
      { step: 'product', state: done(found.hasProduct) },
      // A channel that collects the money itself needs no payment channel.
      {
        step: 'paymentChannel',
        state: found.hasProduct && !found.isDebited ? 'NOT_NEEDED' : done(found.hasPaymentChannel),
      },
      { step: 'callback', state: done(found.hasCallback && found.acceptedPush) },
      { step: 'branding', state: done(found.hasBranding) },
      { step: 'limits', state: done(found.hasLimits) },
      { step: 'order', state: done(found.hasOrder) },
    ],
  };
}
