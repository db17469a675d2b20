import type { ReactNode, SVGProps } from 'react';

/**
 * Creates an icon on a grid of 20 with a stroke of 1.5. Most icons need only one path. The console draws its own,
 * because an icon library would bring thousands.
 */
function icon(drawing: ReactNode) {
  return function Icon({ size = 18, ...props }: { readonly size?: number } & SVGProps<SVGSVGElement>) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 20 20"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        {...props}
      >
        {typeof drawing === 'string' ? <path d={drawing} /> : drawing}
      </svg>
    );
  };
}

export type IconComponent = ReturnType<typeof icon>;

export const AlertIcon = icon('M10 3.2 17.3 16.2H2.7ZM10 8v3.6M10 13.9v.1');
export const AuditIcon = icon('M5 2.75h7l3.25 3.25v11.25H5ZM7.75 9h4.5M7.75 12h4.5');
export const BenefitIcon = icon(
  'M3.25 8.25h13.5v3H3.25ZM4.5 11.25v5.5h11v-5.5M10 8.25v8.5M10 8.25C6.5 8.25 5.5 3 8 3c1.5 0 2 3 2 5.25C10 6 10.5 3 12 3c2.5 0 1.5 5.25-2 5.25Z',
);
export const BooksIcon = icon(
  'M10 5c-2-1.4-4.5-1.6-7-1.25v11.5c2.5-.35 5-.15 7 1.25 2-1.4 4.5-1.6 7-1.25V3.75C14.5 3.4 12 3.6 10 5ZM10 5v11.5',
);
export const BulkIcon = icon('M10 3 17 6.5 10 10 3 6.5ZM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5');
export const CheckIcon = icon('M4 10.5l4 4 8-9');
export const ChevronDownIcon = icon('M5.5 8l4.5 4.5L14.5 8');
export const ChevronRightIcon = icon('M8 5.5l4.5 4.5L8 14.5');
export const ChannelIcon = icon(
  'M8 10a2 2 0 1 0 4 0 2 2 0 1 0-4 0M6.1 6.1a5.5 5.5 0 0 0 0 7.8M13.9 6.1a5.5 5.5 0 0 1 0 7.8M3.6 3.6a9 9 0 0 0 0 12.8M16.4 3.6a9 9 0 0 1 0 12.8',
);
export const ClockIcon = icon('M3 10a7 7 0 1 0 14 0 7 7 0 1 0-14 0M10 6v4l2.75 1.75');
export const CloseIcon = icon('M5 5l10 10M15 5 5 15');
export const CopyIcon = icon(
  'M8.5 7h6.5a1.5 1.5 0 0 1 1.5 1.5v6.5a1.5 1.5 0 0 1-1.5 1.5h-6.5a1.5 1.5 0 0 1-1.5-1.5v-6.5a1.5 1.5 0 0 1 1.5-1.5M13 7V4.75c0-.7-.55-1.25-1.25-1.25h-7c-.7 0-1.25.55-1.25 1.25v7c0 .7.55 1.25 1.25 1.25H7',
);
export const DownloadIcon = icon('M10 3v9.5M6 8.75l4 4 4-4M3.5 16.5h13');
export const EventIcon = icon('M17 3 9 11M17 3l-5 14-3-6-6-3Z');
export const FailedIcon = icon(
  'M4 4.5h12a1.5 1.5 0 0 1 1.5 1.5v8a1.5 1.5 0 0 1-1.5 1.5h-12a1.5 1.5 0 0 1-1.5-1.5v-8a1.5 1.5 0 0 1 1.5-1.5M2.5 8h15M8 11l3 2.5M11 11l-3 2.5',
);
export const FilterIcon = icon('M3 5.5h14M5.5 10h9M8 14.5h4');
export const HealthIcon = icon('M2.5 10.5h3.75l2-5.5 3.5 10 2-4.5h3.75');
export const InboxIcon = icon('M3 11 5.25 4h9.5L17 11v5H3ZM3 11h4l1 2h4l1-2h4');
export const PictureIcon = icon(
  'M4.5 4h11a1.5 1.5 0 0 1 1.5 1.5v9a1.5 1.5 0 0 1-1.5 1.5h-11a1.5 1.5 0 0 1-1.5-1.5v-9a1.5 1.5 0 0 1 1.5-1.5M3.5 14l4-4 3 3 2-2 4 4M12.5 7.5h.01',
);
export const KeyIcon = icon('M3.25 13a3.75 3.75 0 1 0 7.5 0 3.75 3.75 0 1 0-7.5 0M9.7 10.3l6.8-6.8M13.5 6.5l2 2');
export const LanguageIcon = icon(
  'M2.75 5h8.5M7 3v2M9.5 5c-.75 3.5-3 6-6 7.25M4.75 7.5c1 2 2.75 3.5 5 4.5M9.5 17.25 13.25 8.5 17 17.25M10.75 14.5h5',
);
export const LockIcon = icon(
  'M5.5 9h9a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5h-9a1.5 1.5 0 0 1-1.5-1.5v-5a1.5 1.5 0 0 1 1.5-1.5M6.75 9V6.5a3.25 3.25 0 0 1 6.5 0V9',
);
export const MenuIcon = icon('M3 5.5h14M3 10h14M3 14.5h14');
export const MoonIcon = icon('M16.5 11.5A7 7 0 0 1 8.5 3.5a7 7 0 1 0 8 8Z');
export const MoreIcon = icon(<path d="M4.5 10h.01M10 10h.01M15.5 10h.01" strokeWidth="2.5" />);
export const OrderIcon = icon('M4 2.75h12v14.5l-2-1.25-2 1.25-2-1.25-2 1.25-2-1.25-2 1.25ZM7 7h6M7 10.5h6');
export const OverviewIcon = icon('M3.5 16.5v-5M8 16.5v-9M12.5 16.5v-6.5M17 16.5v-13');
export const PeopleIcon = icon(
  'M4.75 7a2.75 2.75 0 1 0 5.5 0 2.75 2.75 0 1 0-5.5 0M2.25 16.5c.4-3 2.5-4.75 5.25-4.75s4.85 1.75 5.25 4.75M13 4.5a2.75 2.75 0 0 1 0 5M15 12.25c1.5.6 2.5 2 2.75 4.25',
);
export const PlusIcon = icon('M10 4v12M4 10h12');
export const ProductIcon = icon('M10 2.75 16.5 6.25v7.5L10 17.25 3.5 13.75v-7.5ZM3.5 6.25l6.5 3.5 6.5-3.5M10 9.75v7.5');
export const ReconciliationIcon = icon('M4 7h12M12.5 3.5 16 7l-3.5 3.5M16 13H4M7.5 9.5 4 13l3.5 3.5');
export const UploadIcon = icon('M10 12.5V3M6 6.75l4-4 4 4M3.5 16.5h13');
export const RequestIcon = icon('M6 6l-4 4 4 4M14 6l4 4-4 4M11.5 4l-3 12');
export const RefreshIcon = icon('M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 3v3.5H13');
export const SearchIcon = icon('M3.5 9a5.5 5.5 0 1 0 11 0 5.5 5.5 0 1 0-11 0M13 13l4 4');
export const ApprovalIcon = icon(
  'M10 2.75 16.25 5v5c0 3.75-2.5 6.25-6.25 7.5C6.25 16.25 3.75 13.75 3.75 10V5ZM7.25 10l2 2 3.75-4',
);
export const SignOutIcon = icon('M8 3.5H4.5v13H8M12.5 6.5 16 10l-3.5 3.5M16 10H8');
export const SunIcon = icon(
  'M6.5 10a3.5 3.5 0 1 0 7 0 3.5 3.5 0 1 0-7 0M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.35 4.35l1.05 1.05M14.6 14.6l1.05 1.05M15.65 4.35 14.6 5.4M5.4 14.6l-1.05 1.05',
);
export const AutoSchemeIcon = icon(
  <>
    <circle cx="10" cy="10" r="6.75" />
    <path d="M10 3.25v13.5a6.75 6.75 0 0 0 0-13.5Z" fill="currentColor" />
  </>,
);
export const UserIcon = icon('M7 7a3 3 0 1 0 6 0 3 3 0 1 0-6 0M4 17c.5-3.5 2.75-5.25 6-5.25S15.5 13.5 16 17');
export const WalletIcon = icon(
  'M3 6.25c0-1 .75-1.75 1.75-1.75H15v3h2v9H4.75C3.75 16.5 3 15.75 3 14.75ZM3 6.25c0 .7.55 1.25 1.25 1.25H15M13.5 12h.1',
);

/** The logo: the shoot of a perennial plant. */
export function Mark({ size = 26 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#5a55d2" />
      <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" strokeLinejoin="round">
        <path d="M16 25V13" />
        <path d="M16 17c0-5 3-8 8-8 0 5-3 8-8 8Z" />
        <path d="M16 21c0-4-2.5-6.5-7-6.5 0 4 2.5 6.5 7 6.5Z" />
      </g>
    </svg>
  );
}
