import { mayDo } from '@perennial/service/roles';
import { Link, useLocation } from '@tanstack/react-router';
import { dictionary } from '../i18n/dictionary.ts';
import { Mark } from '../icons/icons.tsx';
import { useSession } from '../session/session.ts';
import { EnvironmentBadge } from './environment-badge.tsx';
import { MENU, useMenuTexts } from './menu.ts';
import styles from './sidebar.module.css';
import { WaitingCount } from './waiting-count.tsx';

const useTexts = dictionary({
  menu: ['Main menu', '主菜单'],
  zone: ['Times of Beijing, UTC+8', '北京时间 UTC+8'],
});

/** The menu: what the person's role may open, and nothing else. */
export function Sidebar({ onOpened }: { readonly onOpened?: () => void }) {
  const t = useTexts();
  const text = useMenuTexts();
  const { role, environment, version } = useSession();
  const { pathname } = useLocation();
  const isAt = (to: string) => (to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`));
  const groups = MENU.map((group) => ({ ...group, items: group.items.filter((item) => mayDo(role, item.role)) }));
  return (
    <div className={styles.sidebar}>
      <div className={styles.brand}>
        <Mark />
        <span className={styles.name}>Perennial</span>
        <EnvironmentBadge environment={environment} />
      </div>
      <nav className={styles.menu} aria-label={t('menu')}>
        {groups
          .filter(({ items }) => items.length > 0)
          .map(({ text: heading, items }) => (
            <div key={heading ?? 'first'} className={styles.group}>
              {heading ? <p className={styles.heading}>{text(heading)}</p> : null}
              <ul>
                {items.map(({ text: label, to, icon: Icon, also = [], waiting }) => (
                  <li key={label}>
                    <Link
                      to={to}
                      className={styles.item}
                      data-active={[to, ...also].some(isAt) || undefined}
                      aria-current={isAt(to) ? 'page' : undefined}
                      activeProps={{}}
                      {...(onOpened ? { onClick: onOpened } : {})}
                    >
                      <Icon size={17} />
                      {text(label)}
                      {waiting ? <WaitingCount of={waiting} /> : null}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
      </nav>
      <p className={styles.version}>
        {t('zone')} · {version}
      </p>
    </div>
  );
}
