import type { Static } from '@perennial/wire';
import { type BrandingRow, findBranding, storeBranding } from '../../catalog/channels/branding-sql.js';
import { type Operator, refusal } from '../operator.js';
import { requireShownText } from '../rules.js';
import type { brandingChange } from '../schemas/setup.js';
import { requireSellerUrl } from './addresses/seller-url.js';
import { changeChannel } from './channel-change.js';
import { type GivenPicture, LEFT_OUT, readGivenPicture, replacePicture } from './pictures.js';
import { describeChange, readTexts, requireAccent, requireSupport } from './seller-values.js';

export type ChangedBranding = Awaited<ReturnType<typeof setBranding>>;

/** Parts of the branding to change. Unset parts stay unchanged, null removes a part. The logo is a PNG or SVG. */
export type SetBrandingInput = Omit<Static<typeof brandingChange>, 'logo'> & {
  readonly appId: string;
  readonly logo?: GivenPicture;
};

const MAX_DISPLAY_NAME = 40;
const NOTHING: BrandingRow = {
  displayName: null,
  logoHash: null,
  accent: null,
  support: null,
  termsUrl: null,
  shopUrl: null,
};

export async function setBranding(operator: Operator, { appId, logo, ...input }: SetBrandingInput) {
  const texts = readTexts(readersFor(operator), input);
  const picture = readGivenPicture(logo);
  if (picture === undefined && Object.keys(texts).length === 0) {
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  }
  const channel = await changeChannel(operator, appId, 'channel.set-branding', async (tx, { channelId }) => {
    const former = (await findBranding(tx, channelId)) ?? NOTHING;
    return replacePicture(tx, former.logoHash, picture, async (logoHash) => {
      const to = { ...former, ...texts, logoHash };
      const detail = describeChange(former, to);
      if (detail) await storeBranding(tx, channelId, to);
      return detail;
    });
  });
  return { ...channel, leftOut: LEFT_OUT };
}

const readersFor = ({ environment }: Operator) => ({
  displayName: (text: string) => requireShownText('the display name', text, MAX_DISPLAY_NAME),
  accent: requireAccent,
  support: (text: string) => requireSupport(text, environment),
  termsUrl: (text: string) => requireSellerUrl('the address of the terms', text, environment),
  shopUrl: (text: string) => requireSellerUrl('the address of the shop', text, environment),
});
