import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { useCommonTexts } from '../i18n/common.ts';

/** The colour of buttons and links. Named after the flower. */
const iris: MantineColorsTuple = [
  '#f2f2fd',
  '#e6e5fb',
  '#cccaf6',
  '#b0adf0',
  '#9692ea',
  '#7a75e3',
  '#5a55d2',
  '#4b46bd',
  '#3e3aa0',
  '#302d80',
];
const gray: MantineColorsTuple = [
  '#f8f9fb',
  '#f1f3f6',
  '#e5e8ee',
  '#d5dae2',
  '#b3bbc8',
  '#8791a3',
  '#5f6a7d',
  '#465063',
  '#2f3849',
  '#1a2130',
];
const dark: MantineColorsTuple = [
  '#e7eaf0',
  '#bcc3cf',
  '#9aa3b3',
  '#6c7587',
  '#353b49',
  '#282d39',
  '#1d212b',
  '#15181f',
  '#0f1217',
  '#0a0c10',
];
const red: MantineColorsTuple = [
  '#fef2f3',
  '#fde3e5',
  '#fac7cc',
  '#f59fa8',
  '#ee7380',
  '#e24b5c',
  '#c92f43',
  '#ad2236',
  '#8f1d2f',
  '#771b2b',
];
const green: MantineColorsTuple = [
  '#eefaf3',
  '#d8f3e3',
  '#b2e6c9',
  '#80d3a7',
  '#4dba83',
  '#2a9d68',
  '#177f52',
  '#116643',
  '#105138',
  '#0e432f',
];
const amber: MantineColorsTuple = [
  '#fff8eb',
  '#feeecb',
  '#fddc92',
  '#fbc458',
  '#f6ab2f',
  '#e28b16',
  '#b8690d',
  '#934f0f',
  '#783f13',
  '#653514',
];

/** Sets Mantine's text, background and line colours to the variables of global.css. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const ours = {
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-body': 'var(--page)',
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': 'var(--quiet)',
    '--mantine-color-anchor': 'var(--link)',
    '--mantine-color-default': 'var(--page)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-hover': 'var(--hover)',
    '--mantine-color-default-border': 'var(--line-strong)',
    '--mantine-color-error': 'var(--negative)',
  };
  return { variables: {}, light: ours, dark: ours };
};

/** Removes the role of a dialog's header element, because screen readers would announce it as a second page header. */
const NO_BANNER = { header: { role: 'presentation' } };
const DIALOG_STYLES = {
  title: { fontSize: '1.0625rem', fontWeight: 600, lineHeight: 1.35, overflowWrap: 'anywhere' },
  header: { paddingBottom: 12 },
} as const;

/** The theme. It uses system fonts, and the same line height for both languages. */
export const theme = createTheme({
  colors: { iris, gray, dark, red, green, amber, yellow: amber },
  primaryColor: 'iris',
  primaryShade: { light: 6, dark: 6 },
  fontFamily:
    'system-ui, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.35', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  spacing: { xs: '0.375rem', sm: '0.625rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  defaultRadius: 'sm',
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Plain objects: `Select.extend` would load the code of every component before the first page.
  components: {
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    Select: {
      defaultProps: { size: 'sm', allowDeselect: false, checkIconPosition: 'right' },
    },
    List: { defaultProps: { listStyleType: 'disc' } },
    // A name for screen readers on every close button: of dialogs, sheets, messages and fields.
    CloseButton: { defaultProps: () => ({ 'aria-label': useCommonTexts.now()('close') }) },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Modal: {
      defaultProps: {
        centered: true,
        radius: 'lg',
        padding: 'lg',
        overlayProps: { backgroundOpacity: 0.4 },
        attributes: NO_BANNER,
      },
      styles: DIALOG_STYLES,
    },
    Drawer: {
      defaultProps: { overlayProps: { backgroundOpacity: 0.4 }, attributes: NO_BANNER },
      styles: DIALOG_STYLES,
    },
    Menu: {
      // Omits Mantine's focus placeholder, an unlabelled element before the first item, so that the first item gets the
      // focus.
      defaultProps: {
        shadow: 'md',
        radius: 'md',
        transitionProps: { duration: 80 },
        withInitialFocusPlaceholder: false,
      },
    },
    Tooltip: { defaultProps: { openDelay: 200, transitionProps: { duration: 80 } } },
  },
});
