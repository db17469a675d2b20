import { SETUP_HOURS } from '../../operator/people/people.js';
import type { PersonView } from '../../operator/people/people-sql.js';
import { type SafeText, safeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';

export interface PersonWithLink extends PersonView {
  readonly setupLink?: string;
}

export function personText(one: PersonView): SafeText {
  return record([
    ['name', one.name],
    ['role', one.role],
    ['status', one.status],
    ['password', one.hasPassword ? 'set' : 'not set yet'],
    ['codes', one.hasTotp ? 'set up' : 'not set up'],
    ['locked until', one.lockedUntil ?? '-'],
    ['last sign-in', one.lastSignInAt ?? '-'],
    ['made by', one.createdBy],
  ]);
}

export function personWithLinkText({ setupLink, ...person }: PersonWithLink): SafeText {
  if (setupLink === undefined) return personText(person);
  return safeText`${personText(person)}\n\nLink to set the password, valid once and for ${SETUP_HOURS} hours:\n\n  ${setupLink}`;
}

export function peopleTable(people: readonly PersonView[]): SafeText {
  return table(
    ['NAME', 'ROLE', 'STATUS', 'PASSWORD', 'CODES', 'LAST SIGN-IN'],
    people.map(({ name, role, status, hasPassword, hasTotp, lastSignInAt }) => [
      name,
      role,
      status,
      hasPassword ? 'set' : 'not set yet',
      hasTotp ? 'set up' : '-',
      lastSignInAt ?? '-',
    ]),
  );
}
