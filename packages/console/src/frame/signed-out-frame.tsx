import { Container, Group, Paper, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Mark } from '../icons/icons.tsx';
import { LanguageButton, SchemeMenu } from './display-menus.tsx';

interface SignedOutFrameProps {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly children: ReactNode;
}

/** The frame around a page for visitors who are not signed in. */
export function SignedOutFrame({ title, badge, children }: SignedOutFrameProps) {
  useDocumentTitle(`${title} · Perennial`);
  return (
    <Stack gap={0} mih="100dvh" bg="var(--ground)">
      <Group component="header" gap={4} align="stretch" justify="flex-end" wrap="nowrap" py={10} px={14}>
        <LanguageButton />
        <SchemeMenu />
      </Group>
      <Container component="main" size={408} w="100%" mt="min(9vh, 84px)" pb={48}>
        <Group gap={10} mb={20} fz="1.0625rem" fw={600}>
          <Mark size={30} />
          <span>Perennial</span>
          {badge}
        </Group>
        <Paper withBorder radius="lg" shadow="sm" px={{ base: 18, xs: 28 }} py={{ base: 22, xs: 28 }}>
          <Title fz="1.25rem" mb={18}>
            {title}
          </Title>
          {children}
        </Paper>
      </Container>
    </Stack>
  );
}
