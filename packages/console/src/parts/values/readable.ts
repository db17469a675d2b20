import { moneyText } from './money.tsx';

/** Replaces fields in cents, at any depth, by amounts: `amountCent: 2990` by `amount: '¥29.90'`. */
export function toReadable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toReadable);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const [, amount] = /^(.*)Cent$/.exec(name) ?? [];
      return amount !== undefined && typeof field === 'number' ? [amount, moneyText(field)] : [name, toReadable(field)];
    }),
  );
}
