import { pageAt } from '@netlet/contract/pages'
import { Button, useMantineColorScheme } from '@mantine/core'
import { IconLanguage, IconMenu2, IconMoon, IconSun, IconSunMoon, IconUserCircle, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { Link, NavLink, useLocation, useNavigate } from 'react-router'
import { useT } from '../i18n/index.ts'
import { type Language, LANGUAGES, setLanguage, useLanguage } from '../i18n/language.ts'
import { BrandName } from '../kit/brand.tsx'
import { Menu } from '../kit/menu.tsx'
import classes from './header.module.css'
import { endSession, useSession } from '../api/session.ts'
import { pathOf } from './manifest.ts'
import { call } from '../api/client.ts'
import { accounts, mail } from '../api/routes.ts'
import { failureText } from '../i18n/failures.ts'
import { mayLeave } from '../kit/leaving.ts'
import { notify } from '../kit/notify.ts'
import { leaveForGood } from '../kit/return-path.ts'
import { useMutation } from '../api/use-mutation.ts'

export function Header({ isConsole }: { /** As wide as the dashboard. */ isConsole: boolean }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const burger = useRef<HTMLButtonElement>(null)
  // `key` also changes with a step within a page, as from the questions to the contact form.
  const { key } = useLocation()
  useEffect(() => setOpen(false), [key])
  useEffect(() => {
    if (!open) return
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      burger.current?.focus()
    }
    document.addEventListener('keydown', escape)
    return () => document.removeEventListener('keydown', escape)
  }, [open])
  return (
    <header className={classes.header}>
      <div className="wide bar" data-console={isConsole || undefined}>
        <Link to={pageAt('home')} className="brand">
          <BrandName />
        </Link>
        <nav aria-label={t('nav.main')} className={classes.nav}>
          <Pages />
        </nav>
        <div className="row unwrapped push" style={{ gap: '0.15rem' }}>
          <LanguageMenu />
          <SchemeMenu />
          <div className={classes.wideOnly}>
            <UserMenu />
          </div>
          <button
            ref={burger}
            type="button"
            className={classes.burger}
            aria-expanded={open}
            aria-controls="mobile-menu"
            aria-label={t('nav.menu')}
            onClick={() => setOpen(!open)}
          >
            {open ? <IconX size={22} aria-hidden /> : <IconMenu2 size={22} aria-hidden />}
          </button>
        </div>
      </div>
      <nav id="mobile-menu" aria-label={t('nav.menu')} className={classes.mobile} hidden={!open}>
        <MobilePages />
      </nav>
    </header>
  )
}

function Pages() {
  const t = useT()
  return (
    <>
      <NavLink to={pageAt('home')} end className={classes.link}>
        {t('nav.home')}
      </NavLink>
      <NavLink to={pageAt('product')} className={classes.link}>
        {t('nav.product')}
      </NavLink>
      <NavLink to="/dashboard" className={classes.link}>
        {t('nav.dashboard')}
      </NavLink>
      <Menu label={t('nav.support')} className={classes.link}>
        {() => (
          <>
            <li>
              <Link to={`${pageAt('support')}#faq`}>{t('nav.faq')}</Link>
            </li>
            <li>
              <Link to={`${pageAt('support')}#contact`}>{t('nav.contact')}</Link>
            </li>
          </>
        )}
      </Menu>
    </>
  )
}

/** The menu under the user's name, by role. */
const userLinks = (admin: boolean) =>
  admin
    ? ([
        [pathOf('Orders'), 'nav.orders'],
        [pathOf('userSettings'), 'nav.settings']
      ] as const)
    : ([
        [pathOf('Proxies'), 'nav.proxies'],
        [pathOf('userSettings'), 'nav.settings']
      ] as const)

function UserMenu() {
  const t = useT()
  const { user, pending } = useSession()
  const logout = useLogout()
  if (pending) return <div style={{ width: '5.5rem', height: '2.25rem' }} />
  if (!user)
    return (
      <Button component={Link} to={pageAt('login')} size="sm">
        {t('nav.login')}
      </Button>
    )
  return (
    <Menu
      align="end"
      label={
        <>
          <IconUserCircle size={20} aria-hidden />
          <span className={classes.name} title={user.username}>
            {user.username}
          </span>
        </>
      }
    >
      {() => (
        <>
          {userLinks(user.is_superuser).map(([to, key]) => (
            <li key={to}>
              <Link to={to}>{t(key)}</Link>
            </li>
          ))}
          <li>
            <button type="button" onClick={() => logout.mutate()}>
              {t('nav.logout')}
            </button>
          </li>
        </>
      )}
    </Menu>
  )
}

function MobilePages() {
  const t = useT()
  const { user } = useSession()
  const logout = useLogout()
  return (
    <>
      <NavLink to={pageAt('home')} end>
        {t('nav.home')}
      </NavLink>
      <NavLink to={pageAt('product')}>{t('nav.product')}</NavLink>
      <NavLink to="/dashboard" end>
        {t('nav.dashboard')}
      </NavLink>
      <Link to={`${pageAt('support')}#faq`}>
        {t('nav.support')}: {t('nav.faq')}
      </Link>
      <Link to={`${pageAt('support')}#contact`}>
        {t('nav.support')}: {t('nav.contact')}
      </Link>
      {user ? (
        <>
          {userLinks(user.is_superuser).map(([to, key]) => (
            <NavLink key={to} to={to}>
              {t(key)}
            </NavLink>
          ))}
          <button type="button" className={classes.ends} onClick={() => logout.mutate()}>
            {t('nav.logout')} ({user.username})
          </button>
        </>
      ) : (
        <NavLink to={pageAt('login')}>{t('nav.login')}</NavLink>
      )}
    </>
  )
}

function LanguageMenu() {
  const t = useT()
  const { user } = useSession()
  const language = useLanguage()
  return (
    <Menu align="end" chevron={false} name={t('nav.language')} label={<IconLanguage size={20} aria-hidden />}>
      {close =>
        (Object.keys(LANGUAGES) as Language[]).map(code => (
          <li key={code}>
            <button
              type="button"
              lang={code}
              aria-pressed={code === language}
              onClick={() => {
                close()
                void chooseLanguage(code, Boolean(user))
              }}
            >
              {LANGUAGES[code]}
            </button>
          </li>
        ))
      }
    </Menu>
  )
}

const SCHEMES = [
  ['light', IconSun],
  ['dark', IconMoon],
  ['auto', IconSunMoon]
] as const

function SchemeMenu() {
  const t = useT()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Current = SCHEMES.find(([name]) => name === colorScheme)?.[1] ?? IconSunMoon
  return (
    <Menu align="end" chevron={false} name={t('nav.scheme')} label={<Current size={20} aria-hidden />}>
      {close =>
        SCHEMES.map(([name, Icon]) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={name === colorScheme}
              onClick={() => {
                close()
                setColorScheme(name)
              }}
            >
              <Icon size={18} aria-hidden />
              {t(`scheme.${name}`)}
            </button>
          </li>
        ))
      }
    </Menu>
  )
}

/** Logs out and leads to the login page. Asks first if the screen has unsaved changes. */
export function useLogout() {
  const t = useT()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const leave = () => {
    leaveForGood(pathname + search)
    return navigate(pageAt('login'))
  }
  return useMutation({
    mutationFn: async () => {
      if (await mayLeave()) await endSession(() => call(accounts.logout), leave)
    },
    onError: error => notify('bad', failureText(error, t('logout.failed')))
  })
}

/**
 * Changes the language of the pages and of the user's mails. If saving it for the mails fails, the pages still change.
 * @returns resolves when the pages have changed; rejects if they cannot
 */
export function chooseLanguage(language: Language, signedIn: boolean): Promise<void> {
  const changed = setLanguage(language)
  if (signedIn) void call(mail.saveLanguage, { body: { language } }).catch(() => null)
  return changed
}
