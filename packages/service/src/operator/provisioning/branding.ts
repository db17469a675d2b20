import { type BrandingRow, findBranding, storeBranding } from '../../catalog/channels/branding-sql.js';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import { type Changed, type Operator, refusal } from '../operator.js';
import { requireShownText } from '../rules.js';
import { requireSellerUrl } from './addresses/seller-url.js';
import { changeChannel } from './channel-change.js';
import { type GivenPicture, LEFT_OUT, readGivenPicture, replacePicture } from './pictures.js';
import { describeChange, readTexts, requireAccent, requireSupport } from './seller-values.js';

/** What users see of a channel. What is not given stays as it was, null removes it. */
export interface SetBrandingInput {
  readonly appId: string;
  readonly displayName?: string | null;
  /** The bytes of a PNG or SVG. */
  readonly logo?: GivenPicture;
  /** `#rgb` or `#rrggbb`. */
  readonly accent?: string | null;
  /** A phone number, an e-mail address or an https address. */
  readonly support?: string | null;
  readonly termsUrl?: string | null;
  readonly shopUrl?: string | null;
}

export type ChangedBranding = Changed<ChannelView> & {
  /** Always empty: pictures are stored as they were sent. */
  readonly leftOut: readonly string[];
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

export async function setBranding(
  operator: Operator,
  { appId, logo, ...input }: SetBrandingInput,
): Promise<ChangedBranding> {
  const texts = readTexts(readersFor(operator), input);
  const picture = readGivenPicture(logo);
  if (picture === undefined && Object.keys(texts).length === 0) {
    throw refusal('nothing-to-change')`nothing to change is given`;
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
