/** The figures that are counted by hour and day for each channel, with their columns. */
export const FIGURE_COLUMNS = {
  ordersCreated: 'orders_created',
  ordersEnded: 'orders_ended',
  debitsPaid: 'debits_paid',
  debitsFailed: 'debits_failed',
  paidCent: 'paid_cent',
  /** The amount billed to channels that collect the money themselves. */
  billedCent: 'billed_cent',
  refunds: 'refunds',
  refundedCent: 'refunded_cent',
  renewalsDone: 'renewals_done',
  renewalsFailed: 'renewals_failed',
  pushesAccepted: 'pushes_accepted',
  pushesFailed: 'pushes_failed',
  claims: 'claims',
} as const;

export type FigureName = keyof typeof FIGURE_COLUMNS;
export type FigureColumn = (typeof FIGURE_COLUMNS)[FigureName];
export type Figures = Readonly<Record<FigureName, number>>;

export const FIGURE_NAMES = Object.keys(FIGURE_COLUMNS) as readonly FigureName[];

/** Returns an object with the same value for each figure. */
export const perFigure = <T>(value: T) =>
  Object.fromEntries(FIGURE_NAMES.map((name) => [name, value])) as Record<FigureName, T>;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Days begin at midnight of Asia/Shanghai, which is UTC+8. */
const ZONE_MS = 8 * HOUR_MS;

export const floorToHour = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS;
export const floorToDay = (at: number): number => Math.floor((at + ZONE_MS) / DAY_MS) * DAY_MS - ZONE_MS;

/**
 * Returns the start of the month in Asia/Shanghai that contains `at`, or of the month that is `months` months later.
 */
export function startOfMonth(at: number, months = 0): number {
  const local = new Date(at + ZONE_MS);
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + months, 1) - ZONE_MS;
}

/** The job mark that stores up to which time the figures are complete. */
export const FIGURES_JOB = 'figures';
/** The job mark that stores from which time on figures exist. Earlier events are not counted yet, or never will be. */
export const FIGURES_SINCE_JOB = 'figures-since';
