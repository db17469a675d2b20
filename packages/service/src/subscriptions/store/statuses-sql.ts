import type { AgreementStatus, OrderStatus, PaymentStatus } from '@perennial/wire';

export const statusLiteral = (status: OrderStatus | PaymentStatus | AgreementStatus): string => `'${status}'`;

/** SQL: conditions on a status column. The compiler checks the statuses. */
export const orderStatusIs = (column: string, ...statuses: readonly OrderStatus[]): string => isOneOf(column, statuses);
export const paymentStatusIs = (column: string, ...statuses: readonly PaymentStatus[]): string =>
  isOneOf(column, statuses);
export const agreementStatusIs = (column: string, ...statuses: readonly AgreementStatus[]): string =>
  isOneOf(column, statuses);

function isOneOf(column: string, statuses: readonly string[]): string {
  const words = statuses.map((status) => `'${status}'`);
  return words.length === 1 ? `${column} = ${words[0]}` : `${column} in (${words.join(', ')})`;
}
