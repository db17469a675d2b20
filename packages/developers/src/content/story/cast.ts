import type { EndpointName } from '@perennial/wire';

export interface Example {
  readonly endpoint: EndpointName;
  /** Unique within the endpoint. */
  readonly name: string;
  readonly summary: string;
  /** The request's content. Fields whose names end in Encrypted hold the plaintext here. */
  readonly request: Readonly<Record<string, unknown>>;
  /** `data` of the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Placeholder for the installation's public URL. The service replaces it when it serves a page. */
export const PUBLIC_URL = '__PUBLIC_URL__';

export const STORY_TIME = '2026-01-15 12:00:00';
/** Due times of a monthly order created at `STORY_TIME`. */
export const DUE = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-15 12:00:00`);

export const ALICE = 'user-alice';
export const BORIS = 'user-boris';
export const CHEN = 'user-chen';

export interface Order {
  readonly orderNo: string;
  readonly externalOrderNo: string;
  readonly channelUserId: string;
}
export const A1: Order = { orderNo: '100000001000', externalOrderNo: 'own-1001', channelUserId: ALICE };
export const A2: Order = { orderNo: '100000001001', externalOrderNo: 'own-1002', channelUserId: BORIS };
export const B: Order = { orderNo: '100000001002', externalOrderNo: 'own-1003', channelUserId: CHEN };

/** Alice's bound card. */
export const BINDING = { bindOrderNo: '200000000001', agreementNo: 'AG200000000001', card: '6222020000001234567' };
/**
 * Boris's shared agreement before its replacement. `agreementNo` is the service's number, `shared` is the institution's
 * number.
 */
export const SHARED = { agreementNo: 'AG200000000002', shared: 'SA-70021', card: '6222020000007654321' };
export const RENEWED = { agreementNo: 'AG200000000003', shared: 'SA-70022', card: '6222020000008888888' };

export const PAGE = { page: 1, size: 100, hasMore: false, nextCursor: null };

export const cardFields = (bankCardNo: string) => ({
  bankCardNoEncrypted: bankCardNo,
  certificateNoEncrypted: '110101199001011234',
  realNameEncrypted: '张三',
  bankMobileEncrypted: '13800000001',
});

export const sharedAgreement = ({ shared, card }: typeof SHARED) => ({
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: shared,
  ...cardFields(card),
  channelUserId: BORIS,
});
