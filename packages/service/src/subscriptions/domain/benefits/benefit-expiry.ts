export const BENEFIT_DAYS = 90;
const DAY_MS = 86_400_000;

export const benefitExpiresAt = (issuedAt: number): number => issuedAt + BENEFIT_DAYS * DAY_MS;
