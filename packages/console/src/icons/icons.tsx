import type { ReactNode, SVGProps } from 'react';

/** Drawn here, on a field of 20 with a stroke of 1.5: a library of icons has thousands of them. */
function icon(content: ReactNode) {
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
        {content}
      </svg>
    );
  };
}

export type IconComponent = ReturnType<typeof icon>;

export const AlertIcon = icon(
  <>
    <path d="M10 3.2 17.3 16.2H2.7Z" />
    <path d="M10 8v3.6M10 13.9v.1" />
  </>,
);
export const ArrowDownIcon = icon(<path d="M10 4v12M5.5 11.5 10 16l4.5-4.5" />);
export const ArrowUpIcon = icon(<path d="M10 16V4M5.5 8.5 10 4l4.5 4.5" />);
export const AuditIcon = icon(
  <>
    <path d="M5 2.75h7l3.25 3.25v11.25H5Z" />
    <path d="M7.75 9h4.5M7.75 12h4.5" />
  </>,
);
export const BenefitIcon = icon(
  <>
    <path d="M3.25 8.25h13.5v3H3.25ZM4.5 11.25v5.5h11v-5.5M10 8.25v8.5" />
    <path d="M10 8.25C6.5 8.25 5.5 3 8 3c1.5 0 2 3 2 5.25C10 6 10.5 3 12 3c2.5 0 1.5 5.25-2 5.25Z" />
  </>,
);
export const BooksIcon = icon(
  <>
    <path d="M10 5c-2-1.4-4.5-1.6-7-1.25v11.5c2.5-.35 5-.15 7 1.25 2-1.4 4.5-1.6 7-1.25V3.75C14.5 3.4 12 3.6 10 5Z" />
    <path d="M10 5v11.5" />
  </>,
);
export const BulkIcon = icon(
  <>
    <path d="M10 3 17 6.5 10 10 3 6.5Z" />
    <path d="m3 10 7 3.5 7-3.5M3 13.5 10 17l7-3.5" />
  </>,
);
export const CheckIcon = icon(<path d="m4 10.5 4 4 8-9" />);
export const ChevronDownIcon = icon(<path d="m5.5 8 4.5 4.5L14.5 8" />);
export const ChevronRightIcon = icon(<path d="m8 5.5 4.5 4.5L8 14.5" />);
export const ChannelIcon = icon(
  <>
    <circle cx="10" cy="10" r="2" />
    <path d="M6.1 6.1a5.5 5.5 0 0 0 0 7.8M13.9 6.1a5.5 5.5 0 0 1 0 7.8M3.6 3.6a9 9 0 0 0 0 12.8M16.4 3.6a9 9 0 0 1 0 12.8" />
  </>,
);
export const ClockIcon = icon(
  <>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 6v4l2.75 1.75" />
  </>,
);
export const CloseIcon = icon(<path d="m5 5 10 10M15 5 5 15" />);
export const CopyIcon = icon(
  <>
    <rect x="7" y="7" width="9.5" height="9.5" rx="1.5" />
    <path d="M13 7V4.75c0-.7-.55-1.25-1.25-1.25h-7c-.7 0-1.25.55-1.25 1.25v7c0 .7.55 1.25 1.25 1.25H7" />
  </>,
);
export const DownloadIcon = icon(<path d="M10 3v9.5M6 8.75l4 4 4-4M3.5 16.5h13" />);
export const EventIcon = icon(<path d="M17 3 9 11M17 3l-5 14-3-6-6-3Z" />);
export const FailedIcon = icon(
  <>
    <rect x="2.5" y="4.5" width="15" height="11" rx="1.5" />
    <path d="M2.5 8h15M8 11l3 2.5M11 11l-3 2.5" />
  </>,
);
export const FilterIcon = icon(<path d="M3 5.5h14M5.5 10h9M8 14.5h4" />);
export const InboxIcon = icon(
  <>
    <path d="M3 11 5.25 4h9.5L17 11v5H3Z" />
    <path d="M3 11h4l1 2h4l1-2h4" />
  </>,
);
export const PictureIcon = icon(
  <>
    <rect x="3" y="4" width="14" height="12" rx="1.5" />
    <path d="m3.5 14 4-4 3 3 2-2 4 4M12.5 7.5h.01" />
  </>,
);
export const KeyIcon = icon(
  <>
    <circle cx="7" cy="13" r="3.75" />
    <path d="m9.7 10.3 6.8-6.8M13.5 6.5l2 2" />
  </>,
);
export const LanguageIcon = icon(
  <path d="M2.75 5h8.5M7 3v2M9.5 5c-.75 3.5-3 6-6 7.25M4.75 7.5c1 2 2.75 3.5 5 4.5M9.5 17.25 13.25 8.5 17 17.25M10.75 14.5h5" />,
);
export const LockIcon = icon(
  <>
    <rect x="4" y="9" width="12" height="8" rx="1.5" />
    <path d="M6.75 9V6.5a3.25 3.25 0 0 1 6.5 0V9" />
  </>,
);
export const MenuIcon = icon(<path d="M3 5.5h14M3 10h14M3 14.5h14" />);
export const MoonIcon = icon(<path d="M16.5 11.5A7 7 0 0 1 8.5 3.5a7 7 0 1 0 8 8Z" />);
export const MoreIcon = icon(<path d="M4.5 10h.01M10 10h.01M15.5 10h.01" strokeWidth="2.5" />);
export const OrderIcon = icon(
  <>
    <path d="M4 2.75h12v14.5l-2-1.25-2 1.25-2-1.25-2 1.25-2-1.25-2 1.25Z" />
    <path d="M7 7h6M7 10.5h6" />
  </>,
);
export const OverviewIcon = icon(<path d="M3.5 16.5v-5M8 16.5v-9M12.5 16.5v-6.5M17 16.5v-13" />);
export const PeopleIcon = icon(
  <>
    <circle cx="7.5" cy="7" r="2.75" />
    <path d="M2.25 16.5c.4-3 2.5-4.75 5.25-4.75s4.85 1.75 5.25 4.75M13 4.5a2.75 2.75 0 0 1 0 5M15 12.25c1.5.6 2.5 2 2.75 4.25" />
  </>,
);
export const PlusIcon = icon(<path d="M10 4v12M4 10h12" />);
export const ProductIcon = icon(
  <>
    <path d="M10 2.75 16.5 6.25v7.5L10 17.25 3.5 13.75v-7.5Z" />
    <path d="m3.5 6.25 6.5 3.5 6.5-3.5M10 9.75v7.5" />
  </>,
);
export const ReconciliationIcon = icon(<path d="M4 7h12M12.5 3.5 16 7l-3.5 3.5M16 13H4M7.5 9.5 4 13l3.5 3.5" />);
export const UploadIcon = icon(<path d="M10 12.5V3M6 6.75l4-4 4 4M3.5 16.5h13" />);
export const RequestIcon = icon(<path d="m6 6-4 4 4 4M14 6l4 4-4 4M11.5 4l-3 12" />);
export const RefreshIcon = icon(<path d="M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 3v3.5H13" />);
export const SearchIcon = icon(
  <>
    <circle cx="9" cy="9" r="5.5" />
    <path d="m13 13 4 4" />
  </>,
);
export const ApprovalIcon = icon(
  <>
    <path d="M10 2.75 16.25 5v5c0 3.75-2.5 6.25-6.25 7.5C6.25 16.25 3.75 13.75 3.75 10V5Z" />
    <path d="m7.25 10 2 2 3.75-4" />
  </>,
);
export const SignOutIcon = icon(<path d="M8 3.5H4.5v13H8M12.5 6.5 16 10l-3.5 3.5M16 10H8" />);
export const SunIcon = icon(
  <>
    <circle cx="10" cy="10" r="3.5" />
    <path d="M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.35 4.35l1.05 1.05M14.6 14.6l1.05 1.05M15.65 4.35 14.6 5.4M5.4 14.6l-1.05 1.05" />
  </>,
);
export const AutoSchemeIcon = icon(
  <>
    <circle cx="10" cy="10" r="6.75" />
    <path d="M10 3.25v13.5a6.75 6.75 0 0 0 0-13.5Z" fill="currentColor" />
  </>,
);
export const UserIcon = icon(
  <>
    <circle cx="10" cy="7" r="3" />
    <path d="M4 17c.5-3.5 2.75-5.25 6-5.25S15.5 13.5 16 17" />
  </>,
);
export const WalletIcon = icon(
  <>
    <path d="M3 6.25c0-1 .75-1.75 1.75-1.75H15v3h2v9H4.75C3.75 16.5 3 15.75 3 14.75Z" />
    <path d="M3 6.25c0 .7.55 1.25 1.25 1.25H15M13.5 12h.1" />
  </>,
);

/** The mark: a shoot that comes again each year. */
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
