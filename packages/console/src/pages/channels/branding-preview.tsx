import { Badge, Button, Group, Image, Paper, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import { makeTones, type Theme } from '@perennial/service/tones';
import type { CSSProperties } from 'react';
import { useTexts } from './branding-texts.ts';

interface BrandingPreviewProps {
  readonly name: string;
  readonly support: string;
  readonly termsUrl: string;
  readonly shopUrl: string;
  readonly accent: string | undefined;
  /** The source of an image element. */
  readonly logo: string | undefined;
}

/**
 * The default colours of assets/redeem/page.css. A test checks that they are equal. A channel's accent replaces the
 * first eight colours.
 */
const OWN: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: {
    accent: '#0a6b4b',
    'accent-edge': '#0a6b4b',
    'on-accent': '#ffffff',
    'accent-ink': '#0a6b4b',
    'hero-from': '#0b5a41',
    'hero-to': '#0f7a57',
    'hero-line': '#609484',
    'on-hero': '#ffffff',
    ground: '#f3f5f4',
    ink: '#16201c',
  },
  dark: {
    accent: '#58cfa2',
    'accent-edge': '#58cfa2',
    'on-accent': '#04231a',
    'accent-ink': '#58cfa2',
    'hero-from': '#0b3f2f',
    'hero-to': '#0e5540',
    'hero-line': '#608278',
    'on-hero': '#ffffff',
    ground: '#0e1311',
    ink: '#edf3f0',
  },
};

const HERO = 'linear-gradient(45deg, var(--hero-from), var(--hero-to))';

/** Returns the colours by their variable names in the redemption page's style sheet. */
const toStyle = (accent: string | undefined, theme: Theme): CSSProperties => {
  const tones = { ...OWN[theme], ...(accent === undefined ? {} : makeTones(accent)[theme]) };
  return Object.fromEntries(Object.entries(tones).map(([tone, colour]) => [`--${tone}`, colour]));
};

/** Previews the top and the bottom of the redemption page in both themes. */
export function BrandingPreview(props: BrandingPreviewProps) {
  return (
    <SimpleGrid minColWidth={200} spacing={16}>
      <Screen theme="light" {...props} />
      <Screen theme="dark" {...props} />
    </SimpleGrid>
  );
}

function Screen({ theme, accent, ...brand }: BrandingPreviewProps & { readonly theme: Theme }) {
  const t = useTexts();
  const { name, logo, shopUrl, termsUrl } = brand;
  const support = brand.support.replace(/^https:\/\/([^/]+)(?:\/.*)?$/i, '$1');
  const filled = { bg: 'var(--accent)', c: 'var(--on-accent)', bd: '1px solid var(--accent-edge)' };
  return (
    <figure>
      <figcaption className="quiet small">{t(theme)}</figcaption>
      <Paper
        role="img"
        aria-label={t('previewOf', { name, theme: t(theme) })}
        style={toStyle(accent, theme)}
        bg="var(--ground)"
        c="var(--ink)"
        bd="1px solid var(--line-strong)"
        radius="lg"
        p={12}
      >
        <Group gap={8} wrap="nowrap">
          {logo ? (
            <Image src={logo} alt="" h={32} w="auto" maw={76} p={2} fit="contain" radius="md" bg="white" />
          ) : (
            <ThemeIcon size={32} radius="md" {...filled}>
              {([...name][0] ?? '').toUpperCase()}
            </ThemeIcon>
          )}
          <Text flex={1} fz="sm" fw={700} lineClamp={2}>
            {name}
          </Text>
          {shopUrl ? (
            <Text fz="sm" fw={600} c="var(--accent-ink)">
              ‹ {t('back')}
            </Text>
          ) : null}
        </Group>
        <Stack gap={6} align="flex-start" my={10} p={12} bdrs="lg" bg={HERO} c="var(--on-hero)">
          <Badge variant="transparent" size="sm" tt="none" c="inherit" bd="1px solid var(--hero-line)">
            {t('active')}
          </Badge>
          <strong>{t('product')}</strong>
        </Stack>
        <Group justify="space-between" mb={10} fz="sm">
          {t('benefit')}
          <Button component="span" size="compact-sm" radius="xl" {...filled}>
            {t('claim')}
          </Button>
        </Group>
        <Text fz="xs" ta="center" style={{ overflowWrap: 'anywhere' }}>
          {[t('soldBy', { name }), support, termsUrl ? t('terms') : ''].filter(Boolean).join(' · ')}
        </Text>
      </Paper>
    </figure>
  );
}
