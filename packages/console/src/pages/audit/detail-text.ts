import { moneyText } from '../../parts/values/money.tsx';

/** Returns an entry's detail as one line: a change as "before → after", other fields as names with values. */
export function detailText(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null)
    return detail === null || detail === undefined ? '' : String(detail);
  const { from, to, ...rest } = detail as Record<string, unknown>;
  const change = from === undefined && to === undefined ? [] : [`${valueText(from)} → ${valueText(to)}`];
  return [...change, ...Object.entries(rest).map(([name, value]) => fieldText(name, value))].join(' · ');
}

/** Returns a field with its value. Fields in cents are amounts: `amount: ¥29.90`. */
function fieldText(name: string, value: unknown): string {
  const [, amount] = /^(.*)Cent$/.exec(name) ?? [];
  return amount !== undefined && typeof value === 'number'
    ? `${amount}: ${moneyText(value)}`
    : `${name}: ${valueText(value)}`;
}

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
