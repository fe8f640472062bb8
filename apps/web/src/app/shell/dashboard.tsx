import { ActionIcon } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  IconArrowUp,
  IconLayoutDashboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconMaximize,
  IconMinimize,
  IconSearch
} from '@tabler/icons-react'
import { type ReactNode, Suspense, lazy, useEffect, useRef, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { Boundary } from '../boundary.tsx'
import { loadWhenIdle } from '../load-screens.ts'
import { screens } from '../manifest.ts'
import { PageSkeleton } from '../page-skeleton.tsx'
import { PAGE } from '../page-focus.tsx'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { useLanguage } from '../../i18n/language.ts'
import { scrollMotion } from '../../kit/scroll-motion.ts'
import { openPalette } from '../../kit/palette.ts'
import { EmptyState } from '../../kit/states.tsx'
import { zoneText } from '../../kit/time.tsx'
import { useTitle } from '../../kit/use-title.ts'
import classes from './dashboard.module.css'
import { allowedOf, isAllowed, itemAt, menuOf } from './menu.ts'
import { SideMenu } from './side-menu.tsx'
import { useAddress } from '../../kit/use-address.ts'

/** The user's choice for the menu, with the window's width and the page it was made for. */
type Choice = { open: boolean; narrow: boolean; pathname: string }

/**
 * Whether the dashboard's menu and full view are open. Beside the page, the menu is open by default. In a narrow window
 * it covers the page: it is closed by default and closes on navigation. The address keeps both as `menu` and `full`.
 */
function useShellState(narrow: boolean) {
  const { query, change } = useAddress()
  const { pathname } = useLocation()
  const usual = !narrow
  const [choice, setChoice] = useState<Choice | null>(() => {
    const menu = query.get('menu')
    return menu === 'open' || menu === 'closed' ? { open: menu === 'open', narrow, pathname } : null
  })
  const [full, setFull] = useState(query.get('full') === '1')
  // Ignore a choice made at the other width: resizing the window is not a choice.
  const counts = choice !== null && choice.narrow === narrow && (!narrow || choice.pathname === pathname)
  const open = counts ? choice.open : usual
  useEffect(() => {
    change({ menu: open === usual ? null : open ? 'open' : 'closed', full: full ? 1 : null })
  }, [change, open, usual, full, pathname])
  return { open, setOpen: (next: boolean) => setChoice({ open: next, narrow, pathname }), full, setFull }
}

const RunningWork = lazy(() => import('../../admin/running-work/running-work.tsx'))

/** Pixels of scrolling after which the button to the top appears. */
const FAR = 300

const customerScreens = screens.filter(({ role }) => role === 'customer' || role === 'user')
const menus = { admin: menuOf('admin'), customer: menuOf('customer') }

export default function Dashboard() {
  const t = useT()
  const { user } = useSession()
  const { pathname } = useLocation()
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const { open, setOpen, full, setFull } = useShellState(narrow)
  const side = useRef<HTMLElement>(null)
  const toggle = useRef<HTMLButtonElement>(null)
  useEscape(full, () => setFull(false))
  const close = () => {
    setOpen(false)
    toggle.current?.focus()
  }
  useEscape(narrow && open, close)
  // When the menu covers the page, the keyboard focus moves into it.
  useEffect(() => {
    if (narrow && open) side.current?.querySelector('a')?.focus()
  }, [narrow, open])

  // The console preloads its own screens.
  const isCustomer = user?.is_superuser === false
  useEffect(() => (isCustomer ? loadWhenIdle(customerScreens) : undefined), [isCustomer])

  const isConsole = user?.is_superuser === true && !user.must_add_second_factor
  const menu = isCustomer ? menus.customer : isConsole ? allowedOf(menus.admin, user) : []
  // Operators have their account page without an entry.
  const item = itemAt(menu, pathname) ?? itemAt(menus.customer, pathname)
  const title = item ? t(item.title) : t('menu.dashboard')
  const Icon = item?.icon ?? IconLayoutDashboard
  useTitle(title)

  return (
    <div className={classes.shell} data-open={open} data-full={full}>
      {narrow && open && (
        <button type="button" className={classes.overlay} aria-label={t('shell.closeMenu')} onClick={close} />
      )}
      <aside ref={side} id="side-menu" className={classes.side} hidden={!open || full}>
        <SideMenu menu={menu} current={item?.id} />
      </aside>
      <Content full={full} isCustomer={isCustomer}>
        <div
          className={`row unwrapped ${classes.head}`}
          style={{ gap: '0.65rem', marginBottom: '1.25rem', marginInlineStart: '-0.4rem' }}
        >
          {!full && (
            <ActionIcon
              ref={toggle}
              variant="subtle"
              color="gray"
              size="lg"
              aria-expanded={open}
              aria-controls="side-menu"
              aria-label={t('shell.menu')}
              onClick={() => setOpen(!open)}
            >
              {open ? <IconLayoutSidebarLeftCollapse size={20} /> : <IconLayoutSidebarLeftExpand size={20} />}
            </ActionIcon>
          )}
          <Icon size={22} aria-hidden />
          <h1>{title}</h1>
          {isConsole && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              ml="auto"
              aria-label={t('palette.label')}
              aria-keyshortcuts="Control+K"
              title={`${t('palette.label')} (Ctrl+K)`}
              onClick={openPalette}
            >
              <IconSearch size={20} />
            </ActionIcon>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            ml={isConsole ? undefined : 'auto'}
            aria-pressed={full}
            aria-label={full ? t('shell.leaveFull') : t('shell.full')}
            onClick={() => setFull(!full)}
          >
            {full ? <IconMinimize size={20} /> : <IconMaximize size={20} />}
          </ActionIcon>
        </div>
        {isConsole && (
          <Suspense fallback={null}>
            <RunningWork />
          </Suspense>
        )}
        {/* The console keeps the last page until the next page's code has loaded, which is usually at once. */}
        <Suspense key={user?.is_superuser ? 0 : pathname} fallback={<PageSkeleton />}>
          {!user?.is_superuser || isAllowed(pathname, user) ? (
            <Boundary key={pathname} within>
              <Outlet />
            </Boundary>
          ) : (
            <EmptyState title={t('shell.notAllowed')} body={t('shell.notAllowedHint')} />
          )}
        </Suspense>
      </Content>
    </div>
  )
}

function useEscape(active: boolean, leave: () => void) {
  useEffect(() => {
    if (!active) return
    const listen = (event: KeyboardEvent) => {
      // An open dialog takes precedence.
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('[role="dialog"]')) leave()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
}

function Content({ full, isCustomer, children }: { full: boolean; isCustomer: boolean; children: ReactNode }) {
  const t = useT()
  const language = useLanguage()
  const area = useRef<HTMLDivElement>(null)
  const [far, setFar] = useState(false)
  useEffect(() => {
    const target: HTMLElement | Window = full && area.current ? area.current : window
    const measure = () => setFar((target instanceof Window ? target.scrollY : target.scrollTop) > FAR)
    measure()
    target.addEventListener('scroll', measure, { passive: true })
    return () => target.removeEventListener('scroll', measure)
  }, [full])
  const up = () => (full ? area.current : window)?.scrollTo({ top: 0, behavior: scrollMotion() })
  return (
    <div ref={area} id={PAGE} tabIndex={-1} className={classes.content} data-tall={isCustomer || undefined}>
      {children}
      <p className={`dim ${classes.zone}`}>{t('shell.zone', { zone: zoneText(new Date(), language) })}</p>
      {far && (
        <ActionIcon
          className={classes.top}
          variant="default"
          size={44}
          radius="xl"
          aria-label={t('shell.top')}
          onClick={up}
        >
          <IconArrowUp size={20} />
        </ActionIcon>
      )}
    </div>
  )
}
