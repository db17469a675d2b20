import { Box, Stack } from '@mantine/core';
import type { Approval } from '../../api/order-types.ts';
import { Facts } from '../../parts/page.tsx';
import { useAuditFacts } from '../audit/audit-facts.ts';
import { useTexts } from './texts.ts';

/** The maximum number of entries shown. A replaced product has an entry for each of its channels. */
const MAX_SHOWN = 10;

type Changes = NonNullable<Approval['changes']>;

/**
 * Shows the audit entries of a change, with old and new values. A single entry has no heading, because the title of the
 * approval names it.
 */
export function ChangeList({ changes }: { readonly changes: Changes }) {
  const t = useTexts();
  const valuesOf = useAuditFacts();
  return (
    <Stack component="section" gap={12} aria-label={t('changes')}>
      <Box component="h2" fz="0.9375rem" fw={600}>
        {t('changes')}
      </Box>
      {changes.slice(0, MAX_SHOWN).map((change) => (
        <Stack key={`${change.action} ${change.subject}`} gap={6}>
          {changes.length > 1 ? (
            <p className="quiet small">{t(change.action as 'person.create', { subject: change.subject })}</p>
          ) : null}
          <Facts facts={valuesOf(change)} />
        </Stack>
      ))}
      {changes.length > MAX_SHOWN ? (
        <p className="quiet">{t('moreChanges', { count: changes.length - MAX_SHOWN })}</p>
      ) : null}
    </Stack>
  );
}

/** Returns the values of the change that an approval is named after, in one line. */
export function useChangeText(): (approval: Approval) => string {
  const valuesOf = useAuditFacts();
  return ({ changes, note }) => {
    const change = changes?.find(({ action }) => action === note);
    return change
      ? valuesOf(change)
          .map((fact) => fact.join(': '))
          .join(' · ')
      : '';
  };
}
