import type { Static } from '@perennial/wire';
import {
  deletePresentation,
  findPresentation,
  type PresentationRow,
  storePresentation,
} from '../../catalog/products/presentations-sql.js';
import { lockBenefitCode } from '../../fulfilment/fulfilment-settings-sql.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, refusal } from '../operator.js';
import { requireCode, requireShownText } from '../rules.js';
import type { presentationChange } from '../schemas/setup.js';
import { requireSellerUrl } from './addresses/seller-url.js';
import { requireBenefit } from './benefits.js';
import { type GivenPicture, LEFT_OUT, readGivenPicture, replacePicture } from './pictures.js';
import { describeChange, readTexts } from './seller-values.js';

export type ChangedPresentation = Awaited<ReturnType<typeof setPresentation>>;

/** Parts of the presentation to change. Unset parts stay unchanged, null removes a part. The icon is a PNG or SVG. */
export type SetPresentationInput = Omit<Static<typeof presentationChange>, 'icon'> & {
  readonly benefitCode: string;
  readonly icon?: GivenPicture;
};

const MAX_DESCRIPTION = 120;
const NOTHING: PresentationRow = {
  iconHash: null,
  nameZh: null,
  nameEn: null,
  descriptionZh: null,
  descriptionEn: null,
  useUrl: null,
};

/** Stores a benefit's presentation. Every node uses it for the next page that it shows. */
export async function setPresentation(
  operator: Operator,
  { benefitCode: subject, icon, ...input }: SetPresentationInput,
) {
  requireCode('the benefit code', subject);
  const texts = readTexts(readersFor(operator), input);
  const picture = readGivenPicture(icon);
  if (picture === undefined && Object.keys(texts).length === 0) {
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  }
  return inTransaction(operator, async (tx) => {
    await lockBenefitCode(tx, subject);
    await requireBenefit(tx, subject);
    const former = (await findPresentation(tx, subject)) ?? NOTHING;
    const detail = await replacePicture(tx, former.iconHash, picture, async (iconHash) => {
      const to = { ...former, ...texts, iconHash };
      const isNothing = Object.values(to).every((value) => value === null);
      if (isNothing) await deletePresentation(tx, subject);
      else await storePresentation(tx, subject, to);
      return describeChange(former, to);
    });
    if (detail) {
      await recordAudit(tx, { actor: operator.actor, action: 'benefit.set-presentation', subject, detail });
    }
    return { ...(await requireBenefit(tx, subject)), changed: detail !== undefined, leftOut: LEFT_OUT };
  });
}

const readersFor = ({ environment }: Operator) => ({
  nameZh: (text: string) => requireShownText('the Chinese name', text, MAX_DESCRIPTION),
  nameEn: (text: string) => requireShownText('the English name', text, MAX_DESCRIPTION),
  descriptionZh: (text: string) => requireShownText('the Chinese description', text, MAX_DESCRIPTION),
  descriptionEn: (text: string) => requireShownText('the English description', text, MAX_DESCRIPTION),
  useUrl: (text: string) => requireSellerUrl('the address where codes are used', text, environment),
});
